//! The calls of an agent's run, as a report shows them.
//!
//! The numbers of calls and chars are bounded. Equal calls share one text. An
//! [`OpenCase`](super::excerpts::OpenCase) has the calls of its transcript.

use std::collections::{HashMap, HashSet, VecDeque};

use deadloop_replay::corpus::{RecordedEvent, stream};
use deadloop_replay::detect::Event as GuardEvent;
use serde::{Deserialize, Serialize};

/// The maximum number of calls shown of a run.
const MAX_CALLS: u64 = 400;
/// The number of calls shown before the requested call.
const CALLS_BEFORE: u64 = 100;
/// The maximum number of chars shown of a call's name, and of its arguments.
const ARGUMENT_CHARS: usize = 160;
/// The maximum number of chars shown of a call's result.
const RESULT_CHARS: usize = 240;
/// The maximum number of chars shown of all arguments and results of a run.
const MAX_RUN_CHARS: usize = 12_000;

/// The calls of an agent's run, possibly without those far from the requested one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunCalls {
    /// The number of calls in the whole run.
    pub of: u64,
    /// The number of turns in the whole run.
    pub turns: u64,
    /// The calls around the requested one, in order.
    pub list: Vec<CallRecord>,
}

/// A call of a tool and its result.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CallRecord {
    /// The number of the call, from 1.
    pub at: u64,
    /// The number of the call's turn, from 1.
    pub turn: u64,
    /// The number of the first call with this name and these arguments: the call's own number if it is the first.
    pub same: u64,
    /// The number of the first call with this name, these arguments and this result. `None` if the call has no result.
    pub pair: Option<u64>,
    /// The name of the tool.
    pub name: String,
    /// The beginning of the arguments. Empty if an earlier equal call has them.
    pub arguments: String,
    /// The beginning of the result. Empty if an earlier equal call has the same result.
    pub result: String,
    /// The length of the whole result in chars.
    pub chars: u64,
    /// Whether the call failed.
    pub error: bool,
}

impl RunCalls {
    /// Returns the calls of a run, starting a little before the call with the number `near`, from 1. `None` if the run
    /// has no calls.
    pub fn from_events(events: &[RecordedEvent], near: u64) -> Option<Self> {
        let mut reader = CallsReader::default();
        stream(events).for_each(|(_, event)| reader.take_event(event));
        let CallsReader {
            mut list, turns, ..
        } = reader;
        let of = list.len() as u64;
        let last = of.saturating_sub(MAX_CALLS);
        let first = near.saturating_sub(CALLS_BEFORE).min(last);
        list.drain(..usize::try_from(first).unwrap_or(usize::MAX).min(list.len()));
        list.truncate(usize::try_from(MAX_CALLS).unwrap_or(usize::MAX));
        let mut room = MAX_RUN_CHARS;
        let mut shown = HashSet::new();
        for (call, texts) in &mut list {
            let [arguments, result] = std::mem::take(texts);
            if shown.insert((call.same, None)) {
                call.arguments = truncate(&arguments, ARGUMENT_CHARS.min(room));
                room -= call.arguments.chars().count();
            }
            if call.pair.is_some() && shown.insert((call.same, call.pair)) {
                call.result = truncate(&result, RESULT_CHARS.min(room));
                room -= call.result.chars().count();
            }
        }
        let list: Vec<CallRecord> = list.into_iter().map(|(call, _)| call).collect();
        (of > 0).then_some(Self { of, turns, list })
    }

    /// Returns the number of chars of all arguments and results.
    pub fn chars(&self) -> usize {
        let texts =
            |call: &CallRecord| call.arguments.chars().count() + call.result.chars().count();
        self.list.iter().map(texts).sum()
    }

    /// Clears every text, including the names of tools.
    pub fn forget(&mut self) {
        for call in &mut self.list {
            call.name.clear();
            call.arguments.clear();
            call.result.clear();
        }
    }
}

/// The state of reading the calls of a run.
#[derive(Default)]
struct CallsReader {
    /// The calls with their truncated arguments and results.
    list: Vec<(CallRecord, [String; 2])>,
    turns: u64,
    /// The number of the first call with a name and canonical arguments.
    first_calls: HashMap<(String, String), u64>,
    /// The number of the first call with a result. The key is the number of the first equal call, and the result.
    first_results: HashMap<(u64, String), u64>,
    /// The indices in `list` of the calls without a result yet, by the id of the call.
    pending: HashMap<Option<String>, VecDeque<usize>>,
}

