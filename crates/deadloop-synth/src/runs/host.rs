//! Hosts: runs as turns, ready to be cut and repeated.

use serde_json::{Map, Value as Json};

use super::{NoDraw, script};
use crate::spec::Form;
use deadloop_corpus::{Benign, Body, Entry, Reason, RecordedEvent, stream, tool_call, tool_result};

/// A real run to plant into.
#[derive(Clone, Debug, PartialEq)]
pub struct RealRun {
    /// The id of the transcript.
    pub id: String,
    /// The model of the run.
    pub model: String,
    /// The group, whose runs must be in one split.
    pub group: String,
    /// The language. Empty if it was not recorded.
    pub lang: String,
    /// The events.
    pub events: Vec<RecordedEvent>,
    /// The harmless repetition in the run (`meta.benign`).
    pub benign: Vec<Benign>,
}

impl RealRun {
    /// Returns the run of a transcript. `None` if it has no calls.
    pub fn from_entry(entry: &Entry) -> Option<Self> {
        let transcript = &entry.transcript;
        let calls = |event: &RecordedEvent| matches!(event.body, Body::ToolCall { .. });
        let group = transcript.group.as_ref().unwrap_or(&transcript.id);
        transcript.events.iter().any(calls).then(|| Self {
            id: transcript.id.clone(),
            model: transcript.model.clone(),
            group: group.clone(),
            lang: transcript.lang.clone().unwrap_or_default(),
            events: transcript.events.clone(),
            benign: read_benign(&transcript.meta),
        })
    }
}

/// Reads `meta.benign`. Invalid entries are left out.
fn read_benign(meta: &Map<String, Json>) -> Vec<Benign> {
    let spans = meta.get("benign").and_then(Json::as_array);
    let one = |span: &Json| {
        Some(Benign {
            reason: Reason::named(span.get("reason")?.as_str()?)?,
            start: span.get("start")?.as_u64()?,
            end: span.get("end")?.as_u64()?,
        })
    };
    spans.into_iter().flatten().filter_map(one).collect()
}

/// A turn. Its first event is the start of the turn, and a message of a user after the turn is its last event.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct HostTurn {
    pub(super) events: Vec<RecordedEvent>,
    /// The reason, if the turn belongs to harmless repetition.
    pub(super) benign: Option<Reason>,
    /// Whether the turn is the first of a harmless repetition.
    pub(super) begins: bool,
}

/// A call and its result: name, arguments, content and error.
pub(super) type CallExchange<'a> = (&'a str, &'a Json, &'a str, Option<bool>);

impl HostTurn {
    pub(super) fn new() -> Self {
        Self {
            events: vec![RecordedEvent::new(Body::Turn)],
            ..Self::default()
        }
    }

    /// Returns the number of calls in the turn.
    pub(super) fn calls(&self) -> usize {
        let is_call = |event: &&RecordedEvent| matches!(event.body, Body::ToolCall { .. });
        self.events.iter().filter(is_call).count()
    }

    /// Returns the turn's call and result. `None` unless the turn has exactly one call with a result, without other
    /// events between them.
    pub(super) fn pair(&self) -> Option<CallExchange<'_>> {
        let (mut call, mut heard) = (None, None);
        for event in &self.events {
            match &event.body {
                Body::ToolCall {
                    name, arguments, ..
                } if call.is_none() => {
                    call = Some((name.as_str(), arguments));
                }
                Body::ToolResult { content, error, .. } if heard.is_none() && call.is_some() => {
                    // A result that the recording has cut cannot be compared.
                    let whole = !event.rest.contains_key("sha256");
                    heard = whole.then_some((content.as_str(), *error));
                    heard?;
                }
                Body::Turn | Body::Reasoning(_) | Body::Answer(_) => {}
                _ => return None,
            }
        }
        let ((name, arguments), (content, error)) = (call?, heard?);
        Some((name, arguments, content, error))
    }

    /// Returns the turn with another result of its call.
    pub(super) fn with_result(&self, text: &str, failed: Option<bool>) -> Self {
        let mut turn = self.clone();
        for event in &mut turn.events {
            if let Body::ToolResult { content, error, .. } = &mut event.body {
                (*content, *error) = (text.to_owned(), failed);
            }
        }
        turn
    }

    /// Returns the turn with other arguments.
    pub(super) fn with_arguments(&self, other: &Json) -> Self {
        let mut turn = self.clone();
        for event in &mut turn.events {
            if let Body::ToolCall { arguments, .. } = &mut event.body {
                *arguments = other.clone();
            }
        }
        turn
    }

    /// Returns the turn without its text.
    pub(super) fn without_text(mut self) -> Self {
        let says =
            |event: &RecordedEvent| matches!(event.body, Body::Reasoning(_) | Body::Answer(_));
        self.events.retain(|event| !says(event));
        self
    }

    /// Returns the turn with `text` before its calls as its only text.
    pub(super) fn with_text(self, text: &str) -> Self {
        let mut turn = self.without_text();
        let at = turn.events.len().min(1);
        let said = RecordedEvent::new(Body::Answer(text.to_owned()));
        turn.events.insert(at, said);
        turn
    }

    pub(super) fn with_reason(mut self, reason: Reason, begins: bool) -> Self {
        (self.benign, self.begins) = (Some(reason), begins);
        self
    }
}

