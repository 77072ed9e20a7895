//! The calls of an agent's run, for a report.
//!
//! The numbers of calls and chars are bounded. Equal calls share one text. [`OpenCase`](super::excerpts::OpenCase)
//! transcripts hold these calls.

use std::collections::{HashMap, HashSet, VecDeque};

use deadloop_replay::corpus::{RecordedEvent, stream};
use deadloop_replay::detect::Event as Arriving;
use serde::{Deserialize, Serialize};

/// The maximum number of calls of a run.
const MAX_CALLS: u64 = 400;
/// The number of calls before the requested one.
const CALLS_BEFORE: u64 = 100;
/// The maximum number of chars of a call's arguments, and of its result.
const MAX_CHARS: [usize; 2] = [160, 240];
/// The maximum number of chars of all arguments and results of a run.
const MAX_CHARS_OF_RUN: usize = 12_000;

/// The calls of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunCalls {
    /// The number of calls in the whole run.
    pub of: u64,
    /// The number of turns in the whole run.
    pub turns: u64,
    /// The calls around the requested one, in order.
    pub list: Vec<CallRecord>,
}

/// A call and its result.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CallRecord {
    /// The number of the call, from 1.
    pub at: u64,
    /// The number of the call's turn, from 1.
    pub turn: u64,
    /// The number of the first call with this name and these arguments. The call's own number if it is the first.
    pub same: u64,
    /// The number of the first call with this name, these arguments and this result. `None` if the call has no result.
    pub pair: Option<u64>,
    /// The tool.
    pub name: String,
    /// The beginning of the arguments. Empty if an equal earlier call has them.
    pub arguments: String,
    /// The beginning of the result. Empty if an equal earlier pair has it.
    pub result: String,
    /// The length of the whole result in chars.
    pub chars: u64,
    /// Whether the call failed.
    pub error: bool,
}

impl RunCalls {
    /// Returns the calls of a run, from a little before call `near` (from 1) on. `None` if the run has no calls.
    pub fn from_events(events: &[RecordedEvent], near: u64) -> Option<Self> {
        let mut reading = CallsReader::default();
        stream(events).for_each(|(_, event)| reading.take_event(event));
        let CallsReader {
            mut list, turns, ..
        } = reading;
        let of = list.len() as u64;
        let last = of.saturating_sub(MAX_CALLS);
        let first = near.saturating_sub(CALLS_BEFORE).min(last);
        list.drain(..usize::try_from(first).unwrap_or(usize::MAX).min(list.len()));
        list.truncate(usize::try_from(MAX_CALLS).unwrap_or(usize::MAX));
        let mut room = MAX_CHARS_OF_RUN;
        let mut said = HashSet::new();
        for (call, texts) in &mut list {
            let [arguments, result] = std::mem::take(texts);
            if said.insert((call.same, None)) {
                call.arguments = elide(&arguments, MAX_CHARS[0].min(room));
                room -= call.arguments.chars().count();
            }
            if call.pair.is_some() && said.insert((call.same, call.pair)) {
                call.result = elide(&result, MAX_CHARS[1].min(room));
                room -= call.result.chars().count();
            }
        }
        let list: Vec<CallRecord> = list.into_iter().map(|(call, _)| call).collect();
        (of > 0).then_some(Self { of, turns, list })
    }

    /// Counts the chars of all arguments and results.
    pub fn chars(&self) -> usize {
        let texts =
            |call: &CallRecord| call.arguments.chars().count() + call.result.chars().count();
        self.list.iter().map(texts).sum()
    }

    /// Removes every text, names of tools too.
    pub fn forget(&mut self) {
        for call in &mut self.list {
            call.name.clear();
            call.arguments.clear();
            call.result.clear();
        }
    }
}

/// The state of reading a run.
#[derive(Default)]
struct CallsReader {
    /// The calls with their arguments and results, both cut.
    list: Vec<(CallRecord, [String; 2])>,
    turns: u64,
    /// The first call with a name and canonical arguments.
    keys: HashMap<(String, String), u64>,
    /// The first call with a result, by the first equal call and the result.
    pairs: HashMap<(u64, String), u64>,
    /// The calls that still wait for a result: their indices in `list`, by id.
    open: HashMap<Option<String>, VecDeque<usize>>,
}

impl CallsReader {
    fn take_event(&mut self, event: Arriving<'_>) {
        match event {
            Arriving::Turn { .. } => self.turns += 1,
            Arriving::Call {
                id,
                name,
                arguments,
            } => {
                let at = self.list.len() as u64 + 1;
                let key = (name.to_owned(), arguments.canonical());
                let called = CallRecord {
                    at,
                    turn: self.turns.max(1),
                    same: *self.keys.entry(key).or_insert(at),
                    name: elide(name, MAX_CHARS[0]),
                    ..CallRecord::default()
                };
                let open = self.open.entry(id.map(str::to_owned)).or_default();
                open.push_back(self.list.len());
                self.list.push((
                    called,
                    [elide(&arguments.text(), MAX_CHARS[0]), String::new()],
                ));
            }
            Arriving::Result {
                id,
                content,
                error,
                cut: known,
            } => {
                let open = self.open.get_mut(&id.map(str::to_owned));
                let Some(at) = open.and_then(VecDeque::pop_front) else {
                    return;
                };
                let (call, texts) = &mut self.list[at];
                // Texts that the recording cut differ by their hashes.
                let whole = known.map_or_else(
                    || content.to_owned(),
                    |one| format!("{content}\n{}", one.sha256),
                );
                call.pair = Some(*self.pairs.entry((call.same, whole)).or_insert(call.at));
                call.chars = known
                    .and_then(|one| one.length)
                    .unwrap_or(content.chars().count() as u64);
                call.error = error == Some(true);
                texts[1] = elide(content, MAX_CHARS[1]);
            }
            _ => {}
        }
    }
}

fn elide(text: &str, chars: usize) -> String {
    text.chars().take(chars).collect()
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
        assert!(calls.chars() <= MAX_CHARS_OF_RUN);
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
