//! The longest streak of equal calls in a run, and the first difference between its results.

use deadloop_corpus::{Body, Transcript};
use serde::Serialize;
use serde_json::Value;

use crate::corpus::blocks::RunNumbers;

/// The minimum length of a streak of equal calls.
const MIN_LEN: usize = 3;

/// The maximum number of chars of a differing word to show.
const MAX_CHARS: usize = 40;

/// A streak of calls of one tool with the same arguments.
#[derive(Debug, PartialEq, Serialize)]
pub struct EqualCalls {
    /// The name of the tool.
    pub tool: String,
    /// The index of the first call among all calls of the run.
    pub first: usize,
    /// The number of calls in the streak.
    pub count: usize,
    /// The first word of each of two adjacent results that differs from the other. `None` if all results of the streak
    /// are equal.
    pub differ: Option<[String; 2]>,
}

/// A call with its recorded result.
struct CallPair<'a> {
    tool: &'a str,
    arguments: &'a Value,
    result: Option<&'a str>,
}

impl EqualCalls {
    /// Finds the longest streak of equal calls, or the first of several that long. `None` if no three calls in a row
    /// are equal.
    pub(super) fn find(transcript: &Transcript) -> Option<Self> {
        let calls = pair_calls(transcript);
        let mut first = 0;
        let mut longest = 0..0;
        for (number, call) in calls.iter().enumerate() {
            let begins = &calls[first];
            if (call.tool, call.arguments) != (begins.tool, begins.arguments) {
                first = number;
            }
            if number + 1 - first > longest.len() {
                longest = first..number + 1;
            }
        }
        let streak = calls.get(longest.clone()).filter(|s| s.len() >= MIN_LEN)?;
        let results: Vec<&str> = streak.iter().filter_map(|call| call.result).collect();
        let pairs = results.iter().zip(results.iter().skip(1));
        Some(Self {
            tool: streak[0].tool.to_owned(),
            first: longest.start,
            count: longest.len(),
            differ: pairs.filter_map(|(a, b)| first_difference(a, b)).next(),
        })
    }
}

/// Pairs each call of a transcript with its result, in order.
fn pair_calls(transcript: &Transcript) -> Vec<CallPair<'_>> {
    let mut numbers = RunNumbers::new(transcript);
    let mut calls: Vec<CallPair<'_>> = Vec::new();
    for event in &transcript.events {
        match &event.body {
            Body::ToolCall {
                id,
                name,
                arguments,
            } => {
                numbers.call(id.as_deref());
                calls.push(CallPair {
                    tool: name,
                    arguments,
                    result: None,
                });
            }
            Body::ToolResult { id, content, .. } => {
                let call = numbers.result(id.as_deref());
                let call = call.and_then(|call| calls.get_mut(usize::try_from(call).ok()?));
                if let Some(call) = call {
                    call.result = Some(content);
                }
            }
            _ => {}
        }
    }
    calls
}

/// Returns the first word of each text that differs from the other text's. The end of a text counts as an empty word.
fn first_difference(a: &str, b: &str) -> Option<[String; 2]> {
    let (mut words, mut others) = (a.split_whitespace(), b.split_whitespace());
    loop {
        match (words.next(), others.next()) {
            (None, None) => return None,
            (one, other) if one == other => {}
            (one, other) => {
                let shown =
                    |word: Option<&str>| word.unwrap_or("").chars().take(MAX_CHARS).collect();
                return Some([shown(one), shown(other)]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use deadloop_corpus::RecordedEvent;

    #[test]
    fn the_longest_streak_and_its_first_difference_are_found() {
        let found = |lines: &[(&str, &str)]| {
            let made = lines.iter().enumerate().flat_map(|(n, (command, result))| {
                let id = Some(format!("c{n}"));
                [
                    Body::ToolCall {
                        id: id.clone(),
                        name: "bash".into(),
                        arguments: serde_json::json!({ "command": command }),
                    },
                    Body::ToolResult {
                        id,
                        content: (*result).to_owned(),
                        error: None,
                    },
                ]
            });
            let events = made.map(RecordedEvent::new).collect();
            EqualCalls::find(&Transcript {
                events,
                ..Transcript::default()
            })
        };
        assert_eq!(found(&[("ls", "a"), ("ls", "a"), ("pwd", "a")]), None);
        let test = ("pytest", "3 failed in 3.01s");
        let later = ("pytest", "3 failed in 6.34s");
        let streak = found(&[("ls", "a"), test, test, later, ("ls", "a")]).unwrap();
        assert_eq!((streak.first, streak.count), (1, 3));
        assert_eq!(streak.differ, Some(["3.01s".into(), "6.34s".into()]));
        assert_eq!(found(&[test, test, test]).unwrap().differ, None);
        let shorter = found(&[("ls", "a b"), ("ls", "a"), ("ls", "a")]).unwrap();
        assert_eq!(shorter.differ, Some(["b".into(), String::new()]));
    }
}
