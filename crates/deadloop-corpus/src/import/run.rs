//! The events of an agent's run, put together in one way for every format: a turn before what the model
//! does, what came from outside, prompts by length and hash, calls with their arguments as they were
//! written, results, who spoke.
//!
//! A result is not joined to its call here: the recording's own ids stay.

use serde_json::Value;

use super::conversation::{Conversation, hash};
use super::cut::Record;
use super::reader::{Out, Reader, entry, keep};
use super::turn::{Turn, Usage};
use crate::transcript::wire::WireFault;
use crate::{Body, Entry, Place, RecordedEvent};
use deadloop_stream::take::Object;
use deadloop_stream::time::EventClock;

/// The one run of a file, as its reader puts it together.
#[derive(Debug, Default)]
pub(crate) struct Session {
    /// Where its first record is; none: no record was read.
    place: Option<Place>,
    /// The recording's own id of it; none: it is called after its file.
    pub(crate) id: Option<String>,
    pub(crate) run: Conversation,
    pub(crate) clock: EventClock,
    pub(crate) model: Option<String>,
    /// How it ended, as far as it is known.
    pub(crate) reason: Option<String>,
    /// What else is kept of it, for `meta`.
    pub(crate) about: Object,
}

impl Session {
    /// A record of it stands here.
    pub(crate) fn at(&mut self, place: Place) {
        self.place.get_or_insert(place);
    }

    /// The file is over: its run goes out, where it had a record.
    pub(crate) fn end(&mut self, out: &mut Out) {
        let mut session = std::mem::take(self);
        session.id.get_or_insert_with(|| out.stem().to_owned());
        session.whole(out);
    }

    /// The run goes out, as one of several of a file: one without an id gets a number.
    pub(crate) fn whole(self, out: &mut Out) {
        let session = self;
        let Some(place) = session.place else {
            return;
        };
        let mut run = session.run;
        run.finish(session.reason);
        let mut entry = run.entry(place);
        entry.transcript.id = session.id.unwrap_or_default();
        entry.transcript.model = session.model.unwrap_or_default();
        entry.transcript.meta.extend(session.about);
        out.emit(entry);
    }
}

/// Reads files that hold one run each.
pub(crate) trait OneRun {
    /// Where a record is, in what is said of its losses.
    const RECORD: &str = "[]";

    /// The run of the file, as far as it was read.
    fn session(&mut self) -> &mut Session;

    /// Takes a record into the run; what it leaves of it is lost.
    ///
    /// # Errors
    /// The record cannot be used.
    fn record(&mut self, record: &mut Object, out: &mut Out) -> Result<(), WireFault>;
}

impl<T: OneRun + Send> Reader for T {
    fn take(&mut self, record: Record, out: &mut Out) -> Result<(), WireFault> {
        let (place, mut object) = record.placed()?;
        self.record(&mut object, out)?;
        out.losses.rest(T::RECORD, &object);
        self.session().at(place);
        Ok(())
    }

    fn end(&mut self, out: &mut Out) {
        self.session().end(out);
    }
}

impl Conversation {
    /// Begins a turn, or continues the last one if both belong to one response.
    pub(crate) fn turn(&mut self, turn: Turn) {
        self.begun = true;
        let same = turn.response.is_some() && turn.response == self.response;
        if same {
            return self.used(turn.usage);
        }
        self.response = turn.response;
        let mut event = RecordedEvent::of(Body::Turn);
        event.t_ms = turn.t_ms;
        event.rest.insert("index".to_owned(), self.turns.into());
        keep(&mut event.rest, "agent", turn.agent.map(Value::String));
        turn.usage.keep(&mut event.rest);
        self.turns += 1;
        self.events.push(event);
    }

    /// How many turns began.
    pub(crate) fn turns(&self) -> u64 {
        self.turns
    }

    /// Adds the tokens of the last turn, where the recording has them after it.
    pub(crate) fn used(&mut self, usage: Usage) {
        if let Some(turn) = self.last_turn() {
            usage.keep(&mut turn.rest);
        }
    }

    /// The turn that began last.
    pub(crate) fn last_turn(&mut self) -> Option<&mut RecordedEvent> {
        let mut events = self.events.iter_mut().rev();
        events.find(|event| matches!(event.body, Body::Turn))
    }

    /// What came from outside; the first is the task.
    pub(crate) fn user(&mut self, text: String, t_ms: Option<f64>) {
        if text.is_empty() {
            return;
        }
        self.prompt.get_or_insert_with(|| text.clone());
        self.push(Body::User(text), t_ms);
    }

