//! What changed against a base: metrics, gates, and every transcript by name.

use super::{Cell, Row, Table, number, words};
use crate::data::{ALL_MODELS, ComparedResults, Difference, ReportData};
use crate::numbers::{UNDEFINED, count, decimal, signed_writer, writer};
use crate::visible::visible;
use deadloop_score::replay::detect::Unit;
use deadloop_score::words::wrong_and_transient;
use deadloop_score::{Bearing, Change, Direction, Flip, Gate, HealthyAlarms, Measure, Said};

/// How many rows of single models, and how many flips, are shown before the rest is folded away.
const SHOWN: usize = 40;
/// How many reasons are written out.
const REASONS: usize = 3;

/// None without a second result.
pub(super) fn tables(data: &ReportData) -> Vec<Table> {
    let Some(comparison) = &data.comparison else {
        return Vec::new();
    };
    [
        metrics(comparison, data.run.unit),
        gates(comparison),
        flips(comparison),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// What came out, in a sentence.
pub(crate) fn told(comparison: &ComparedResults) -> String {
    let flips = |direction| {
        let of = |flip: &&Flip| flip.change == Change::Flip && flip.direction == direction;
        count(comparison.flips.iter().filter(of).count() as u64)
    };
    format!(
        "{} against {}: {}. Verdicts changed on {} transcripts for the worse, on {} for the better, on {} neither way.",
        comparison.new.name,
        comparison.base.name,
        comparison.verdict,
        flips(Direction::Worse),
        flips(Direction::Better),
        flips(Direction::Neutral),
    )
}

fn gates(comparison: &ComparedResults) -> Option<Table> {
    let row = |gate: &Gate| Row {
        cells: vec![
            Cell::text(gate.gate.name()),
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
    let mut reasons = comparison.why[..comparison.why.len().min(REASONS)].join("; ");
    if comparison.why.len() > REASONS {
        let more = count((comparison.why.len() - REASONS) as u64);
        reasons = format!("{reasons}; and {more} more, which stand in the table above");
    }
    Table::new("Gates", reasons, columns, rows)
}

/// All models together, then what is significant of single models, then what might be; the rest is counted.
fn metrics(comparison: &ComparedResults, unit: Unit) -> Option<Table> {
    let is_sure =
        |row: &Difference| matches!(row.verdict, Some(Bearing::Improved | Bearing::Regressed));
    let rank = |row: &&Difference| match row.verdict {
        _ if row.model == ALL_MODELS => 0,
        Some(Bearing::Regressed) => 1,
        Some(Bearing::Improved) => 2,
        _ => 3,
    };
    let tells = |row: &&Difference| {
        let moved = row.difference.is_some_and(|difference| difference != 0.0);
        row.model == ALL_MODELS || is_sure(row) || moved
    };
    let mut rows: Vec<&Difference> = comparison.rows.iter().filter(tells).collect();
    rows.sort_by_key(rank);
    let sure = rows.iter().take_while(|row| rank(row) < 3).count();
    let of = |side: &HealthyAlarms| wrong_and_transient(side.wrong_alarms, side.transient_stops);
    let healthy = comparison
        .healthy
        .as_ref()
        .map_or_else(String::new, |[base, new]| {
            format!(
                " {}: {}; {}: {}.",
                comparison.base.name,
                of(base),
                comparison.new.name,
                of(new)
            )
        });
    let note = format!(
        "{}{healthy} All models together, then single models with a significant difference, then others; {} rows without a \
         difference are left out.",
        told(comparison),
        count((comparison.rows.len() - rows.len()) as u64),
    );
    let columns = vec![
        words("model, metric"),
        number("base"),
        number("new"),
        number("difference"),
        words("verdict"),
    ];
    let rows = rows.into_iter().map(|row| difference(row, unit)).collect();
    let table = Table::new("What changed", note, columns, rows)?;
    Some(table.cut(sure.clamp(5, 5 + SHOWN), "comparison.json"))
}

fn difference(row: &Difference, unit: Unit) -> Row {
    let measure = Measure::named(&row.metric);
    let write = measure.map_or(decimal as fn(Option<f64>) -> String, writer);
    let signed = measure.map_or(decimal as fn(Option<f64>) -> String, |one| {
        signed_writer(one)
    });
    let ends = match (row.lo, row.hi) {
        (Some(_), Some(_)) => {
            let low = signed(row.lo).replace(" points", "");
            format!("{low} to {}", signed(row.hi))
        }
        _ => String::new(),
    };
    let metric = measure.map_or(row.metric.as_str().into(), |one| one.title_in(unit));
    let change = Cell {
        text: signed(row.difference),
        ..Cell::figure(row.difference, write)
    };
    Row {
        cells: vec![
            Cell::model(&row.model).with(&*metric),
            Cell::figure(row.base, write),
            Cell::figure(row.new, write),
            change.with(ends),
            Cell::text(row.verdict.map_or(UNDEFINED, Bearing::name)),
        ],
        role: match row.verdict {
            Some(Bearing::Improved) => "better",
            Some(Bearing::Regressed) => "worse",
            _ => "",
        },
    }
}

fn flips(comparison: &ComparedResults) -> Option<Table> {
    let became = |said: &Said| match said.alarm_at {
        Some(at) => format!("{} at {}", said.verdict.name(), count(at)),
        None => said.verdict.name().to_owned(),
    };
    let row = |flip: &Flip| Row {
        cells: vec![
            Cell::transcript(&flip.transcript),
            Cell::model(&flip.model),
            Cell::text(flip.direction.name()),
            Cell::position(flip.span.onset),
            Cell::text(became(&flip.base)),
            Cell::text(became(&flip.new)),
        ],
        role: match flip.direction {
            Direction::Neutral => "",
            told => told.name(),
        },
    };
    let columns = vec![
        words("transcript"),
        words("model"),
        words("new is"),
        number("onset"),
        words("base"),
        words("new"),
    ];
    let flips = comparison.flips.iter();
    let mut flipped: Vec<&Flip> = flips.filter(|flip| flip.change == Change::Flip).collect();
    flipped.sort_by_key(|flip| flip.direction != Direction::Worse);
    let explain = flipped.iter().find_map(|flip| flip.explain.as_deref());
    let explain = explain.map_or_else(String::new, |command| {
        format!(" What explains one stands in flips.csv, as this: {command}")
    });
    let note = format!(
        "Every transcript that gets another verdict, with both alarms; those for the worse first.{}",
        visible(&explain)
    );
    let rows = flipped.into_iter().map(row).collect();
    let table = Table::new("Transcripts that flip", note, columns, rows)?;
    Some(table.cut(SHOWN, "flips.csv"))
}
