//! [`HostRun`]: a run as turns, into which repetition is inserted.

use serde_json::{Map, Value as Json};

use super::{DrawResult, script};
use crate::spec::Form;
use deadloop_corpus::{BenignReason, BenignSpan, Body, RecordedEvent, tool_call, tool_result};

/// A real run that may serve as a host.
#[derive(Clone, Debug, PartialEq)]
pub struct RealRun {
    /// Id of the transcript.
    pub id: String,
    /// Model of the run.
    pub model: String,
    /// Group whose runs must be in one split.
    pub group: String,
    /// Language. Empty if it was not recorded.
    pub lang: String,
    /// The events.
    pub events: Vec<RecordedEvent>,
    /// Harmless repetition in the run (`meta.benign`).
    pub benign: Vec<BenignSpan>,
}

impl RealRun {
    /// Returns the run of a transcript. `None` if the transcript has no calls.
    pub fn from_entry(entry: &deadloop_corpus::Entry) -> Option<Self> {
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

/// Reads `meta.benign`. Invalid entries are ignored.
fn read_benign(meta: &Map<String, Json>) -> Vec<BenignSpan> {
    let spans = meta.get("benign").and_then(Json::as_array);
    let one = |span: &Json| {
        Some(BenignSpan {
            reason: BenignReason::named(span.get("reason")?.as_str()?)?,
            start: span.get("start")?.as_u64()?,
            end: span.get("end")?.as_u64()?,
        })
    };
    spans.into_iter().flatten().filter_map(one).collect()
}

/// A turn. Its first event is the start of the turn. A user message after the turn is its last event.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct HostTurn {
    pub(super) events: Vec<RecordedEvent>,
    /// Reason of the harmless repetition that contains the turn.
    pub(super) benign: Option<BenignReason>,
    /// Whether the turn is the first of a harmless repetition.
    pub(super) begins_benign: bool,
}

/// A call and its result: the name, the arguments, the content, and whether the tool failed.
pub(super) type CallExchange<'a> = (&'a str, &'a Json, &'a str, Option<bool>);

impl HostTurn {
    pub(super) fn new() -> Self {
        Self {
            events: vec![RecordedEvent::new(Body::Turn)],
            ..Self::default()
        }
    }

    /// Returns the number of calls in the turn.
    pub(super) fn count_calls(&self) -> usize {
        let is_call = |event: &&RecordedEvent| matches!(event.body, Body::ToolCall { .. });
        self.events.iter().filter(is_call).count()
    }

    /// Returns the call and its result. `None` unless the turn has exactly one call, directly followed by an uncut
    /// result.
    pub(super) fn exchange(&self) -> Option<CallExchange<'_>> {
        let (mut call, mut result) = (None, None);
        for event in &self.events {
            match &event.body {
                Body::ToolCall {
                    name, arguments, ..
                } if call.is_none() => {
                    call = Some((name.as_str(), arguments));
                }
                Body::ToolResult { content, error, .. } if result.is_none() && call.is_some() => {
                    // A result that the recording has cut cannot be compared.
                    let whole = !event.rest.contains_key("sha256");
                    result = whole.then_some((content.as_str(), *error));
                    result?;
                }
                Body::Turn | Body::Reasoning(_) | Body::Answer(_) => {}
                _ => return None,
            }
        }
        let ((name, arguments), (content, error)) = (call?, result?);
        Some((name, arguments, content, error))
    }

    /// Returns the turn with a different result.
    pub(super) fn with_result(&self, text: &str, failed: Option<bool>) -> Self {
        let mut turn = self.clone();
        for event in &mut turn.events {
            if let Body::ToolResult { content, error, .. } = &mut event.body {
                (*content, *error) = (text.to_owned(), failed);
            }
        }
        turn
    }

    /// Returns the turn with different arguments.
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

    /// Returns the turn with `text` before its calls as the only text.
    pub(super) fn with_text(self, text: &str) -> Self {
        let mut turn = self.without_text();
        let at = turn.events.len().min(1);
        let said = RecordedEvent::new(Body::Answer(text.to_owned()));
        turn.events.insert(at, said);
        turn
    }

    pub(super) fn with_reason(mut self, reason: BenignReason, begins_benign: bool) -> Self {
        (self.benign, self.begins_benign) = (Some(reason), begins_benign);
        self
    }
}

/// A run into which repetition is inserted.
#[derive(Clone, Debug)]
pub(crate) struct HostRun {
    pub(super) source_id: String,
    pub(super) group: String,
    /// Model of the run. `None` for a script, which no model wrote.
    pub(super) model: Option<String>,
    pub(super) lang: String,
    /// Events before the first turn.
    pub(super) head: Vec<RecordedEvent>,
    pub(super) turns: Vec<HostTurn>,
}

impl HostRun {
    /// Parses a rendered form of class `run`.
    pub(super) fn from_script(form: &Form, text: &str) -> DrawResult<Self> {
        let (head, turns) = script::parse_script(text)?;
        Ok(Self {
            source_id: format!("form/{}", form.name),
            group: format!("form/{}", form.name),
            model: None,
            lang: form.lang().to_owned(),
            head,
            turns,
        })
    }

    /// Converts a real run. Times and token counts are dropped, since inserted turns make them wrong.
    pub(super) fn from_run(run: &RealRun) -> Self {
        let turn_starts: Vec<u64> = deadloop_corpus::stream(&run.events)
            .filter(|(_, event)| matches!(event, deadloop_detect::Event::Turn { .. }))
            .map(|(number, _)| number)
            .collect();
        let mut host = Self {
            source_id: run.id.clone(),
            group: run.group.clone(),
            model: Some(run.model.clone()),
            lang: run.lang.clone(),
            head: Vec::new(),
            turns: Vec::new(),
        };
        for (number, event) in (0_u64..).zip(&run.events) {
            if turn_starts.binary_search(&number).is_ok() {
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
    fn mark_benign(&mut self, spans: &[BenignSpan]) {
        let places = self.call_offsets();
        for (turn, place) in self.turns.iter_mut().zip(places.windows(2)) {
            let (start, end) = (place[0] as u64, place[1] as u64);
            let contains = |span: &&BenignSpan| span.start <= start && end <= span.end;
            if let Some(span) = spans.iter().find(contains).filter(|_| start < end) {
                (turn.benign, turn.begins_benign) = (Some(span.reason), span.start == start);
            }
        }
    }

    /// Returns the number of calls before each turn, followed by the total number of calls.
    pub(super) fn call_offsets(&self) -> Vec<usize> {
        let mut places = vec![0];
        for turn in &self.turns {
            places.push(places.last().unwrap_or(&0) + turn.count_calls());
        }
        places
    }

    /// Returns the number of turns with this call and result.
    pub(super) fn count_turns_with(&self, pair: CallExchange<'_>) -> usize {
        let same = |turn: &&HostTurn| turn.exchange() == Some(pair);
        self.turns.iter().filter(same).count()
    }
}

/// Creates a turn with one call and its result.
pub(super) fn call_turn(name: &str, arguments: Json, result: &str, failed: bool) -> HostTurn {
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