    /// A prompt: its length in chars and its hash are kept, not the text.
    pub(crate) fn system(&mut self, text: &str, t_ms: Option<f64>) {
        if !text.is_empty() {
            let event = system(text);
            self.events.push(RecordedEvent { t_ms, ..event });
        }
    }

    /// A call, a result, or whatever else there is.
    pub(crate) fn push(&mut self, body: Body, t_ms: Option<f64>) {
        match body {
            Body::User(_) => (self.begun, self.response) = (false, None),
            // Results may come between the calls of one response.
            Body::ToolResult { .. } => self.begun = false,
            _ => {}
        }
        self.events.push(RecordedEvent::at(body, t_ms));
    }

    /// What the model does: it begins a turn, where none has begun since what came from outside.
    pub(crate) fn act(&mut self, body: Body, t_ms: Option<f64>) {
        if !self.begun {
            let turn = Turn {
                t_ms,
                ..Turn::default()
            };
            self.turn(turn);
        }
        self.push(body, t_ms);
    }

    /// What the model said, thinking apart.
    pub(crate) fn say(&mut self, text: impl Into<String>, t_ms: Option<f64>, out: &Out) {
        out.said(text).for_each(|body| self.act(body, t_ms));
    }

    /// The run is over.
    pub(crate) fn finish(&mut self, reason: Option<String>) {
        if reason.is_some() {
            // It ends once: what is said of the whole holds.
            self.events
                .pop_if(|last| matches!(last.body, Body::Finish { .. }));
            self.events.push(RecordedEvent::of(Body::Finish { reason }));
        }
    }

    /// All of it as a transcript without a name.
    pub(crate) fn entry(self, place: Place) -> Entry {
        let group = self.group();
        let mut made = entry(place, self.events);
        made.transcript.group = group;
        let args = arguments(&made.transcript.events).map(Value::from);
        keep(&mut made.transcript.meta, "args", args);
        made
    }
}

/// How the arguments of a run's calls stand in it: as the model wrote them, or as a program read them.
pub(crate) fn arguments(events: &[RecordedEvent]) -> Option<&'static str> {
    let mut written = None;
    for event in events {
        match &event.body {
            Body::ToolCall { arguments, .. } if arguments.is_string() => return Some("raw"),
            Body::ToolCall { .. } => written = Some("serialised"),
            _ => {}
        }
    }
    written
}

/// The event that a prompt is.
pub(crate) fn system(text: &str) -> RecordedEvent {
    let mut event = RecordedEvent::of(Body::System);
    measure(text, &mut event.rest);
    event
}

/// Says what a text was that is not kept, or not all of it: its length in chars, and its hash.
pub(crate) fn measure(text: &str, fields: &mut Object) {
    fields.insert("length".to_owned(), text.chars().count().into());
    fields.insert("sha256".to_owned(), hash(text, 8).into());
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn tokens_of_the_cache_are_among_those_sent() {
        let taken = |usage: Value| {
            let mut usage = usage.as_object().cloned().unwrap_or_default();
            Usage::taken(&mut usage)
        };
        let used = |sent, wrote, cached| Usage {
            sent: Some(sent),
            wrote: Some(wrote),
            cached,
        };
        let anthropic = json!({"input_tokens": 3, "cache_creation_input_tokens": 10,
            "cache_read_input_tokens": 100, "output_tokens": 7});
        assert_eq!(taken(anthropic), used(113, 7, Some(100)));
        let chat = json!({"prompt_tokens": 113, "completion_tokens": 7, "total_tokens": 120,
            "prompt_tokens_details": {"cached_tokens": 100}});
        assert_eq!(taken(chat), used(113, 7, Some(100)));
        let responses =
            json!({"input_tokens": 113, "output_tokens": 7, "cached_input_tokens": 100});
        assert_eq!(taken(responses), used(113, 7, Some(100)));
        assert_eq!(taken(json!({"input_tokens": "many"})), Usage::default());
    }

    #[test]
    fn pieces_of_one_response_are_one_turn() {
        let mut run = Conversation::default();
        let turn = |response: &str| Turn {
            response: Some(response.to_owned()),
            ..Turn::default()
        };
        run.user("Do it.".into(), None);
        for (response, said) in [("a", "x"), ("a", "y"), ("b", "z")] {
            run.turn(turn(response));
            run.act(Body::Answer(said.into()), None);
        }
        assert_eq!(run.turns(), 2);
        run.user("More.".into(), None);
        run.act(Body::Answer("w".into()), None);
        assert_eq!(run.turns(), 3);
    }
}
