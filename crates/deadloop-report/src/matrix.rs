//! The matrix of the verdicts of guards on transcripts, as JSON for the page.
//!
//! `templates/matrix.js` reads the JSON from a script element that is never executed.
//!
//! The size is bounded. Guards and transcripts beyond the bounds are left out and counted. Transcripts without a
//! difference are left out first.

use crate::data::{OutcomeRow, ReportData, Verdict};
use crate::pack::pack;
use crate::series::select_series;
use serde::Serialize;
use std::collections::BTreeMap;

/// The maximum number of guards, each a column of the matrix.
const MAX_GUARDS: usize = 10;
/// The maximum number of transcripts, each a row of the matrix.
const MAX_ROWS: usize = 20_000;
/// The maximum number of bytes of packed rows in the page.
const MAX_PACKED_BYTES: usize = 1_200_000;

/// The matrix, as the page reads it.
#[derive(Serialize)]
struct MatrixData {
    /// The names of the columns.
    guards: Vec<String>,
    /// The verdicts. A row has the letter of a verdict: `a` is the first.
    verdicts: Vec<VerdictView>,
    models: Vec<String>,
    kinds: Vec<String>,
    /// The number of leading rows in which guards have different verdicts.
    differing: usize,
    left_out: usize,
    /// The compressed rows.
    rows: String,
}

/// A verdict, as the page shows it.
#[derive(Serialize)]
struct VerdictView {
    name: &'static str,
    /// Whether the verdict is a cut of healthy text.
    wrong: bool,
    /// Whether the verdict is on a loop.
    looping: bool,
    /// The sign in a cell of a table.
    sign: char,
    /// The meaning of the verdict in words.
    words: &'static str,
}

impl VerdictView {
    fn new(verdict: Verdict) -> Self {
        let (sign, words) = match verdict {
            Verdict::Hit => ('✓', "found"),
            Verdict::Premature => ('✂', "cut before the loop"),
            Verdict::Stale => ('✂', "cut after the loop"),
            Verdict::Miss => ('✗', "missed"),
            Verdict::FalseAlarm => ('✂', "healthy text cut"),
            Verdict::Quiet | Verdict::TransientPass => ('·', "left alone"),
            Verdict::TransientStop => ('~', "transient stop"),
            Verdict::Unlabelled => ('·', "not cut, no label"),
            Verdict::Error => ('!', "the guard failed"),
        };
        Self {
            name: verdict.name(),
            wrong: verdict.is_false(),
            looping: verdict.is_loop(),
            sign,
            words,
        }
    }
}

/// A row: id, model, kind and onset of a transcript, then a letter for each guard's verdict and the position of its
/// alarm plus one.
///
/// The letter is `-` for a guard without a row, and the position is 0 without an alarm.
type MatrixRow<'d> = (&'d str, usize, usize, Option<u64>, String, Vec<u64>);

/// The rows, with the names of models and kinds to which their numbers refer.
#[derive(Default)]
struct MatrixRows<'d> {
    models: Vec<String>,
    kinds: Vec<String>,
    /// The rows in which guards differ, then all other rows, each in order of id.
    rows: Vec<MatrixRow<'d>>,
    differing: usize,
}

/// Returns the matrix as JSON without any `<`. `None` if there are fewer than two guards.
pub(crate) fn embedded_json(data: &ReportData) -> std::io::Result<Option<String>> {
    let list = select_series(data, MAX_GUARDS);
    if list.len() < 2 {
        return Ok(None);
    }
    let columns: Vec<&[&OutcomeRow]> = list.iter().map(|one| one.rows.as_slice()).collect();
    let mut rows = build_rows(&columns);
    let all = rows.rows.len();
    rows.rows.truncate(MAX_ROWS);
    let packed = loop {
        let packed = pack(&serde_json::to_vec(&rows.rows)?)?;
        if packed.len() <= MAX_PACKED_BYTES || rows.rows.len() < 2 {
            break packed;
        }
        rows.rows.truncate(rows.rows.len() / 2);
    };
    let embedded = MatrixData {
        guards: list.iter().map(|one| one.name.clone()).collect(),
        verdicts: Verdict::ALL.into_iter().map(VerdictView::new).collect(),
        models: rows.models,
        kinds: rows.kinds,
        differing: rows.differing.min(rows.rows.len()),
        left_out: all - rows.rows.len(),
        rows: packed,
    };
    let json = serde_json::to_string(&embedded)?;
    Ok(Some(json.replace('<', "\\u003c")))
}