/// A run before planting.
#[derive(Clone, Debug)]
pub(crate) struct HostRun {
    pub(super) from: String,
    pub(super) group: String,
    /// The model. `None` for a script, which no model wrote.
    pub(super) model: Option<String>,
    pub(super) lang: String,
    /// The events before the first turn.
    pub(super) head: Vec<RecordedEvent>,
    pub(super) turns: Vec<HostTurn>,
}

impl HostRun {
    /// Converts a rendered form of class `run`.
    pub(super) fn from_script(form: &Form, text: &str) -> Result<Self, NoDraw> {
        let (head, turns) = script::parse_script(text)?;
        Ok(Self {
            from: format!("form/{}", form.name),
            group: format!("form/{}", form.name),
            model: None,
            lang: form.lang().to_owned(),
            head,
            turns,
        })
    }

    /// Converts a real run. Times, tokens and places of its turns are left out, since planting makes them wrong.
    pub(super) fn from_run(run: &RealRun) -> Self {
        let begins: Vec<u64> = stream(&run.events)
            .filter(|(_, event)| matches!(event, deadloop_detect::Event::Turn { .. }))
            .map(|(number, _)| number)
            .collect();
        let mut host = Self {
            from: run.id.clone(),
            group: run.group.clone(),
            model: Some(run.model.clone()),
            lang: run.lang.clone(),
            head: Vec::new(),
            turns: Vec::new(),
        };
        for (number, event) in (0_u64..).zip(&run.events) {
            if begins.binary_search(&number).is_ok() {
                host.turns.push(HostTurn::new());
            }
            let event = without_times(event);
            match (&event.body, host.turns.last_mut()) {
                (Body::Finish { .. }, _) => {}
                (Body::Turn, Some(turn)) => turn.events = vec![event],
                (_, Some(turn)) => turn.events.push(event),
                (_, None) => host.head.push(event),
            }
        }
        host.mark_benign(&run.benign);
        host
    }

    /// Marks the turns whose calls all belong to harmless repetition.
    fn mark_benign(&mut self, all: &[Benign]) {
        let places = self.places();
        for (turn, place) in self.turns.iter_mut().zip(places.windows(2)) {
            let (start, end) = (place[0] as u64, place[1] as u64);
            let contains = |span: &&Benign| span.start <= start && end <= span.end;
            if let Some(span) = all.iter().find(contains).filter(|_| start < end) {
                (turn.benign, turn.begins) = (Some(span.reason), span.start == start);
            }
        }
    }

    /// Returns the number of calls before each turn, and the number of all calls as the last entry.
    pub(super) fn places(&self) -> Vec<usize> {
        let mut places = vec![0];
        for turn in &self.turns {
            places.push(places.last().unwrap_or(&0) + turn.calls());
        }
        places
    }

    /// Returns the number of turns with this call and result.
    pub(super) fn count_turns(&self, pair: CallExchange<'_>) -> usize {
        let same = |turn: &&HostTurn| turn.pair() == Some(pair);
        self.turns.iter().filter(same).count()
    }
}

/// Returns a turn with one call and its result.
pub(super) fn one_call(name: &str, arguments: Json, result: &str, failed: bool) -> HostTurn {
    let mut turn = HostTurn::new();
    let call = tool_call(None, name, arguments);
    let result = tool_result(None, result, Some(failed));
    turn.events.extend([call, result].map(RecordedEvent::new));
    turn
}

fn without_times(event: &RecordedEvent) -> RecordedEvent {
    let mut event = event.clone();
    (event.t_ms, event.tokens) = (None, None);
    if matches!(event.body, Body::Turn) {
        event.rest.retain(|name, _| name == "agent");
    }
    event
}
