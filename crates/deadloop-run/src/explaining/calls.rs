//! The longest streak of equal calls in a run, and the first difference between its results.

use std::collections::HashMap;

use deadloop_corpus::{Body, RecordedEvent};
use deadloop_detect::Arguments;
use serde::Serialize;

/// Fewer equal calls in a row are no streak.
const LEAST: usize = 3;

/// Chars of a differing word that are shown.
const SHOWN: usize = 40;

/// Calls of one tool with the same arguments, one after the other.
#[derive(Debug, PartialEq, Serialize)]
pub struct EqualCalls {
    /// The name of the tool.
    pub tool: String,
    /// The number of the first call.
    pub first: usize,
    /// The number of calls.
    pub count: usize,
    /// The first words that differ between the results of two calls in a row. `None` if all results are equal.
    pub differ: Option<[String; 2]>,
}

/// A call and its result, if one was recorded.
struct Called {
    tool: String,
    arguments: String,
    result: Option<String>,
}

impl EqualCalls {
    /// Finds the longest streak, the first of equally long ones. `None` if no three calls in a row are equal.
    pub(super) fn find(events: &[RecordedEvent]) -> Option<Self> {
        let calls = calls(events);
        let mut first = 0;
        let mut longest = 0..0;
        for (number, call) in calls.iter().enumerate() {
            let begins = &calls[first];
            if (&call.tool, &call.arguments) != (&begins.tool, &begins.arguments) {
                first = number;
            }
            if number + 1 - first > longest.len() {
                longest = first..number + 1;
            }
        }
        let streak = calls.get(longest.clone()).filter(|s| s.len() >= LEAST)?;
        let results: Vec<&str> = streak.iter().filter_map(|c| c.result.as_deref()).collect();
        let pairs = results.iter().zip(results.iter().skip(1));
        Some(Self {
            tool: streak[0].tool.clone(),
            first: longest.start,
            count: longest.len(),
            differ: pairs.filter_map(|(a, b)| difference(a, b)).next(),
        })
    }
}

/// Pairs calls with their results: by id, else in order.
fn calls(events: &[RecordedEvent]) -> Vec<Called> {
    let mut calls: Vec<Called> = Vec::new();
    let mut open: HashMap<&str, usize> = HashMap::new();
    let mut unnamed = 0;
    for event in events {
        match &event.body {
            Body::ToolCall {
                id,
                name,
                arguments,
            } => {
                if let Some(id) = id {
                    open.insert(id, calls.len());
                }
                calls.push(Called {
                    tool: name.clone(),
                    arguments: Arguments::Json(arguments).text().to_string(),
                    result: None,
                });
            }
            Body::ToolResult { id, content, .. } => {
                while calls.get(unnamed).is_some_and(|call| call.result.is_some()) {
                    unnamed += 1;
                }
                let number = id.as_deref().and_then(|id| open.remove(id));
                if let Some(call) = calls.get_mut(number.unwrap_or(unnamed)) {
                    call.result = Some(content.clone());
                }
            }
            _ => {}
        }
    }
    calls
}

/// The first words in which two texts differ; an end of the text is an empty word.
fn difference(a: &str, b: &str) -> Option<[String; 2]> {
    let (mut words, mut others) = (a.split_whitespace(), b.split_whitespace());
    loop {
        match (words.next(), others.next()) {
            (None, None) => return None,
            (one, other) if one == other => {}
            (one, other) => {
                let shown = |word: Option<&str>| word.unwrap_or("").chars().take(SHOWN).collect();
                return Some([shown(one), shown(other)]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_streak_and_its_first_difference_are_found() {
        let events = |lines: &[(&str, &str)]| -> Vec<RecordedEvent> {
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
            made.map(RecordedEvent::of).collect()
        };
        let found = |lines: &[(&str, &str)]| EqualCalls::find(&events(lines));
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
