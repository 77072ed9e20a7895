//! The numbers behind a chart, as a table in a fold below it.

use super::{Cell, Column, Row, Table};
use crate::numbers::{count, group, plain};
use crate::points::{Rows, Told};
use deadloop_score::TableCell as Number;

/// How many rows the page shows; the CSV file has them all.
const ROWS: usize = 40;

/// The first rows of a chart's numbers.
pub(crate) fn behind(columns: &[Told], rows: &Rows) -> Option<Table> {
    let is_number = |at: usize| {
        let first = rows.first().and_then(|row| row.get(at));
        !matches!(first, None | Some(Number::Text(_)))
    };
    let head = columns.iter().enumerate().map(|(at, (name, _))| Column {
        name: name.clone(),
        number: is_number(at),
    });
    let shown = rows.iter().take(ROWS).map(|row| Row {
        cells: row.iter().map(cell).collect(),
        role: "",
    });
    let note = if rows.len() > ROWS {
        format!(
            "The first {ROWS} of {} rows; the file has them all.",
            count(rows.len() as u64)
        )
    } else {
        String::new()
    };
    Table::new("", note, head.collect(), shown.collect())
}

/// Numbers with four digits behind the point at most: the file has the rest.
fn cell(number: &Number) -> Cell {
    match number {
        Number::Text(text) => Cell::text(text.as_deref().unwrap_or("")),
        Number::Int(value) => Cell {
            text: value
                .map(|value| group(&value.to_string()))
                .unwrap_or_default(),
            sort: value.map(|value| value as f64),
            ..Cell::default()
        },
        Number::Float(Some(value)) if value.is_finite() => Cell {
            text: plain(*value, 4),
            sort: Some(*value),
            ..Cell::default()
        },
        Number::Float(_) => Cell::text(number.csv()),
    }
}
