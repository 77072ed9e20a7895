//! The tables of single transcripts: unlabelled alarms and errors.

use super::{PageCell, PageColumn, PageRow, PageTable, number, words};
use crate::data::{OutcomeRow, ReportData, Verdict};
use crate::numbers::count;
use std::sync::Arc;

/// The maximum number of rows of a table.
const MAX_ROWS: usize = 200;
/// A function that returns the cells of an outcome.
type CellsOf<'d> = &'d dyn Fn(&OutcomeRow) -> Vec<PageCell>;

/// Builds a table of the outcomes for which `is_listed` is true: transcript, model, setting, then more cells.
///
/// Rows beyond the maximum are left out and counted in the note.
fn case_table(
    data: &ReportData,
    title: &str,
    text: &str,
    is_listed: impl Fn(&&OutcomeRow) -> bool,
    more: (Vec<PageColumn>, CellsOf<'_>),
) -> Option<PageTable> {
    let list: Vec<&OutcomeRow> = data.outcomes.iter().filter(is_listed).collect();
    let row = |row: &&OutcomeRow| PageRow {
        cells: [
            PageCell::transcript(&row.transcript),
            PageCell::model(&row.model),
            PageCell::text(data.describe(row.setting)),
        ]
        .into_iter()
        .chain(more.1(row))
        .collect(),
        role: "",
    };
    let mut note = text.to_owned();
    if list.len() > MAX_ROWS {
        let all = count(list.len() as u64);
        note += &format!(" The first {MAX_ROWS} of {all}; outcomes.parquet has them all.");
    }
    let columns = ["transcript", "model", "setting"].map(words).into_iter();
    let rows = list.iter().take(MAX_ROWS).map(row).collect();
    PageTable::new(title, note, columns.chain(more.0).collect(), rows)
}

/// Builds the table of unlabelled transcripts with an alarm, under every setting.
pub(super) fn alarm_table(data: &ReportData) -> Option<PageTable> {
    let columns = vec![
        words("channel"),
        number("alarm at"),
        number("length"),
        words("claims"),
        words("detector"),
    ];
    let cells = |row: &OutcomeRow| {
        vec![
            optional_cell(&row.channel),
            PageCell::position(row.alarm_at),
            PageCell::position(row.length),
            optional_cell(&row.alarm_kind),
            optional_cell(&row.detector),
        ]
    };
    case_table(
        data,
        "What would have fired",
        "Transcripts without a label that would have been cut, and where. Whether rightly, only a label can tell.",
        |row| row.verdict == Verdict::Unlabelled && row.alarm_at.is_some(),
        (columns, &cells),
    )
}

/// Builds the table of transcripts on which a detector failed, under every setting.
pub(super) fn error_table(data: &ReportData) -> Option<PageTable> {
    case_table(
        data,
        "Errors",
        "The detector failed on these; they are not scored, and a gate would call the run not comparable.",
        |row| row.verdict == Verdict::Error,
        (vec![words("error")], &|row| vec![optional_cell(&row.error)]),
    )
}

fn optional_cell(text: &Option<Arc<str>>) -> PageCell {
    PageCell::text(text.as_deref().unwrap_or("–"))
}
