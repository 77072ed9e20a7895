//! The main row, the confidence and the history of the labels of one transcript.

use deadloop_score::proposals::confidence;
use deadloop_score::{Class, LabelRow, REVIEW};

/// Returns the row that a reviewer answers: the loop, else the longest repetition, else the first row.
pub(super) fn main_row(rows: &[LabelRow]) -> Option<&LabelRow> {
    let length = |row: &LabelRow| {
        row.end
            .unwrap_or(u64::MAX)
            .saturating_sub(row.onset.unwrap_or(0))
    };
    let longest = |row: &&LabelRow| (row.class == Class::Loop, length(row));
    let spans = rows.iter().filter(|row| row.onset.is_some());
    spans.max_by_key(longest).or(rows.first())
}

/// Returns the confidence of the proposed class, the highest among its rows.
pub(super) fn class_confidence(rows: &[LabelRow]) -> f64 {
    let class = main_row(rows).map(|row| row.class);
    let rows = rows.iter().filter(|row| Some(row.class) == class);
    rows.filter_map(confidence).reduce(f64::max).unwrap_or(1.0)
}

/// Formats the label before the review, for the note of a row.
pub(super) fn describe_previous(rows: &[LabelRow]) -> String {
    match main_row(rows) {
        Some(row) if row.by.starts_with(REVIEW) => row.note.clone(),
        Some(row) => {
            let onset = row.onset.map(|at| format!(" at {at}")).unwrap_or_default();
            let note = if row.note.is_empty() {
                String::new()
            } else {
                format!(", {}", row.note)
            };
            format!("was {}{onset} by {}{note}", row.class.name(), row.by)
        }
        None => String::new(),
    }
}
