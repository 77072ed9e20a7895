//! [`WatchRecord`]: a live stream recorded as a transcript.

use std::io;
use std::path::Path;

use deadloop_corpus::{
    Body, CorpusWriter, Entry, Place, RecordedEvent, Transcript, UNTIL, WriteError,
};
use deadloop_detect::{Event, TextChannel};
use deadloop_stream::ResponseEvent;
use serde_json::{Map, Value};

/// A recording of a stream and the corpus file that it is written to. A replay of the transcript gives the same alarms.
///
/// The transcript is written when the stream is over, since its line has the model before the events.
pub struct WatchRecord {
    file: CorpusWriter,
    recording: StreamRecording,
}

/// The events of a stream with their times.
#[derive(Debug, Default)]
pub struct StreamRecording {
    events: Vec<RecordedEvent>,
    /// The arguments that are arriving: the times of the first and the last piece in ms, and the text so far.
    open_call: Option<(u64, u64, String)>,
    /// Whether a guard stopped the stream during a silence.
    stopped_in_silence: bool,
}

impl WatchRecord {
    /// Creates the file at `path`. The name must have an ending of corpus files.
    ///
    /// # Errors
    /// Returns an error if the file exists or the folder cannot be written to.
    pub fn create(path: &Path) -> Result<Self, WriteError> {
        Ok(Self {
            file: CorpusWriter::create(path, false)?,
            recording: StreamRecording::default(),
        })
    }

    /// Adds an event that the guard received `now` ms after the start.
    pub fn push(&mut self, item: &ResponseEvent<'_>, now: u64) {
        self.recording.push(item, now);
    }

    /// Writes the transcript of the stream, which ended `now` ms after the start.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written.
    pub fn finish(mut self, model: &str, now: u64) -> io::Result<()> {
        let entry = Entry {
            transcript: self.recording.transcript(model, now),
            labels: None,
            rest: Map::new(),
            split: None,
            place: Place::whole("watch"),
        };
        let written = self.file.write(&entry);
        written
            .and_then(|()| self.file.finish())
            .map_err(io::Error::other)
    }
}

impl StreamRecording {
    /// Adds an event that the guard received `now` ms after the start. Derived events are dropped, since a replay
    /// derives them again.
    pub fn push(&mut self, item: &ResponseEvent<'_>, now: u64) {
        self.stopped_in_silence = !item.goes_on && matches!(item.event, Event::Silence(_));
        if item.derived {
            return;
        }
        let text = |text: Option<&str>| text.map(str::to_owned);
        let (body, rest) = match item.event {
            Event::Text(TextChannel::Arguments, piece) => {
                let (_, last, written) = self.open_call.get_or_insert((now, now, String::new()));
                *last = now;
                written.push_str(piece);
                return;
            }
            Event::Text(TextChannel::Reasoning, piece) => (Body::Reasoning(piece.into()), None),
            Event::Text(TextChannel::Answer, piece) => (Body::Answer(piece.into()), None),
            Event::Call {
                id,
                name,
                arguments,
            } => return self.push_call(text(id), name, arguments.text().into_owned(), now),
            Event::Result {
                id, content, error, ..
            } => {
                let (id, content) = (text(id), content.to_owned());
                (Body::ToolResult { id, content, error }, None)
            }
            Event::User(said) => (Body::User(said.into()), None),
            Event::System => (Body::System, None),
            Event::Turn { agent } => (Body::Turn, agent.map(|agent| ("agent", agent.into()))),
            Event::Handoff { from, to } => {
                let (from, to) = (from.to_owned(), to.to_owned());
                (Body::Handoff { from, to }, None)
            }
            Event::Finish(reason) => {
                let reason = text(reason);
                (Body::Finish { reason }, None)
            }
            Event::Silence(_) | Event::Closed => return,
        };
        self.push_event(body, now, rest);
    }

    /// Adds a call at the time when its arguments began, with the time when they ended.
    fn push_call(&mut self, id: Option<String>, name: &str, arguments: String, now: u64) {
        let (began, last, _) = self.open_call.take().unwrap_or((now, now, String::new()));
        let body = Body::ToolCall {
            id,
            name: name.to_owned(),
            arguments: Value::String(arguments),
        };
        let until = (began < last).then(|| (UNTIL, last.into()));
        self.push_event(body, began, until);
    }

    fn push_event(&mut self, body: Body, t_ms: u64, rest: Option<(&str, Value)>) {
        self.events.push(RecordedEvent {
            t_ms: Some(t_ms as f64),
            rest: rest
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value))
                .collect(),
            ..RecordedEvent::new(body)
        });
    }

    /// Returns the transcript of the stream, which ended `now` ms after the start. An unfinished call is kept without a
    /// name, with the arguments so far. If a guard stopped the stream during a silence, the transcript ends after that
    /// silence.
    pub fn transcript(mut self, model: &str, now: u64) -> Transcript {
        if let Some((_, last, written)) = self.open_call.as_mut() {
            let (last, written) = (*last, std::mem::take(written));
            self.push_call(None, "", written, last);
        }
        if self.stopped_in_silence {
            let reason = Some("aborted".to_owned());
            self.push_event(Body::Finish { reason }, now, None);
        }
        Transcript {
            id: "watched".to_owned(),
            model: model.to_owned(),
            events: self.events,
            ..Transcript::default()
        }
    }
}
