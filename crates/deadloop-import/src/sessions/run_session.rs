//! [`RunSession`]: a run of an agent, built in the same way for every format.
//!
//! A run has turns, user messages, tool calls with unchanged arguments, tool results and agent names. System prompts are
//! kept as length and hash. Calls and results keep their recorded ids.

use serde_json::Value;

use crate::reader::{Output, RecordReader, new_entry, set_field};
use crate::sessions::conversation::Conversation;
use crate::sessions::turn::{TurnData, Usage};
use crate::source::records::SourceRecord;
use deadloop_corpus::transcript::fingerprint::system_event;
use deadloop_corpus::{Body, Entry, Place, RecordedEvent};
use deadloop_stream::fields::Object;
use deadloop_stream::time::EventClock;
use deadloop_stream::wire::WireResult;

/// A run that has not been emitted yet.
#[derive(Debug, Default)]
pub(crate) struct RunSession {
    /// First record of the run. `None` before any record.
    pub(crate) place: Option<Place>,
    /// Recorded id of the run. `None` to name the run after its file.
    pub(crate) id: Option<String>,
    pub(crate) run: Conversation,
    pub(crate) clock: EventClock,
    pub(crate) model: Option<String>,
    /// Finish reason of the run, if known.
    pub(crate) reason: Option<String>,
    /// Further data on the run, for `meta`.
    pub(crate) metadata: Object,
}

impl RunSession {
    /// Sets the first record, unless the run already has one.
    pub(crate) fn begin_at(&mut self, place: Place) {
        self.place.get_or_insert(place);
    }

    /// Emits the only run of a file, and resets the session. The default id is the name of the file.
    pub(crate) fn emit_single(&mut self, out: &mut Output) {
        let mut session = std::mem::take(self);
        session.id.get_or_insert_with(|| out.stem().to_owned());
        session.emit_run(out);
    }

    /// Emits one of several runs of a file. A run without an id gets a number.
    pub(crate) fn emit_run(mut self, out: &mut Output) {
        let Some(place) = self.place else {
            return;
        };
        self.run.finish(self.reason);
        let mut entry = self.run.into_entry(place);
        entry.transcript.id = self.id.unwrap_or_default();
        entry.transcript.model = self.model.unwrap_or_default();
        entry.transcript.meta.extend(self.metadata);
        out.emit(entry);
    }
}

/// A reader of files with one run each.
pub(crate) trait RunReader {
    /// Path of a record in reported losses.
    const RECORD_PATH: &str = "[]";

    /// Returns the run of the file so far.
    fn session(&mut self) -> &mut RunSession;

    /// Adds a record to the run. Fields that remain in the record are losses.
    ///
    /// # Errors
    /// The record cannot be used.
    fn add_record(&mut self, record: &mut Object, out: &mut Output) -> WireResult;
}

impl<T: RunReader + Send> RecordReader for T {
    fn take_record(&mut self, record: SourceRecord, out: &mut Output) -> WireResult {
        let (place, mut object) = record.into_place_and_object()?;
        self.add_record(&mut object, out)?;
        out.losses.add_fields(T::RECORD_PATH, &object);
        self.session().begin_at(place);
        Ok(())
    }

    fn finish(&mut self, out: &mut Output) {
        self.session().emit_single(out);
    }
}

impl Conversation {
    /// Begins a turn, or continues the last turn if both belong to the same response.
    pub(crate) fn begin_turn(&mut self, turn: TurnData) {
        self.in_turn = true;
        if turn.response.is_some() && turn.response == self.response {
            return self.add_usage(turn.usage);
        }
        self.response = turn.response;
        let mut event = RecordedEvent::new(Body::Turn);
        event.t_ms = turn.t_ms;
        event.rest.insert("index".to_owned(), self.turns.into());
        set_field(&mut event.rest, "agent", turn.agent.map(Value::String));
        turn.usage.write_fields(&mut event.rest);
        self.turns += 1;
        self.events.push(event);
    }

    /// Adds token counts to the last turn, for recordings that write them after the turn.
    pub(crate) fn add_usage(&mut self, usage: Usage) {
        if let Some(turn) = self.last_turn_mut() {
            usage.write_fields(&mut turn.rest);
        }
    }

