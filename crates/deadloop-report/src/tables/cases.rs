//! Single transcripts: unlabelled alarms, errors.

use super::{PageCell, PageColumn, PageRow, PageTable, number, words};
use crate::data::{OutcomeRow, ReportData, Verdict};
use crate::numbers::count;
use std::sync::Arc;

/// The maximum number of rows of a table.
const ROWS: usize = 200;
/// The cells of an outcome.
type CellsOf<'d> = &'d dyn Fn(&OutcomeRow) -> Vec<PageCell>;

/// Lists the outcomes that are `kept`: transcript, model, setting, then more cells. It notes how many were left out.
fn case_table(
    data: &ReportData,
    title: &str,
    text: &str,
    kept: impl Fn(&&OutcomeRow) -> bool,
    more: (Vec<PageColumn>, CellsOf<'_>),
) -> Option<PageTable> {
    let list: Vec<&OutcomeRow> = data.outcomes.iter().filter(kept).collect();
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
    if list.len() > ROWS {
        let all = count(list.len() as u64);
        note += &format!(" The first {ROWS} of {all}; outcomes.parquet has them all.");
    }
    let columns = ["transcript", "model", "setting"].map(words).into_iter();
    let rows = list.iter().take(ROWS).map(row).collect();
    PageTable::new(title, note, columns.chain(more.0).collect(), rows)
}

/// Lists unlabelled transcripts with an alarm, under every setting.
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
            optional(&row.channel),
            PageCell::position(row.alarm_at),
            PageCell::position(row.length),
            optional(&row.alarm_kind),
            optional(&row.detector),
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

/// Lists transcripts on which a detector failed, under every setting.
pub(super) fn errors(data: &ReportData) -> Option<PageTable> {
    case_table(
        data,
        "Errors",
        "The detector failed on these; they are not scored, and a gate would call the run not comparable.",
        |row| row.verdict == Verdict::Error,
        (vec![words("error")], &|row| vec![optional(&row.error)]),
    )
}

fn optional(text: &Option<Arc<str>>) -> PageCell {
    PageCell::text(text.as_deref().unwrap_or("–"))
}
