//! The calls of an agent's run: a tinted strip and a list.
//!
//! Equal calls have an equal tint. Results are folded in the list.

use super::text::hide;
use crate::numbers::count;
use crate::visible::in_lines;
use deadloop_score::{CallRecord, RunCalls};
use serde::Serialize;
use std::collections::BTreeMap;

/// The maximum number of kinds of equal calls with a tint of their own.
const TINTS: usize = 6;

/// The calls of a run, ready for the page.
#[derive(Debug, Clone, Serialize)]
pub(super) struct CallsView {
    /// The sentence with the number of calls and the range shown.
    told: String,
    /// The boxes of the strip.
    boxes: Vec<Box>,
    /// The starts of turns in thousandths of the strip.
    turns: Vec<f64>,
    rows: Vec<CallRow>,
}

/// A call on the strip: its place, width, tint and title.
#[derive(Debug, Clone, Serialize)]
struct Box {
    at: f64,
    width: f64,
    tint: String,
    title: String,
}

/// Adjacent equal calls with equal results.
#[derive(Debug, Clone, Default, Serialize)]
struct CallRow {
    /// The numbers of the calls: `12` or `12–26`.
    at: String,
    turn: String,
    tint: String,
    name: String,
    arguments: String,
    /// The repetition in words, for example `15 times in a row; the call of 3`.
    again: String,
    error: bool,
    /// The title of the fold, and the beginning of the result.
    result: Option<(String, String)>,
}

/// Prepares the calls of a run. With `by_turns`, the strip has `length` turns, else `length` calls.
pub(super) fn calls_view(calls: &RunCalls, by_turns: bool, length: u64) -> CallsView {
    let tints = tints(calls);
    let tint = |call: &CallRecord| {
        tints
            .get(&call.same)
            .map_or(String::new(), |n| format!("c{n}"))
    };
    let thousandths =
        |n: u64| (n.min(length) as f64 / length.max(1) as f64 * 10_000.0).round() / 10.0;
    let place = |call: &CallRecord| if by_turns { call.turn } else { call.at };
    let one = |call: &CallRecord| Box {
        at: thousandths(place(call) - 1),
        width: (1000.0 / length.max(1) as f64).max(0.5),
        tint: tint(call),
        title: format!(
            "call {}, turn {}: {}",
            count(call.at),
            count(call.turn),
            line(&call.name)
        ),
    };
    let mut turns: Vec<f64> = Vec::new();
    for pair in calls.list.windows(2) {
        if pair[0].turn != pair[1].turn {
            turns.push(thousandths(place(&pair[1]) - 1));
        }
    }
    CallsView {
        told: summary(calls),
        boxes: calls.list.iter().map(one).collect(),
        turns,
        rows: rows(calls, &tint),
    }
}

/// Returns the tints of the most frequently repeated calls. Other calls have no tint.
fn tints(calls: &RunCalls) -> BTreeMap<u64, usize> {
    let mut times: BTreeMap<u64, usize> = BTreeMap::new();
    for call in &calls.list {
        *times.entry(call.same).or_default() += 1;
    }
    let mut again: Vec<(u64, usize)> = times.into_iter().filter(|(_, n)| *n > 1).collect();
    again.sort_by_key(|(first, n)| (std::cmp::Reverse(*n), *first));
    let tinted = again.into_iter().take(TINTS).enumerate();
    tinted.map(|(n, (first, _))| (first, n)).collect()
}

fn summary(calls: &RunCalls) -> String {
    let (of, turns) = (count(calls.of), count(calls.turns));
    let s = |n: u64| if n == 1 { "" } else { "s" };
    let all = format!("{of} call{} in {turns} turn{}", s(calls.of), s(calls.turns));
    match (calls.list.first(), calls.list.last()) {
        (Some(first), Some(last)) if (calls.list.len() as u64) < calls.of => {
            format!(
                "{all}; calls {} to {} are here",
                count(first.at),
                count(last.at)
            )
        }
        _ => all,
    }
}

