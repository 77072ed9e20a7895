//! Tables as CSV: `never` for what is infinite, nothing for what is n/a, and no text that a spreadsheet runs.

use std::io::{Read, Write};

use crate::formula::as_it_was;
use crate::table::{Schema, Table, TableCell, Type};

/// A CSV file being written.
pub struct CsvTable<W: Write> {
    file: csv::Writer<W>,
    /// Whether texts stand as they are, also those that a spreadsheet would run.
    exact: bool,
}

impl<W: Write> CsvTable<W> {
    /// Writes the header.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn new(to: W, schema: &Schema) -> Result<Self, csv::Error> {
        Self::begin(to, schema, false)
    }

    /// The same for programs that are no spreadsheet: every text stands as it is, so that an id is that of a transcript.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn exact(to: W, schema: &Schema) -> Result<Self, csv::Error> {
        Self::begin(to, schema, true)
    }

    fn begin(to: W, schema: &Schema, exact: bool) -> Result<Self, csv::Error> {
        let mut file = csv::Writer::from_writer(to);
        file.write_record(schema.iter().map(|(name, _)| name))?;
        Ok(Self { file, exact })
    }

    /// Writes a row.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn row(&mut self, cells: &[TableCell]) -> Result<(), csv::Error> {
        let written = if self.exact {
            TableCell::csv
        } else {
            TableCell::for_people
        };
        self.file.write_record(cells.iter().map(written))
    }

    /// Writes every row of a table.
    ///
    /// # Errors
    /// They cannot be written.
    pub fn rows(&mut self, table: &Table) -> Result<(), csv::Error> {
        for row in 0..table.rows() {
            let cells = table.columns().map(|(_, cells)| cells.cell(row));
            self.row(
                &cells
                    .map(|cell| cell.unwrap_or(TableCell::Text(None)))
                    .collect::<Vec<_>>(),
            )?;
        }
        Ok(())
    }

    /// Returns what was written to, when everything is in it.
    ///
    /// # Errors
    /// The rest cannot be written.
    pub fn finish(self) -> Result<W, csv::Error> {
        self.file.into_inner().map_err(|e| e.into_error().into())
    }
}

/// Reads a CSV file as columns of text.
///
/// # Errors
/// It cannot be read, or a row has more or fewer cells than the header.
pub fn read_csv(from: impl Read) -> Result<Table, csv::Error> {
    let mut reader = csv::Reader::from_reader(from);
    let header = reader.headers()?.clone();
    let schema = header
        .iter()
        .map(|name| (name.to_owned(), Type::Text))
        .collect();
    let mut table = Table::new(&schema);
    for row in reader.records() {
        let cell =
            |text: &str| TableCell::Text((!text.is_empty()).then(|| as_it_was(text).to_owned()));
        table.push(row?.iter().map(cell).collect());
    }
    Ok(table)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::named;

    #[test]
    fn a_text_for_programs_stands_as_it_is() {
        let schema = [named(&["id"], Type::Text), named(&["x"], Type::Float)].concat();
        let mut file = CsvTable::exact(Vec::new(), &schema).unwrap();
        file.row(&[TableCell::text("=1+2"), TableCell::Float(Some(8.0))])
            .unwrap();
        assert_eq!(file.finish().unwrap(), b"id,x\n=1+2,8\n");
    }

    #[test]
    fn a_table_is_written_for_people_and_read_as_text() {
        let schema = [
            named(&["name"], Type::Text),
            named(&["n"], Type::Int),
            named(&["x"], Type::Float),
        ]
        .concat();
        let mut table = Table::new(&schema);
        let rows = [
            (Some("=1"), Some(-2), Some(f64::INFINITY)),
            (None, None, Some(0.1)),
        ];
        for (text, n, x) in rows {
            table.push(vec![
                TableCell::maybe(text),
                TableCell::Int(n),
                TableCell::Float(x),
            ]);
        }
        let mut file = CsvTable::new(Vec::new(), &schema).unwrap();
        file.rows(&table).unwrap();
        file.row(&[
            TableCell::text("a,b"),
            TableCell::count(3),
            TableCell::Float(None),
        ])
        .unwrap();
        let bytes = file.finish().unwrap();
        assert_eq!(
            String::from_utf8_lossy(&bytes),
            "name,n,x\n'=1,-2,never\n,,0.1\n\"a,b\",3,\n"
        );
        let read = read_csv(&bytes[..]).unwrap();
        assert_eq!((read.rows(), read.text("name", 0)), (3, Some("=1")));
        assert_eq!(
            (read.text("n", 1), read.text("x", 0)),
            (None, Some("never"))
        );
        assert!(read_csv(&b"a,b\n1\n"[..]).is_err());
    }
}
