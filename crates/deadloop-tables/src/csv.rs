//! Data frames as CSV files, without cells that a spreadsheet would run as formulas.
//!
//! Infinite numbers are written as `never`, and missing values as empty cells.

use std::io::{Read, Write};

use polars::prelude::{AnyValue, Column, DataFrame};

use crate::formula::{escape_formula, remove_escape};
use crate::schema::{CellType, ColumnDoc, Float, Int, Text, Type};

/// Writer of data frames to a CSV file.
pub struct CsvWriter<W: Write> {
    file: csv::Writer<W>,
    /// Whether the header was written.
    is_header_written: bool,
}

impl<W: Write> CsvWriter<W> {
    /// Returns a writer to `to`.
    pub fn new(to: W) -> Self {
        Self {
            file: csv::Writer::from_writer(to),
            is_header_written: false,
        }
    }

    /// Writes the rows of a frame, with a header before the first frame.
    ///
    /// # Errors
    ///
    /// The rows cannot be written.
    pub fn write(&mut self, frame: &DataFrame) -> Result<(), csv::Error> {
        if !std::mem::replace(&mut self.is_header_written, true) {
            self.file.write_record(
                frame
                    .get_column_names()
                    .into_iter()
                    .map(|name| name.as_str()),
            )?;
        }
        for row in 0..frame.height() {
            let cells = frame.columns().iter();
            self.file
                .write_record(cells.map(|column| format_cell(column, row)))?;
        }
        Ok(())
    }

    /// Flushes the file and returns the inner writer.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub fn finish(self) -> Result<W, csv::Error> {
        self.file.into_inner().map_err(|e| e.into_error().into())
    }
}

/// Formats a cell for a CSV file.
fn format_cell(column: &Column, row: usize) -> String {
    let value = column.get(row).unwrap_or(AnyValue::Null);
    match value.get_str() {
        Some(text) => escape_formula(text).into_owned(),
        None => cell_text(&value).unwrap_or_default(),
    }
}

/// Formats a cell as text. `None` if it is empty.
///
/// Numbers are written with the fewest digits that read back exactly.
pub fn cell_text(value: &AnyValue<'_>) -> Option<String> {
    match value {
        AnyValue::Int64(n) => Some(n.to_string()),
        AnyValue::Float64(x) => Some(number(*x)),
        value => value.get_str().map(str::to_owned),
    }
}

/// Formats a number for a cell of a table. Infinite numbers are written as `never`.
pub fn number(x: f64) -> String {
    if x.is_infinite() {
        "never".into()
    } else {
        x.to_string()
    }
}

/// Reads a CSV file. `types` has the types of some columns, and all others are text.
///
/// # Errors
///
/// The file cannot be read, or a row has more or fewer cells than the header.
pub fn read_csv(from: impl Read, types: &[ColumnDoc]) -> Result<DataFrame, csv::Error> {
    let mut reader = csv::Reader::from_reader(from);
    let header = reader.headers()?.clone();
    let rows = reader.records().collect::<Result<Vec<_>, _>>()?;
    let column = |(at, name): (usize, &str)| {
        let of = types.iter().find(|doc| doc.name == name);
        let cells = rows
            .iter()
            .map(|row| row.get(at).filter(|cell| !cell.is_empty()));
        read_column(name, of.map_or(Type::Text, |doc| doc.cell_type), cells)
    };
    let columns = header.iter().enumerate().map(column).collect();
    DataFrame::new(rows.len(), columns).map_err(|e| std::io::Error::other(e.to_string()).into())
}

fn read_column<'a>(name: &str, kind: Type, cells: impl Iterator<Item = Option<&'a str>>) -> Column {
    let float = |cell: &str| match cell {
        "never" => Some(f64::INFINITY),
        text => text.parse::<f64>().ok(),
    };
    match kind {
        Type::Text => Text::column(
            name,
            &mut cells.map(|cell| Text::from(cell.map(remove_escape))),
        ),
        Type::Int => Int::column(
            name,
            &mut cells.map(|cell| Int::from(cell.and_then(|n| n.parse::<i64>().ok()))),
        ),
        Type::Float => Float::column(
            name,
            &mut cells.map(|cell| Float::from(cell.and_then(float))),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{floats, texts};

    #[test]
    fn a_table_is_written_for_people_and_read_as_it_was() {
        let schema = crate::schema![(Option<&'static str>, Option<i64>, Option<f64>);
            ("name", Text, "A name.", |row| row.0),
            ("n", Int, "A count.", |row| row.1),
            ("x", Float, "A number.", |row| row.2),
        ];
        let rows = [
            (Some("=1"), Some(-2), Some(f64::INFINITY)),
            (None, None, Some(0.1)),
            (Some("a,b"), Some(3), None),
        ];
        let mut file = CsvWriter::new(Vec::new());
        let frame = schema.frame(&rows);
        file.write(&frame).unwrap();
        let bytes = file.finish().unwrap();
        assert_eq!(
            String::from_utf8_lossy(&bytes),
            "name,n,x\n'=1,-2,never\n,,0.1\n\"a,b\",3,\n"
        );
        assert!(
            read_csv(&bytes[..], &schema.docs())
                .unwrap()
                .equals_missing(&frame)
        );
        let untyped = read_csv(&bytes[..], &[]).unwrap();
        assert_eq!(texts(&untyped, "x").next(), Some(Some("never")));
        assert_eq!(floats(&untyped, "x").next(), None);
        assert!(read_csv(&b"a,b\n1\n"[..], &[]).is_err());
    }
}
