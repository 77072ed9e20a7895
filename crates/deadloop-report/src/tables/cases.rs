//! Single transcripts: wrong alarms, misses, unlabelled alarms, errors.

use super::{Cell, Row, Table, number, words};
use crate::data::{OutcomeRow, ReportData, Verdict};
use crate::numbers::{chars, count};
use crate::series::series;
use deadloop_score::replay::detect::Unit;
use deadloop_score::words::transient_stops;
use std::sync::Arc;

/// The maximum number of rows of a table.
const ROWS: usize = 200;
/// The maximum number of misses listed.
const MISSES: usize = 40;

/// Builds the tables of single transcripts, for the chosen setting or else the first one.
pub(super) fn tables(data: &ReportData) -> Vec<Table> {
    let (list, unit) = (series(data, usize::MAX), data.run.unit);
    let Some(focus) = list.iter().find(|series| series.chosen).or(list.first()) else {
        return Vec::new();
    };
    let rows = focus.rows.as_slice();
    [
        fired(data),
        false_alarms(rows, &focus.name, unit),
        misses(rows, &focus.name, unit),
        errors(data),
    ]
    .into_iter()
    .flatten()
    .collect()
}

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
fn fired(data: &ReportData) -> Option<Table> {
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

/// Lists wrong alarms, those with the most healthy text cut first.
fn false_alarms(rows: &[&OutcomeRow], setting: &str, unit: Unit) -> Option<Table> {
    let mut list: Vec<_> = rows.iter().filter(|row| row.verdict.is_false()).collect();
    list.sort_by(|a, b| {
        b.lost
            .cmp(&a.lost)
            .then_with(|| a.transcript.cmp(&b.transcript))
    });
    let columns = vec![
        words("transcript"),
        words("model"),
        words("verdict"),
        number("alarm at"),
        number("onset"),
        number("lost"),
        words("claims"),
        words("detector"),
    ];
    let row = |row: &&&OutcomeRow| Row {
        cells: vec![
            Cell::transcript(&row.transcript),
            Cell::model(&row.model),
            Cell::text(row.verdict.name()),
            Cell::position(row.alarm_at),
            row.onset.map_or_else(|| Cell::text("–"), Cell::count),
            Cell::position(row.lost),
            optional(&row.alarm_kind),
            optional(&row.detector),
        ],
        role: "",
    };
    let stops = rows
        .iter()
        .filter(|row| row.verdict == Verdict::TransientStop);
    let stops = transient_stops(stops.count() as u64);
    let text = format!(
        "Every alarm of {setting} that cut healthy text: on a clean transcript (false-alarm), before a loop (premature), after one (stale). “lost”: healthy {unit} thrown away. Beside them stand {stops}, which are no wrong alarms."
    );
    Table::new(
        "Wrong alarms",
        note(text, list.len(), ROWS),
        columns,
        list.iter().take(ROWS).map(row).collect(),
    )
}

/// Lists missed loops, longest first.
fn misses(rows: &[&OutcomeRow], setting: &str, unit: Unit) -> Option<Table> {
    let mut list: Vec<(&&OutcomeRow, u64)> = rows
        .iter()
        .filter(|row| row.verdict == Verdict::Miss)
        .map(|row| (row, wasted(row)))
        .collect();
    list.sort_by(|a, b| {
        b.1.cmp(&a.1)
            .then_with(|| a.0.transcript.cmp(&b.0.transcript))
    });
    let columns = vec![
        words("transcript"),
        words("model"),
        words("kind"),
        words("channel"),
        number("onset"),
        number("wasted"),
        number("latency"),
    ];
    let row = |(row, wasted): &(&&OutcomeRow, u64)| Row {
        cells: vec![
            Cell::transcript(&row.transcript),
            Cell::model(&row.model),
            optional(&row.kind),
            optional(&row.channel),
            Cell::position(row.onset),
            Cell::count(*wasted),
            Cell::figure(row.latency.or(Some(f64::INFINITY)), chars),
        ],
        role: "",
    };
    let text = format!(
        "The loops that {setting} missed and that ran on the longest. “wasted”: {unit} generated from the onset on."
    );
    Table::new(
        "Worst misses",
        note(text, list.len(), MISSES),
        columns,
        list.iter().take(MISSES).map(row).collect(),
    )
}

/// Counts the units from the onset to the alarm, or else to the end of the loop.
fn wasted(row: &OutcomeRow) -> u64 {
    let end = row.alarm_at.or(row.end).or(row.length).unwrap_or(0);
    end.saturating_sub(row.onset.unwrap_or(end))
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
