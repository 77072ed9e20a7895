//! Reads the labels of a file or corpus, and compares two labellings.

use std::collections::BTreeMap;
use std::path::Path;

use deadloop_corpus::{Entry, Problem};
use deadloop_score::{Class, LabelRow};

use super::rows::main_row;
use crate::corpus::survey::open;
use crate::failure::{Code, Failure, RunResult};
use crate::host::{Host, find_in};

/// Reads the rows of a labels.csv, or the labels of a corpus.
///
/// # Errors
/// Returns an error if the file or the corpus cannot be read, its labels are bad, or the host stopped it.
pub(super) fn read_labels(path: &Path, host: &dyn Host) -> RunResult<Vec<LabelRow>> {
    let csv = path
        .extension()
        .is_some_and(|e| e.eq_ignore_ascii_case("csv"));
    if csv {
        return LabelRow::read(path).map_err(labels_failure);
    }
    let corpus = open(path)?;
    let beside = corpus.labels_csv().map(LabelRow::read).transpose();
    let mut rows = beside.map_err(labels_failure)?.unwrap_or_default();
    let mut inside: BTreeMap<String, Vec<LabelRow>> = BTreeMap::new();
    let mut problems = Vec::new();
    let look = |entry: Result<Entry, Problem>| {
        let read = entry.map_err(|problem| vec![problem]);
        Some(read.and_then(|entry| Ok((LabelRow::inside(&entry)?, entry.transcript.id))))
    };
    let interrupted = "interrupted while labels were read";
    for looked in find_in(&corpus, host, ("reading", interrupted), look)? {
        match looked {
            Ok((rows, id)) => drop(inside.insert(id, rows)),
            Err(more) => problems.extend(more),
        }
    }
    if !problems.is_empty() {
        return Err(labels_failure(problems));
    }
    // A labels.csv replaces the labels inside the transcripts that it names, like in scoring.
    for row in &rows {
        inside.remove(&row.transcript);
    }
    rows.extend(inside.into_values().flatten());
    Ok(rows)
}

fn labels_failure(problems: Vec<Problem>) -> Failure {
    let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
    Code::Usage.error(format!(
        "labels that cannot be merged\n{}",
        lines.join("\n")
    ))
}

/// The maximum distance in chars between two beginnings of a loop that count as equal.
const MAX_ONSET_DISTANCE: u64 = 1_000;

/// Returns whether two labellings of a transcript differ in the class, or in the beginning of the loop by more than
/// [`MAX_ONSET_DISTANCE`]. The beginning is `earliest`, or else `onset`.
pub(super) fn labels_differ(ours: &[LabelRow], theirs: &[LabelRow]) -> bool {
    let (Some(a), Some(b)) = (main_row(ours), main_row(theirs)) else {
        return false;
    };
    let begins = |row: &LabelRow| row.earliest.or(row.onset).unwrap_or(0);
    let apart = a.channel != b.channel || begins(a).abs_diff(begins(b)) > MAX_ONSET_DISTANCE;
    a.class != b.class || a.class == Class::Loop && apart
}