    /// Returns the turn that began last.
    pub(crate) fn last_turn_mut(&mut self) -> Option<&mut RecordedEvent> {
        let mut events = self.events.iter_mut().rev();
        events.find(|event| matches!(event.body, Body::Turn))
    }

    /// Adds a user message. The first one is the prompt.
    pub(crate) fn add_user(&mut self, text: String, t_ms: Option<f64>) {
        if text.is_empty() {
            return;
        }
        self.prompt.get_or_insert_with(|| text.clone());
        self.push(Body::User(text), t_ms);
    }

    /// Adds a system prompt. Only its length in chars and its hash are kept.
    pub(crate) fn add_system(&mut self, text: &str, t_ms: Option<f64>) {
        if !text.is_empty() {
            let event = system_event(text);
            self.events.push(RecordedEvent { t_ms, ..event });
        }
    }

    /// Marks the last prompt as a summary that replaced earlier messages.
    pub(crate) fn mark_compaction(&mut self) {
        if let Some(last) = self.events.last_mut() {
            let meta = Object::from_iter([("compaction".to_owned(), true.into())]);
            last.rest.insert("meta".to_owned(), meta.into());
        }
    }

    /// Adds an event. A user message or a tool result ends the open turn.
    pub(crate) fn push(&mut self, body: Body, t_ms: Option<f64>) {
        match body {
            Body::User(_) => (self.in_turn, self.response) = (false, None),
            // Results may come between the calls of one response.
            Body::ToolResult { .. } => self.in_turn = false,
            _ => {}
        }
        self.events.push(RecordedEvent::at(body, t_ms));
    }

    /// Adds an event of the model. Begins a turn if no turn is open.
    pub(crate) fn add_action(&mut self, body: Body, t_ms: Option<f64>) {
        if !self.in_turn {
            self.begin_turn(TurnData::starting_at(t_ms));
        }
        self.push(body, t_ms);
    }

    /// Adds text of the model, split into reasoning and answer.
    pub(crate) fn add_answer(&mut self, text: impl Into<String>, t_ms: Option<f64>, out: &Output) {
        out.split_thinking(text)
            .for_each(|body| self.add_action(body, t_ms));
    }

    /// Adds a finish event with this reason, which replaces a recorded finish event.
    pub(crate) fn finish(&mut self, reason: Option<String>) {
        if reason.is_some() {
            // A run ends once, so this reason replaces a recorded one.
            self.events
                .pop_if(|last| matches!(last.body, Body::Finish { .. }));
            self.events
                .push(RecordedEvent::new(Body::Finish { reason }));
        }
    }

    /// Converts the run to a transcript without an id.
    pub(crate) fn into_entry(self, place: Place) -> Entry {
        let group = self.group();
        let mut made = new_entry(place, self.events);
        made.transcript.group = group;
        let args = arguments_form(&made.transcript.events).map(Value::from);
        set_field(&mut made.transcript.meta, "args", args);
        made
    }
}

/// Returns the form of tool-call arguments: `raw` as the model wrote them, or `serialised` by a program. `None` without
/// calls.
pub(crate) fn arguments_form(events: &[RecordedEvent]) -> Option<&'static str> {
    let mut calls = events.iter().filter_map(|event| match &event.body {
        Body::ToolCall { arguments, .. } => Some(arguments.is_string()),
        _ => None,
    });
    let first = calls.next()?;
    let is_raw = first || calls.any(|is_text| is_text);
    Some(if is_raw { "raw" } else { "serialised" })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn tokens_of_the_cache_are_among_those_sent() {
        let taken = |usage: Value| {
            let mut usage = usage.as_object().cloned().unwrap_or_default();
            Usage::take_from(&mut usage)
        };
        let used = |input, output, cached| Usage {
            input: Some(input),
            output: Some(output),
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
        let turn = |response: &str| TurnData {
            response: Some(response.to_owned()),
            ..TurnData::default()
        };
        run.add_user("Do it.".into(), None);
        for (response, said) in [("a", "x"), ("a", "y"), ("b", "z")] {
            run.begin_turn(turn(response));
            run.add_action(Body::Answer(said.into()), None);
        }
        assert_eq!(run.turns, 2);
        run.add_user("More.".into(), None);
        run.add_action(Body::Answer("w".into()), None);
        assert_eq!(run.turns, 3);
    }
}
