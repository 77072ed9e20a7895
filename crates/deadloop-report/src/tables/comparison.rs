//! What changed against a base: gates, metrics, and every transcript by name.

use super::{Cell, Row, Table, number, words};
use crate::data::{Became, Comparison, Difference, Flip, Gate, ReportData};
use crate::numbers::{UNDEFINED, count, decimal, percent};

/// How many transcripts a table holds.
const ROWS: usize = 300;

/// None without a second result.
pub(super) fn tables(data: &ReportData) -> Vec<Table> {
    let Some(comparison) = &data.comparison else {
        return Vec::new();
    };
    [gates(comparison), metrics(comparison), flips(comparison)]
        .into_iter()
        .flatten()
        .collect()
}

fn gates(comparison: &Comparison) -> Option<Table> {
    let row = |gate: &Gate| Row {
        cells: vec![
            Cell::text(gate.gate.as_str()),
            Cell::text(match gate.passed {
                Some(true) => "passed",
                Some(false) => "failed",
                None => "could not be evaluated",
            }),
            Cell::text(gate.why.as_str()),
        ],
        role: "",
    };
    let columns = vec![words("gate"), words("result"), words("why")];
    let rows = comparison.gates.iter().map(row).collect();
    Table::new("Gates", comparison.why.join(" "), columns, rows)
}

fn metrics(comparison: &Comparison) -> Option<Table> {
    let row = |row: &Difference| {
        let share = matches!(row.metric.as_str(), "recall" | "fpr" | "saved");
        let write = if share { percent } else { decimal };
        let ends = match (row.lo, row.hi) {
            (Some(_), Some(_)) => format!("{} to {}", write(row.lo), write(row.hi)),
            _ => String::new(),
        };
        Row {
            cells: vec![
                Cell::model(&row.model),
                Cell::text(row.metric.as_str()),
                Cell::figure(row.base, write),
                Cell::figure(row.new, write),
                Cell::figure(row.difference, write).with(ends),
                Cell::text(row.verdict.as_deref().unwrap_or(UNDEFINED)),
            ],
            role: "",
        }
    };
    let columns = vec![
        words("model"),
        words("metric"),
        number("base"),
        number("new"),
        number("difference"),
        words("verdict"),
    ];
    let note = format!(
        "{} against {}: {}.",
        comparison.new.name, comparison.base.name, comparison.verdict
    );
    Table::new(
        "What changed",
        note,
        columns,
        comparison.rows.iter().map(row).collect(),
    )
}

fn flips(comparison: &Comparison) -> Option<Table> {
    let became = |became: &Became| match became.alarm_at {
        Some(at) => format!("{} at {}", became.verdict, count(at)),
        None => became.verdict.clone(),
    };
    let row = |flip: &Flip| Row {
        cells: vec![
            Cell::text(flip.transcript.as_str()),
            Cell::model(&flip.model),
            Cell::text(flip.direction.as_str()),
            Cell::position(flip.onset),
            Cell::text(became(&flip.base)),
            Cell::text(became(&flip.new)),
            Cell::text(flip.explain.as_deref().unwrap_or("–")),
        ],
        role: "",
    };
    let columns = vec![
        words("transcript"),
        words("model"),
        words("direction"),
        number("onset"),
        words("base"),
        words("new"),
        words("explain it"),
    ];
    let flipped: Vec<&Flip> = comparison
        .flips
        .iter()
        .filter(|flip| flip.change == "flip")
        .collect();
    let mut note = "Every transcript that gets another verdict, with both alarms.".to_owned();
    if flipped.len() > ROWS {
        note = format!(
            "{note} The first {ROWS} of {}; flips.csv has them all.",
            count(flipped.len() as u64)
        );
    }
    Table::new(
        "Transcripts that flip",
        note,
        columns,
        flipped.into_iter().take(ROWS).map(row).collect(),
    )
}
