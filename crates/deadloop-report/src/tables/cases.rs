//! Single transcripts: unlabelled alarms, errors.

use super::{Cell, Row, Table, number, words};
use crate::data::{OutcomeRow, ReportData, Verdict};
use crate::numbers::count;
use std::sync::Arc;

/// The maximum number of rows of a table.
const ROWS: usize = 200;
/// Adds the number of rows that were left out.
fn note(text: String, all: usize, shown: usize) -> String {
    if all <= shown {
        text
    } else {
        format!(
            "{text} The first {shown} of {}; outcomes.parquet has them all.",
            count(all as u64)
        )
    }
}

/// Lists unlabelled transcripts with an alarm, under every setting.
pub(super) fn fired(data: &ReportData) -> Option<Table> {
    let list: Vec<_> = data
        .outcomes
        .iter()
        .filter(|row| row.verdict == Verdict::Unlabelled && row.alarm_at.is_some())
        .collect();
    let columns = vec![
        words("transcript"),
        words("model"),
        words("setting"),
        words("channel"),
        number("alarm at"),
        number("length"),
        words("claims"),
        words("detector"),
    ];
    let row = |row: &&OutcomeRow| Row {
        cells: vec![
            Cell::transcript(&row.transcript),
            Cell::model(&row.model),
            Cell::text(data.describe(row.setting)),
            optional(&row.channel),
            Cell::position(row.alarm_at),
            Cell::position(row.length),
            optional(&row.alarm_kind),
            optional(&row.detector),
        ],
        role: "",
    };
    let text = "Transcripts without a label that would have been cut, and where. Whether rightly, only a label can tell.".to_owned();
    Table::new(
        "What would have fired",
        note(text, list.len(), ROWS),
        columns,
        list.iter().take(ROWS).map(row).collect(),
    )
}

/// Lists transcripts on which a detector failed, under every setting.
pub(super) fn errors(data: &ReportData) -> Option<Table> {
    let list: Vec<&OutcomeRow> = data
        .outcomes
        .iter()
        .filter(|row| row.verdict == Verdict::Error)
        .collect();
    let row = |row: &&OutcomeRow| Row {
        cells: vec![
            Cell::transcript(&row.transcript),
            Cell::model(&row.model),
            Cell::text(data.describe(row.setting)),
            optional(&row.error),
        ],
        role: "",
    };
    let columns = vec![
        words("transcript"),
        words("model"),
        words("setting"),
        words("error"),
    ];
    let text = "The detector failed on these; they are not scored, and a gate would call the run not comparable.".to_owned();
    Table::new(
        "Errors",
        note(text, list.len(), ROWS),
        columns,
        list.iter().take(ROWS).map(row).collect(),
    )
}

fn optional(text: &Option<Arc<str>>) -> Cell {
    Cell::text(text.as_deref().unwrap_or("–"))
}