impl CallsReader {
    fn take_event(&mut self, event: GuardEvent<'_>) {
        match event {
            GuardEvent::Turn { .. } => self.turns += 1,
            GuardEvent::Call {
                id,
                name,
                arguments,
            } => {
                let at = self.list.len() as u64 + 1;
                let key = (name.to_owned(), arguments.canonical());
                let called = CallRecord {
                    at,
                    turn: self.turns.max(1),
                    same: *self.first_calls.entry(key).or_insert(at),
                    name: truncate(name, ARGUMENT_CHARS),
                    ..CallRecord::default()
                };
                let pending = self.pending.entry(id.map(str::to_owned)).or_default();
                pending.push_back(self.list.len());
                let arguments = truncate(&arguments.text(), ARGUMENT_CHARS);
                self.list.push((called, [arguments, String::new()]));
            }
            GuardEvent::Result {
                id,
                content,
                error,
                cut: known,
            } => {
                let pending = self.pending.get_mut(&id.map(str::to_owned));
                let Some(at) = pending.and_then(VecDeque::pop_front) else {
                    return;
                };
                let (call, texts) = &mut self.list[at];
                // Texts that the recording cut differ by their hashes.
                let whole = known.map_or_else(
                    || content.to_owned(),
                    |one| format!("{content}\n{}", one.sha256),
                );
                let first = self.first_results.entry((call.same, whole));
                call.pair = Some(*first.or_insert(call.at));
                call.chars = known
                    .and_then(|one| one.length)
                    .unwrap_or(content.chars().count() as u64);
                call.error = error == Some(true);
                texts[1] = truncate(content, RESULT_CHARS);
            }
            _ => {}
        }
    }
}

fn truncate(text: &str, max_chars: usize) -> String {
    text.chars().take(max_chars).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use deadloop_replay::corpus::Body;

    fn call(id: &str, arguments: &str) -> RecordedEvent {
        RecordedEvent::new(Body::ToolCall {
            id: Some(id.into()),
            name: "ls".into(),
            arguments: serde_json::from_str(arguments).unwrap(),
        })
    }

    fn result(id: &str, content: &str) -> RecordedEvent {
        RecordedEvent::new(Body::ToolResult {
            id: Some(id.into()),
            content: content.into(),
            error: Some(content == "no"),
        })
    }

    #[test]
    fn equal_calls_and_pairs_name_the_first() {
        let events = [
            call("a", r#"{"x":1,"y":2}"#),
            result("a", "yes"),
            call("b", r#"{"y":2,"x":1}"#),
            call("c", r#"{"x":9}"#),
            result("c", "no"),
            result("b", "yes"),
            call("a", r#"{"x":1,"y":2}"#),
            result("a", "other"),
            result("a", "nobody asked"),
            call("d", r#"{"x":9}"#),
        ];
        let calls = RunCalls::from_events(&events, 1).unwrap();
        let shown: Vec<_> = calls
            .list
            .iter()
            .map(|call| {
                (
                    call.at,
                    call.turn,
                    call.same,
                    call.pair,
                    call.result.as_str(),
                    call.error,
                )
            })
            .collect();
        assert_eq!(
            shown,
            [
                (1, 1, 1, Some(1), "yes", false),
                (2, 2, 1, Some(1), "", false),
                (3, 2, 3, Some(3), "no", true),
                (4, 3, 1, Some(4), "other", false),
                (5, 4, 3, None, "", false),
            ]
        );
        assert_eq!((calls.of, calls.turns), (5, 4));
        assert_eq!(calls.list[1].arguments, "");
    }

    #[test]
    fn a_long_run_is_cut_around_the_place_in_question() {
        let events: Vec<RecordedEvent> = (0..5000)
            .map(|n| call("a", &format!("{{\"n\":{n}}}")))
            .collect();
        let calls = RunCalls::from_events(&events, 2000).unwrap();
        let (first, last) = (calls.list[0].at, calls.list.last().unwrap().at);
        assert_eq!((calls.of, first, last), (5000, 1901, 2300));
        assert!(calls.chars() <= MAX_RUN_CHARS);
        assert_eq!(
            RunCalls::from_events(&events, 4990)
                .unwrap()
                .list
                .last()
                .unwrap()
                .at,
            5000
        );
    }

    #[test]
    fn a_text_is_no_run() {
        let text = RecordedEvent::new(Body::Answer("hello".into()));
        assert_eq!(RunCalls::from_events(&[text], 1), None);
    }
}
