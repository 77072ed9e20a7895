//! [`WatchRecord`]: a live stream as a transcript that `replay` reads.

use std::io;
use std::path::Path;

use deadloop_corpus::{
    Body, CorpusWriter, Entry, Place, RecordedEvent, Transcript, UNTIL, WriteError,
};
use deadloop_detect::{Event, TextChannel};
use serde_json::{Map, Value};

/// The events of a stream with their times, and the file for them.
///
/// A transcript is one line with its model before its events, so it is written when the stream ends or a guard stops
/// it.
pub struct WatchRecord {
    file: CorpusWriter,
    events: Vec<RecordedEvent>,
    /// The time at which the current call's arguments began to arrive, and the arguments so far.
    call: Option<(u64, String)>,
}

impl WatchRecord {
    /// Creates a record. The name of the file must end like that of a corpus.
    ///
    /// # Errors
    /// Returns an error if the file exists or the folder cannot be written to.
    pub fn create(path: &Path) -> Result<Self, WriteError> {
        Ok(Self {
            file: CorpusWriter::create(path, false)?,
            events: Vec::new(),
            call: None,
        })
    }

    /// Adds an event of the stream that came at `now`.
    pub fn push(&mut self, event: &Event<'_>, now: u64) {
        let text = |text: Option<&str>| text.map(str::to_owned);
        let (body, rest) = match *event {
            Event::Text(TextChannel::Arguments, piece) => {
                let (_, written) = self.call.get_or_insert((now, String::new()));
                written.push_str(piece);
                return;
            }
            Event::Text(TextChannel::Reasoning, piece) => (Body::Reasoning(piece.into()), None),
            Event::Text(TextChannel::Answer, piece) => (Body::Answer(piece.into()), None),
            Event::Call {
                id,
                name,
                arguments,
            } => return self.call(text(id), name, arguments.text().into_owned(), now),
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
            // The times and the end of the record imply these events.
            Event::Silence(_) | Event::Closed => return,
        };
        self.event(body, now, rest);
    }

    /// Adds a call at the time when its arguments began, with the time when they ended.
    fn call(&mut self, id: Option<String>, name: &str, arguments: String, now: u64) {
        let (began, _) = self.call.take().unwrap_or((now, String::new()));
        let body = Body::ToolCall {
            id,
            name: name.to_owned(),
            arguments: Value::String(arguments),
        };
        let until = (began < now).then(|| (UNTIL, now.into()));
        self.event(body, began, until);
    }

    fn event(&mut self, body: Body, t_ms: u64, rest: Option<(&str, Value)>) {
        self.events.push(RecordedEvent {
            t_ms: Some(t_ms as f64),
            rest: rest
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value))
                .collect(),
            ..RecordedEvent::of(body)
        });
    }

    /// Writes the transcript of a finished stream. An unfinished call is kept without a name, with its arguments so
    /// far.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written.
    pub fn finish(mut self, model: &str, now: u64) -> io::Result<()> {
        if let Some((_, written)) = self.call.as_mut() {
            let written = std::mem::take(written);
            self.call(None, "", written, now);
        }
        let entry = Entry {
            transcript: Transcript {
                id: "watched".to_owned(),
                model: model.to_owned(),
                events: self.events,
                ..Transcript::default()
            },
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
