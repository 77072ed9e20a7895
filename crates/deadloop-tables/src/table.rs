//! [`Table`]: columns of text, whole numbers or numbers, with gaps.

use std::sync::Arc;

use crate::formula::unrunnable;

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// Text.
    Text,
    /// Whole numbers.
    Int,
    /// Numbers; infinite is written `never` in CSV.
    Float,
}

/// One cell; `None` is n/a, written as nothing.
#[derive(Clone, Debug, PartialEq)]
pub enum TableCell {
    /// Text.
    Text(Option<String>),
    /// A whole number.
    Int(Option<i64>),
    /// A number.
    Float(Option<f64>),
}

impl TableCell {
    /// A text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(Some(text.into()))
    }

    /// A text, or nothing.
    pub fn maybe<T: ToString>(text: Option<T>) -> Self {
        Self::Text(text.map(|t| t.to_string()))
    }

    /// A count.
    pub fn count(n: u64) -> Self {
        Self::Int(i64::try_from(n).ok())
    }

    /// A count, or nothing.
    pub fn counted(n: Option<u64>) -> Self {
        Self::Int(n.and_then(|n| i64::try_from(n).ok()))
    }

    /// Nothing, of a type.
    pub fn none(of: Type) -> Self {
        match of {
            Type::Text => Self::Text(None),
            Type::Int => Self::Int(None),
            Type::Float => Self::Float(None),
        }
    }

    /// Returns the cell of a CSV file: numbers as short as they can be and read back exactly.
    pub fn csv(&self) -> String {
        match self {
            Self::Text(text) => text.clone().unwrap_or_default(),
            Self::Int(n) => n.map(|n| n.to_string()).unwrap_or_default(),
            Self::Float(Some(x)) if x.is_infinite() => "never".into(),
            Self::Float(x) => x.map(|x| x.to_string()).unwrap_or_default(),
        }
    }
}

impl TableCell {
    /// Returns the cell of a CSV file for people: no text is a formula to the program that opens
    /// it.
    pub fn for_people(&self) -> String {
        match self {
            Self::Text(Some(text)) => unrunnable(text).into_owned(),
            other => other.csv(),
        }
    }
}

/// The cells of a column.
#[derive(Clone, Debug, PartialEq)]
pub enum Cells {
    /// Text; one that comes again and again is there once.
    Text(Vec<Option<Arc<str>>>),
    /// Whole numbers.
    Int(Vec<Option<i64>>),
    /// Numbers; infinity stands for `never`.
    Float(Vec<Option<f64>>),
}

/// Named columns of one length.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    columns: Vec<(String, Cells)>,
    rows: usize,
}

/// The names and types of a table's columns.
pub type Schema = Vec<(String, Type)>;

/// A schema from names of one type.
pub fn named(names: &[&str], of: Type) -> Schema {
    names.iter().map(|name| ((*name).into(), of)).collect()
}

impl Table {
    /// A table from its columns, all of which have as many cells as there are `rows`.
    pub(crate) fn of(columns: Vec<(String, Cells)>, rows: usize) -> Self {
        Self { columns, rows }
    }

    /// Its columns by name, in order.
    pub fn columns(&self) -> impl Iterator<Item = (&str, &Cells)> {
        let columns = self.columns.iter();
        columns.map(|(name, cells)| (name.as_str(), cells))
    }

    /// Gives its columns away.
    pub(crate) fn into_columns(self) -> Vec<(String, Cells)> {
        self.columns
    }

    /// A table without a row.
    pub fn new(schema: &Schema) -> Self {
        let empty = |of: &Type| match of {
            Type::Text => Cells::Text(Vec::new()),
            Type::Int => Cells::Int(Vec::new()),
            Type::Float => Cells::Float(Vec::new()),
        };
        let columns = schema
            .iter()
            .map(|(name, of)| (name.clone(), empty(of)))
            .collect();
        Self { columns, rows: 0 }
    }

    /// Adds a column; all have as many cells.
    pub fn widen(&mut self, name: &str, of: Type, cells: Vec<TableCell>) {
        let mut column = Self::new(&vec![(name.to_owned(), of)]);
        cells.into_iter().for_each(|cell| column.push(vec![cell]));
        self.rows = column.rows;
        self.columns.extend(column.columns);
    }

