//! The calls of an agent's run as a tinted strip and a list.
//!
//! Equal calls have the same tint. Results are collapsed in the list.

use super::text::redact_text;
use crate::numbers::count;
use crate::visible::in_lines;
use deadloop_score::{CallRecord, RunCalls};
use serde::Serialize;
use std::collections::BTreeMap;

/// The maximum number of tints. Each is for one group of equal calls.
const MAX_TINTS: usize = 6;

/// The calls of a run, prepared for the page.
#[derive(Debug, Clone, Serialize)]
pub(super) struct CallsView {
    /// The sentence with the number of calls and the range that is shown.
    told: String,
    /// The boxes of the strip, one for each call.
    boxes: Vec<CallBox>,
    /// The positions at which turns start, in thousandths of the strip.
    turns: Vec<f64>,
    rows: Vec<CallRow>,
}

/// The box of a call on the strip. Positions and widths are in thousandths of the strip.
#[derive(Debug, Clone, Serialize)]
struct CallBox {
    at: f64,
    width: f64,
    tint: String,
    title: String,
}

/// A row of the list: adjacent equal calls with equal results.
#[derive(Debug, Clone, Default, Serialize)]
struct CallRow {
    /// The numbers of the calls, such as `12` or `12–26`.
    at: String,
    turn: String,
    tint: String,
    name: String,
    arguments: String,
    /// The repetition in words, such as `15 times in a row; the call of 3`.
    again: String,
    error: bool,
    /// The title of the collapsed result, and the beginning of the result.
    result: Option<(String, String)>,
}

/// Prepares the calls of a run for the page. The strip has `length` turns if `by_turns`, otherwise `length` calls.
pub(super) fn calls_view(calls: &RunCalls, by_turns: bool, length: u64) -> CallsView {
    let tints = assign_tints(calls);
    let tint = |call: &CallRecord| {
        tints
            .get(&call.same)
            .map_or(String::new(), |n| format!("c{n}"))
    };
    let thousandths =
        |n: u64| (n.min(length) as f64 / length.max(1) as f64 * 10_000.0).round() / 10.0;
    let position = |call: &CallRecord| if by_turns { call.turn } else { call.at };
    let call_box = |call: &CallRecord| CallBox {
        at: thousandths(position(call) - 1),
        width: (1000.0 / length.max(1) as f64).max(0.5),
        tint: tint(call),
        title: format!(
            "call {}, turn {}: {}",
            count(call.at),
            count(call.turn),
            to_visible(&call.name)
        ),
    };
    let mut turns: Vec<f64> = Vec::new();
    for pair in calls.list.windows(2) {
        if pair[0].turn != pair[1].turn {
            turns.push(thousandths(position(&pair[1]) - 1));
        }
    }
    CallsView {
        told: summarize(calls),
        boxes: calls.list.iter().map(call_box).collect(),
        turns,
        rows: group_rows(calls, &tint),
    }
}

/// Returns the tints of the most frequently repeated calls, by the number of the first equal call.
fn assign_tints(calls: &RunCalls) -> BTreeMap<u64, usize> {
    let mut times: BTreeMap<u64, usize> = BTreeMap::new();
    for call in &calls.list {
        *times.entry(call.same).or_default() += 1;
    }
    let mut repeated: Vec<(u64, usize)> = times.into_iter().filter(|(_, n)| *n > 1).collect();
    repeated.sort_by_key(|(first, n)| (std::cmp::Reverse(*n), *first));
    let tinted = repeated.into_iter().take(MAX_TINTS).enumerate();
    tinted.map(|(n, (first, _))| (first, n)).collect()
}

fn summarize(calls: &RunCalls) -> String {
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

/// Returns a row for each sequence of equal calls with equal results.
fn group_rows(calls: &RunCalls, tint: &dyn Fn(&CallRecord) -> String) -> Vec<CallRow> {
    let alike =
        |a: &CallRecord, b: &CallRecord| a.same == b.same && a.pair == b.pair && a.pair.is_some();
    let sequences = calls.list.chunk_by(alike);
    // Arguments are kept only with the first of equal calls.
    let arguments = calls.list.iter().filter(|call| !call.arguments.is_empty());
    let arguments: BTreeMap<u64, &str> = arguments
        .map(|call| (call.same, call.arguments.as_str()))
        .collect();
    let row = |sequence: &[CallRecord]| {
        let (Some(first), Some(last)) = (sequence.first(), sequence.last()) else {
            return CallRow::default();
        };
        let times = sequence.len();
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
            name: to_visible(&first.name),
            arguments: to_visible(arguments.get(&first.same).copied().unwrap_or_default()),
            again: again.join("; "),
            error: first.error,
            result,
        }
    };
    sequences.map(row).collect()
}

/// Makes every char of an untrusted text visible, on one line.
fn to_visible(text: &str) -> String {
    crate::visible::visible(text).into_owned()
}

/// Hides the texts of the calls.
pub(super) fn redact(calls: &mut RunCalls) {
    for call in &mut calls.list {
        for text in [&mut call.name, &mut call.arguments, &mut call.result] {
            *text = redact_text(text);
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
