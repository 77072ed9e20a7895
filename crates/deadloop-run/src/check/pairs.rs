//! The checks for calls and results that do not pair, or lack fields.

use std::collections::{HashMap, HashSet};

use deadloop_corpus::{Body, RecordedEvent};
use serde_json::Value;

use super::{CheckAdvice, CheckFn, CheckedTranscript, CorpusCheck, Severity};
use crate::words;

pub(super) static UNPAIRED_CALLS: CorpusCheck = CorpusCheck {
    name: "unpaired",
    severity: Severity::Warning,
    title: "results without a call, second results, calls with the id of an open call",
    why: "guards skip such results, and of two open calls with one id only one gets its result, so they count fewer repetitions than there were",
    advice: CheckAdvice::Plain(
        "inspect the recording: parts may be missing, or two runs may be mixed",
    ),
    find: CheckFn::Text(|checked_text| {
        CallPairCounts::from_events(&checked_text.entry.transcript.events).describe_unpaired()
    }),
};

pub(super) static INCOMPLETE_CALLS: CorpusCheck = CorpusCheck {
    name: "unsaid-of-calls",
    severity: Severity::Note,
    title: "calls without a result, arguments that are not JSON, results without a status",
    why: "guards on results skip a call without a result, compare broken arguments as text, and see no failure where none is recorded",
    advice: CheckAdvice::Plain("record `error` with each result; the rest may be true of the run"),
    find: CheckFn::Text(describe_open_calls),
};

/// The counts of unpaired and incomplete calls and results of a run.
#[derive(Default)]
struct CallPairCounts {
    /// Results with the id of no call, or before any call.
    stray_results: u64,
    /// Further results of a call that already has one.
    second_results: u64,
    /// Calls with the id of an earlier call that has no result yet.
    reused_ids: u64,
    /// Calls without a result.
    open_calls: u64,
    /// Calls whose arguments begin like JSON but do not parse.
    bad_json: u64,
    /// Results without the field `error`.
    no_status: u64,
    results: u64,
}

impl CallPairCounts {
    fn from_events(events: &[RecordedEvent]) -> Self {
        let mut found = Self::default();
        let mut open: HashMap<&str, u64> = HashMap::new();
        let mut answered: HashSet<&str> = HashSet::new();
        let mut open_without_id = 0_u64;
        for event in events {
            match &event.body {
                Body::ToolCall { id, arguments, .. } => {
                    found.bad_json += u64::from(is_broken(arguments));
                    match id {
                        None => open_without_id += 1,
                        Some(id) => {
                            let times = open.entry(id).or_default();
                            found.reused_ids += u64::from(*times > 0);
                            *times += 1;
                        }
                    }
                }
                Body::ToolResult { id, error, .. } => {
                    found.results += 1;
                    found.no_status += u64::from(error.is_none());
                    match id {
                        None if open_without_id == 0 => found.stray_results += 1,
                        None => open_without_id -= 1,
                        Some(id) => found.count_result(id, &mut open, &mut answered),
                    }
                }
                _ => {}
            }
        }
        found.open_calls = open_without_id + open.values().sum::<u64>();
        found
    }

    fn count_result<'a>(
        &mut self,
        id: &'a str,
        open: &mut HashMap<&'a str, u64>,
        answered: &mut HashSet<&'a str>,
    ) {
        match open.get_mut(id) {
            Some(times) if *times > 0 => {
                *times -= 1;
                answered.insert(id);
            }
            _ if answered.contains(id) => self.second_results += 1,
            _ => self.stray_results += 1,
        }
    }

    fn describe_unpaired(&self) -> Option<String> {
        join_counts([
            (self.stray_results, "result", "without a call"),
            (self.second_results, "second result", "for a call"),
            (
                self.reused_ids,
                "call",
                "whose id belongs to a call without a result",
            ),
        ])
    }
}

fn describe_open_calls(checked_text: &CheckedTranscript<'_>) -> Option<String> {
    let pairs = CallPairCounts::from_events(&checked_text.entry.transcript.events);
    let unknown = if pairs.no_status == pairs.results {
        "of them all"
    } else {
        "of them"
    };
    let parts = join_counts([
        (pairs.open_calls, "call", "without a result"),
        (pairs.bad_json, "call", "with arguments that are no JSON"),
    ]);
    let silent = (pairs.no_status > 0).then(|| {
        let results = words::several(pairs.results, "result");
        format!(
            "{results}, {} {unknown} do not say whether they failed",
            words::count(pairs.no_status)
        )
    });
    let all: Vec<String> = parts.into_iter().chain(silent).collect();
    (!all.is_empty()).then(|| all.join("; "))
}

/// Returns whether a text begins like a JSON object or list but does not parse as JSON.
fn is_broken(arguments: &Value) -> bool {
    let text = arguments.as_str().map(str::trim).unwrap_or_default();
    text.starts_with(['{', '[']) && serde_json::from_str::<serde::de::IgnoredAny>(text).is_err()
}

fn join_counts<const N: usize>(counts: [(u64, &str, &str); N]) -> Option<String> {
    let some = counts.into_iter().filter(|(count, ..)| *count > 0);
    let parts = some.map(|(count, what, more)| format!("{} {more}", words::several(count, what)));
    let parts: Vec<String> = parts.collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(id: &str) -> RecordedEvent {
        RecordedEvent::new(Body::ToolCall {
            id: Some(id.to_owned()),
            name: "ls".to_owned(),
            arguments: Value::String("{\"path\": ".to_owned()),
        })
    }

    fn count_result(id: &str, error: Option<bool>) -> RecordedEvent {
        RecordedEvent::new(Body::ToolResult {
            id: Some(id.to_owned()),
            content: String::new(),
            error,
        })
    }

    #[test]
    fn what_does_not_fit_is_counted_and_what_does_is_not() {
        let fits = [
            call("a"),
            count_result("a", Some(false)),
            call("a"),
            count_result("a", Some(true)),
        ];
        assert_eq!(CallPairCounts::from_events(&fits).describe_unpaired(), None);
        let odd = [
            count_result("x", None),
            call("a"),
            call("a"),
            count_result("a", None),
            count_result("a", None),
            count_result("a", None),
            call("b"),
        ];
        let found = CallPairCounts::from_events(&odd);
        assert_eq!(
            found.describe_unpaired().as_deref(),
            Some(
                "1 result without a call, 1 second result for a call, \
                 1 call whose id belongs to a call without a result"
            )
        );
        assert_eq!(
            (found.open_calls, found.bad_json, found.no_status),
            (1, 3, 4)
        );
    }
}