    /// Adds a row. A cell of another type than its column becomes n/a; a whole number fits into a
    /// column of numbers.
    pub fn push(&mut self, row: Vec<TableCell>) {
        for ((_, cells), cell) in self.columns.iter_mut().zip(row) {
            match (cells, cell) {
                (Cells::Text(column), TableCell::Text(cell)) => column.push(cell.map(Arc::from)),
                (Cells::Int(column), TableCell::Int(cell)) => column.push(cell),
                (Cells::Float(column), TableCell::Float(cell)) => column.push(cell),
                (Cells::Float(column), TableCell::Int(cell)) => column.push(cell.map(|n| n as f64)),
                (Cells::Text(column), _) => column.push(None),
                (Cells::Int(column), _) => column.push(None),
                (Cells::Float(column), _) => column.push(None),
            }
        }
        self.rows += 1;
    }

    /// Adds rows of other tables, whose columns stand side by side in this one: of each table the rows `picks`, in
    /// that order, all of them equally many.
    pub fn extend_picked(&mut self, parts: &[(&Table, &[u32])]) {
        let columns = parts
            .iter()
            .flat_map(|(table, picks)| table.columns.iter().map(move |(_, cells)| (cells, *picks)));
        for ((_, to), (from, picks)) in self.columns.iter_mut().zip(columns) {
            match (to, from) {
                (Cells::Text(to), Cells::Text(from)) => pick(to, from, picks),
                (Cells::Int(to), Cells::Int(from)) => pick(to, from, picks),
                (Cells::Float(to), Cells::Float(from)) => pick(to, from, picks),
                // The schema of this table is those of its parts.
                (Cells::Text(to), _) => to.resize(to.len() + picks.len(), None),
                (Cells::Int(to), _) => to.resize(to.len() + picks.len(), None),
                (Cells::Float(to), _) => to.resize(to.len() + picks.len(), None),
            }
        }
        self.rows += parts.first().map_or(0, |(_, picks)| picks.len());
    }

    /// How many rows it has.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The names of its columns, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().map(|(name, _)| name.as_str())
    }

    /// A column.
    pub fn column(&self, name: &str) -> Option<&Cells> {
        self.columns
            .iter()
            .find(|(n, _)| n == name)
            .map(|(_, cells)| cells)
    }

    /// A cell of a column of text; `None` where it is n/a, or there is no such column.
    pub fn text(&self, name: &str, row: usize) -> Option<&str> {
        match self.column(name)? {
            Cells::Text(cells) => cells.get(row)?.as_deref(),
            _ => None,
        }
    }

    /// A cell of a column of whole numbers.
    pub fn int(&self, name: &str, row: usize) -> Option<i64> {
        match self.column(name)? {
            Cells::Int(cells) => *cells.get(row)?,
            _ => None,
        }
    }

    /// A cell of a column of numbers, whole or not; infinity stands for `never`.
    pub fn number(&self, name: &str, row: usize) -> Option<f64> {
        match self.column(name)? {
            Cells::Float(cells) => *cells.get(row)?,
            Cells::Int(cells) => cells.get(row)?.map(|n| n as f64),
            Cells::Text(_) => None,
        }
    }

    /// A cell as it would stand in a CSV file.
    pub fn shown(&self, name: &str, row: usize) -> Option<String> {
        self.column(name)?.cell(row).map(|cell| cell.csv())
    }
}

impl Cells {
    /// Whether two rows have the same cell: two texts that are read from the same place, or equal ones.
    pub fn same(&self, row: usize, other: usize) -> bool {
        match self {
            Self::Text(cells) => cells.get(row) == cells.get(other),
            Self::Int(cells) => cells.get(row) == cells.get(other),
            Self::Float(cells) => {
                let bits = |row| {
                    cells
                        .get(row)
                        .map(|cell: &Option<f64>| cell.map(f64::to_bits))
                };
                bits(row) == bits(other)
            }
        }
    }

    /// The cell of a row.
    pub fn cell(&self, row: usize) -> Option<TableCell> {
        Some(match self {
            Self::Text(cells) => TableCell::maybe(cells.get(row)?.as_deref()),
            Self::Int(cells) => TableCell::Int(*cells.get(row)?),
            Self::Float(cells) => TableCell::Float(*cells.get(row)?),
        })
    }
}

fn pick<T: Clone>(to: &mut Vec<Option<T>>, from: &[Option<T>], picks: &[u32]) {
    to.extend(
        picks
            .iter()
            .map(|row| from.get(*row as usize).cloned().flatten()),
    );
}
