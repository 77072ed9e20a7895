//! Cells by column name; the columns are looked up once, not once a cell.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::table::{Cells, Table};

/// A table whose columns are at hand. CSV files are read as text, so numbers are parsed where a column is text.
pub struct Rows<'t> {
    columns: BTreeMap<&'t str, &'t Cells>,
    rows: usize,
}

impl<'t> Rows<'t> {
    /// The columns of a table.
    pub fn new(table: &'t Table) -> Self {
        Self {
            columns: table.columns().collect(),
            rows: table.rows(),
        }
    }

    /// How many rows there are.
    pub fn count_rows(&self) -> usize {
        self.rows
    }

    /// A text; `None` where it is empty.
    pub fn text(&self, name: &str, row: usize) -> Option<&'t str> {
        self.cell_of_text(name, row).map(|text| &**text)
    }

    /// A text that is shared with the table.
    pub fn shared(&self, name: &str, row: usize) -> Option<Arc<str>> {
        self.cell_of_text(name, row).cloned()
    }

    fn cell_of_text(&self, name: &str, row: usize) -> Option<&'t Arc<str>> {
        match self.columns.get(name)? {
            Cells::Text(cells) => cells.get(row)?.as_ref(),
            _ => None,
        }
    }

    /// A number; `never` is infinite.
    pub fn number(&self, name: &str, row: usize) -> Option<f64> {
        match self.columns.get(name)? {
            Cells::Float(cells) => *cells.get(row)?,
            Cells::Int(cells) => cells.get(row)?.map(|value| value as f64),
            Cells::Text(cells) => match cells.get(row)?.as_deref()? {
                "never" => Some(f64::INFINITY),
                text => text.parse().ok(),
            },
        }
    }

    /// A whole number that is not negative.
    pub fn whole(&self, name: &str, row: usize) -> Option<u64> {
        match self.columns.get(name)? {
            Cells::Int(cells) => u64::try_from((*cells.get(row)?)?).ok(),
            Cells::Text(cells) => {
                let text = cells.get(row)?.as_deref()?;
                text.parse().ok().or_else(|| self.rounded(name, row))
            }
            Cells::Float(_) => self.rounded(name, row),
        }
    }

    fn rounded(&self, name: &str, row: usize) -> Option<u64> {
        self.number(name, row)
            .filter(|value| *value >= 0.0 && value.is_finite())
            .map(|value| value as u64)
    }

    /// Returns a count; 0 where the cell is empty.
    pub fn count(&self, name: &str, row: usize) -> u64 {
        self.whole(name, row).unwrap_or(0)
    }
}
