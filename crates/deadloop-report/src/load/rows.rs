//! Cells by column name; the columns are looked up once, not once a cell.

use deadloop_score::{Cells, Table};
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

/// A table whose columns are at hand. CSV files are read as text, so numbers are parsed where a column is text.
pub(super) struct Rows<'t> {
    columns: BTreeMap<&'t str, &'t Cells>,
    rows: usize,
}

impl<'t> Rows<'t> {
    /// The columns of a table.
    pub(super) fn new(table: &'t Table) -> Self {
        let columns = table
            .names()
            .filter_map(|name| Some((name, table.column(name)?)))
            .collect();
        Self {
            columns,
            rows: table.rows(),
        }
    }

    /// How many rows there are.
    pub(super) fn count_rows(&self) -> usize {
        self.rows
    }

    /// A text; `None` where it is empty.
    pub(super) fn text(&self, name: &str, row: usize) -> Option<&'t str> {
        match self.columns.get(name)? {
            Cells::Text(cells) => cells.get(row)?.as_deref(),
            _ => None,
        }
    }

    /// A number; `never` is infinite.
    pub(super) fn number(&self, name: &str, row: usize) -> Option<f64> {
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
    pub(super) fn whole(&self, name: &str, row: usize) -> Option<u64> {
        match self.columns.get(name)? {
            Cells::Int(cells) => u64::try_from((*cells.get(row)?)?).ok(),
            _ => self
                .number(name, row)
                .filter(|value| *value >= 0.0 && value.is_finite())
                .map(|value| value as u64),
        }
    }

    /// Returns a count; 0 where the cell is empty.
    pub(super) fn count(&self, name: &str, row: usize) -> u64 {
        self.whole(name, row).unwrap_or(0)
    }
}

/// Texts that many rows have, each once.
#[derive(Default)]
pub(super) struct Texts(HashSet<Arc<str>>);

impl Texts {
    /// The text as it was first met.
    pub(super) fn once(&mut self, text: &str) -> Arc<str> {
        if let Some(known) = self.0.get(text) {
            return Arc::clone(known);
        }
        let text: Arc<str> = text.into();
        self.0.insert(Arc::clone(&text));
        text
    }
}

/// Names by number, quickly where they come in the same order again and again: the rows of each setting do.
#[derive(Default)]
pub(super) struct Turns {
    names: Vec<String>,
    next: usize,
}

impl Turns {
    /// The number of a name, which is new where it was not met before.
    pub(super) fn of(&mut self, name: &str) -> usize {
        let due = self.names.get(self.next).is_some_and(|due| due == name);
        let at = if due { self.next } else { self.find(name) };
        self.next = (at + 1) % self.names.len();
        at
    }

    fn find(&mut self, name: &str) -> usize {
        let known = self.names.iter().position(|known| known == name);
        known.unwrap_or_else(|| {
            self.names.push(name.to_owned());
            self.names.len() - 1
        })
    }

    /// The names, by number.
    pub(super) fn names(&self) -> &[String] {
        &self.names
    }
}
