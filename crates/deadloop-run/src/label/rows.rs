//! The main row, confidence and history of one transcript's labels.

use deadloop_score::proposals::confidence;
use deadloop_score::{Class, LabelRow, REVIEW};

/// Returns the row that a review is about: the loop, else the longest repetition, else the first.
pub(super) fn main_of(rows: &[LabelRow]) -> Option<&LabelRow> {
    let length = |row: &LabelRow| {
        row.end
            .unwrap_or(u64::MAX)
            .saturating_sub(row.onset.unwrap_or(0))
    };
    let longest = |row: &&LabelRow| (row.class == Class::Loop, length(row));
    let spans = rows.iter().filter(|row| row.onset.is_some());
    spans.max_by_key(longest).or(rows.first())
}

/// Returns the confidence of the proposed class: the highest of its rows.
pub(super) fn sure(rows: &[LabelRow]) -> f64 {
    let class = main_of(rows).map(|row| row.class);
    let rows = rows.iter().filter(|row| Some(row.class) == class);
    rows.filter_map(confidence).reduce(f64::max).unwrap_or(1.0)
}

/// Describes the label before the review.
pub(super) fn was(rows: &[LabelRow]) -> String {
    match main_of(rows) {
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