fn build_rows<'d>(columns: &[&[&'d OutcomeRow]]) -> MatrixRows<'d> {
    let mut by_id: BTreeMap<&str, Vec<Option<&OutcomeRow>>> = BTreeMap::new();
    for (at, column) in columns.iter().enumerate() {
        for row in *column {
            let cells = by_id.entry(&row.transcript);
            cells.or_insert_with(|| vec![None; columns.len()])[at] = Some(row);
        }
    }
    let mut out = MatrixRows::default();
    let (differ, same): (Vec<_>, Vec<_>) = by_id.into_iter().partition(|(_, cells)| differs(cells));
    out.differing = differ.len();
    for (id, cells) in differ.into_iter().chain(same) {
        let Some(first) = cells.iter().flatten().next() else {
            continue;
        };
        let kind = cells.iter().flatten().find_map(|row| row.kind.as_deref());
        let onset = cells.iter().flatten().find_map(|row| row.onset);
        let model = index_of_name(&mut out.models, &first.model);
        let kind = index_of_name(&mut out.kinds, kind.unwrap_or_default());
        let letters = cells.iter().map(|row| verdict_letter(*row)).collect();
        let alarm =
            |row: &Option<&OutcomeRow>| row.and_then(|row| row.alarm_at).map_or(0, |at| at + 1);
        let alarms = cells.iter().map(alarm).collect();
        out.rows.push((id, model, kind, onset, letters, alarms));
    }
    out
}

/// Returns whether guards have different verdicts on a transcript. Without a label, whether only some of them alarm.
fn differs(cells: &[Option<&OutcomeRow>]) -> bool {
    let judged = |row: &&OutcomeRow| {
        (
            row.verdict,
            row.verdict == Verdict::Unlabelled && row.alarm_at.is_some(),
        )
    };
    let mut rows = cells.iter().flatten().map(judged);
    rows.next()
        .is_some_and(|first| rows.any(|other| other != first))
}

/// Returns the letter of a verdict, or `-` without a row.
fn verdict_letter(row: Option<&OutcomeRow>) -> char {
    let index = |row: &OutcomeRow| Verdict::ALL.iter().position(|one| *one == row.verdict);
    let index = row.and_then(index).and_then(|at| u8::try_from(at).ok());
    index.map_or('-', |at| char::from(b'a' + at))
}

/// Returns the index of a name in a list, and adds a new name.
fn index_of_name(names: &mut Vec<String>, name: &str) -> usize {
    names.iter().position(|one| one == name).unwrap_or_else(|| {
        names.push(name.to_owned());
        names.len() - 1
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(id: &str, verdict: Verdict, alarm_at: Option<u64>) -> OutcomeRow {
        OutcomeRow {
            transcript: id.into(),
            model: "m".into(),
            setting: 0,
            kind: None,
            channel: None,
            onset: Some(7),
            end: None,
            length: Some(90),
            verdict,
            earlier: false,
            alarm_at,
            alarm_calls: None,
            alarm_turns: None,
            alarm_kind: None,
            detector: None,
            latency: None,
            lost: None,
            error: None,
        }
    }

    #[test]
    fn transcripts_on_which_guards_differ_come_first() {
        let first = [
            outcome("a", Verdict::Hit, Some(20)),
            outcome("b", Verdict::Hit, Some(20)),
            outcome("c", Verdict::Unlabelled, None),
        ];
        let second = [
            outcome("a", Verdict::Hit, Some(30)),
            outcome("b", Verdict::Miss, None),
            outcome("c", Verdict::Unlabelled, Some(4)),
            outcome("d", Verdict::Quiet, None),
        ];
        let [first, second] = [first.iter().collect::<Vec<_>>(), second.iter().collect()];
        let MatrixRows {
            rows, differing, ..
        } = build_rows(&[&first, &second]);
        let ids: Vec<&str> = rows.iter().map(|row| row.0).collect();
        assert_eq!((ids, differing), (vec!["b", "c", "a", "d"], 2));
        assert_eq!((rows[0].4.as_str(), &rows[0].5), ("ad", &vec![21, 0]));
        assert_eq!((rows[3].4.as_str(), &rows[3].5), ("-f", &vec![0, 0]));
    }
}