/// Returns a row for each stretch of equal calls with equal results.
fn rows(calls: &RunCalls, tint: &dyn Fn(&CallRecord) -> String) -> Vec<CallRow> {
    let alike =
        |a: &CallRecord, b: &CallRecord| a.same == b.same && a.pair == b.pair && a.pair.is_some();
    let stretches = calls.list.chunk_by(alike);
    // Arguments are kept only with the first of equal calls.
    let said = calls.list.iter().filter(|call| !call.arguments.is_empty());
    let said: BTreeMap<u64, &str> = said
        .map(|call| (call.same, call.arguments.as_str()))
        .collect();
    let row = |stretch: &[CallRecord]| {
        let (Some(first), Some(last)) = (stretch.first(), stretch.last()) else {
            return CallRow::default();
        };
        let times = stretch.len();
        let mut again = Vec::new();
        if times > 1 {
            again.push(format!("{times} times in a row"));
        }
        if first.same != first.at {
            let same = count(first.same);
            again.push(match first.pair.filter(|pair| *pair != first.at) {
                Some(pair) if pair == first.same => format!("call and result of {same}"),
                Some(pair) => format!("the call of {same}, the result of {}", count(pair)),
                None => format!("the call of {same}"),
            });
        }
        if first.pair.is_none() {
            again.push("no result".into());
        }
        let result = (!first.result.is_empty()).then(|| {
            let text = first.result.chars().map(in_lines).collect();
            (format!("result, {} chars", count(first.chars)), text)
        });
        let span = |from: u64, to: u64| {
            if from == to {
                count(from)
            } else {
                format!("{}–{}", count(from), count(to))
            }
        };
        CallRow {
            at: span(first.at, last.at),
            turn: span(first.turn, last.turn),
            tint: tint(first),
            name: line(&first.name),
            arguments: line(said.get(&first.same).copied().unwrap_or_default()),
            again: again.join("; "),
            error: first.error,
            result,
        }
    };
    stretches.map(row).collect()
}

/// Formats untrusted text on one line.
fn line(text: &str) -> String {
    crate::visible::visible(text).into_owned()
}

/// Hides the texts of calls.
pub(super) fn redact(calls: &mut RunCalls) {
    for call in &mut calls.list {
        for text in [&mut call.name, &mut call.arguments, &mut call.result] {
            *text = hide(text);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn called(at: u64, same: u64, pair: u64) -> CallRecord {
        CallRecord {
            at,
            turn: at.div_ceil(2),
            same,
            pair: Some(pair),
            name: "ls".into(),
            result: if pair == at {
                "a\u{202e}b".into()
            } else {
                String::new()
            },
            chars: 3,
            ..CallRecord::default()
        }
    }

    #[test]
    fn equal_calls_share_a_tint_and_neighbours_a_row() {
        let list = vec![
            called(1, 1, 1),
            called(2, 2, 2),
            called(3, 1, 3),
            called(4, 1, 3),
            called(5, 1, 1),
            called(6, 6, 6),
        ];
        let calls = RunCalls {
            of: 6,
            turns: 3,
            list,
        };
        let shown = calls_view(&calls, false, 6);
        let tints: Vec<&str> = shown.boxes.iter().map(|one| one.tint.as_str()).collect();
        assert_eq!(tints, ["c0", "", "c0", "c0", "c0", ""]);
        let rows: Vec<(&str, &str)> = shown
            .rows
            .iter()
            .map(|row| (row.at.as_str(), row.again.as_str()))
            .collect();
        assert_eq!(
            rows,
            [
                ("1", ""),
                ("2", ""),
                ("3–4", "2 times in a row; the call of 1"),
                ("5", "call and result of 1"),
                ("6", ""),
            ]
        );
        assert_eq!(shown.rows[0].result.as_ref().unwrap().1, "a\\u{202e}b");
        assert_eq!(shown.turns, [333.3, 666.7]);
        assert_eq!(shown.told, "6 calls in 3 turns");
    }
}
