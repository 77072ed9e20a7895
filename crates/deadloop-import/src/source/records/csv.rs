//! CSV: a record for each row, as an object with the header's field names.
//!
//! One row is in memory at a time.

use std::io::{BufRead, Read};

use serde_json::Value;

use super::{MAX_DOCUMENT_BYTES, RecordContent, RecordResult, SourceRecord};
use deadloop_corpus::files::csv_rows::{CsvRow, count_line_breaks, is_open, parse_first_row};
use deadloop_corpus::files::lines::broken;
use deadloop_corpus::{Cost, Place, Problem};
use deadloop_stream::BOM;
use deadloop_stream::wire::{WireFault, WireResult};

/// The minimum number of bytes per read, so that a long row is not scanned line by line.
const MIN_READ_BYTES: usize = 1 << 16;

struct CsvRecords<R> {
    bytes: R,
    place: Place,
    /// Bytes read after the last record.
    data: Vec<u8>,
    /// Number of the first line in `data`.
    line: u64,
    ended: bool,
    /// Names of the columns. `None` before the header.
    header: Option<Vec<String>>,
}

pub(super) fn read_records(
    bytes: impl BufRead,
    place: Place,
) -> impl Iterator<Item = RecordResult> {
    CsvRecords {
        bytes,
        place,
        data: Vec::new(),
        line: 1,
        ended: false,
        header: None,
    }
}

/// Reads the first rows of a file's head as objects. A last row that may be cut is dropped.
pub(crate) fn first_rows(bytes: &[u8], max_rows: usize, is_whole: bool) -> Vec<Value> {
    let rows = read_records(bytes, Place::whole(""));
    let rows = rows.take(max_rows + 1).filter_map(Result::ok);
    let mut values: Vec<Value> = rows
        .filter_map(|row| match row.content {
            RecordContent::Json(value) => Some(value),
            _ => None,
        })
        .collect();
    if !is_whole && values.len() <= max_rows {
        values.pop();
    }
    values.truncate(max_rows);
    values
}

impl<R: BufRead> CsvRecords<R> {
    /// Reads until the buffer has a complete row or is too long, or until the file ends.
    fn read_more(&mut self) -> std::io::Result<()> {
        let mut wanted = 0;
        while !self.ended
            && self.data.len() <= MAX_DOCUMENT_BYTES
            && (self.data.len() < wanted || self.needs_more())
        {
            // The doubling bounds how often a long row is scanned.
            wanted = (self.data.len() * 2).max(MIN_READ_BYTES);
            let more = (wanted - self.data.len()) as u64;
            let read = self.bytes.by_ref().take(more).read_to_end(&mut self.data)?;
            let line = self.bytes.read_until(b'\n', &mut self.data)?;
            self.ended = read + line == 0;
        }
        Ok(())
    }

    fn needs_more(&self) -> bool {
        self.data.trim_ascii().is_empty() || is_open(self.data.trim_ascii_start())
    }

    fn next_row(&mut self) -> Option<Result<CsvRow, Problem>> {
        if let Err(e) = self.read_more() {
            self.ended = true;
            self.data.clear();
            let fault = broken(&e);
            return Some(Err(fault.at(self.place_at(self.line))));
        }
        if self.line == 1 && self.data.starts_with(BOM) {
            self.data.drain(..BOM.len());
        }
        let (end, row) = parse_first_row(&self.data, self.line)?;
        self.line += count_line_breaks(&self.data[..end]);
        self.data.drain(..end);
        Some(Ok(row))
    }

    fn place_at(&self, line: u64) -> Place {
        Place {
            line,
            ..self.place.clone()
        }
    }
}

impl<R: BufRead> Iterator for CsvRecords<R> {
    type Item = RecordResult;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let row = match self.next_row()? {
                Ok(row) => row,
                Err(problem) => return Some(Err(problem)),
            };
            let place = self.place_at(row.line);
            if let Some((what, expected)) = row.bad {
                if self.header.is_none() {
                    // Without the names of the columns, the rows are useless.
                    self.ended = true;
                    self.data.clear();
                    let fault = WireFault::new(format!("the header: {what}"), expected);
                    return Some(Err(fault.costing(Cost::Unread).at(place)));
                }
                return Some(Err(WireFault::new(what, expected).at(place)));
            }
            let Some(header) = &self.header else {
                self.header = Some(column_names(&row));
                continue;
            };
            return Some(match row_object(header, &row) {
                Ok(content) => Ok(SourceRecord::new(place, content)),
                Err(fault) => Err(fault.at(place)),
            });
        }
    }
}

/// Returns the names of the columns, made unique by their numbers.
fn column_names(row: &CsvRow) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for (at, cell) in row.cells.iter().enumerate() {
        let name = match cell.trim() {
            "" => format!("column {}", at + 1),
            name if names.iter().any(|known| known == name) => format!("{name} ({})", at + 1),
            name => name.to_owned(),
        };
        names.push(name);
    }
    names
}

/// Converts a row to an object. An empty cell becomes null, so that its column exists.
fn row_object(header: &[String], row: &CsvRow) -> WireResult<RecordContent> {
    if row.cells.len() != header.len() {
        return Err(WireFault::new(
            format!("a row of {} cells", row.cells.len()),
            format!("{}, as in the header", header.len()),
        ));
    }
    let cells = header.iter().zip(row.cells.iter());
    let cells = cells.map(|(name, cell)| {
        let value = Some(cell).filter(|cell| !cell.is_empty());
        (name.clone(), value.map_or(Value::Null, Value::from))
    });
    Ok(RecordContent::Json(Value::Object(cells.collect())))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `line: object`, or what is wrong.
    fn rows_as_text(text: &str) -> Vec<String> {
        let told = |row: RecordResult| match row {
            Ok(row) => match row.content {
                RecordContent::Json(value) => format!("{}: {value}", row.place.line),
                _ => "no object".into(),
            },
            Err(problem) => format!("{}: {}", problem.place.line, problem.what),
        };
        read_records(text.as_bytes(), Place::whole(""))
            .map(told)
            .collect()
    }

    #[test]
    fn rows_are_objects_of_named_columns() {
        assert_eq!(
            rows_as_text("\u{feff}id,said,,id\n1,\"a, \"\"b\"\"\nc\",,x\n\n2,d,e\n3,d,e,f\n"),
            [
                "2: {\"id\":\"1\",\"said\":\"a, \\\"b\\\"\\nc\",\"column 3\":null,\"id (4)\":\"x\"}",
                "5: a row of 3 cells",
                "6: {\"id\":\"3\",\"said\":\"d\",\"column 3\":\"e\",\"id (4)\":\"f\"}",
            ]
        );
        assert_eq!(rows_as_text("a,b\n"), [""; 0]);
        assert_eq!(
            rows_as_text("a,\"b\n1,2\n"),
            ["1: the header: a quote that is never closed"]
        );
        assert_eq!(rows_as_text(""), [""; 0]);
    }

    #[test]
    fn rows_longer_than_what_is_read_at_once_are_whole() {
        let long = "x,\n".repeat(MIN_READ_BYTES);
        let text = format!("a,b\n\"{long}\",1\nc,\"d\n");
        let told = rows_as_text(&text);
        assert_eq!(told.len(), 2);
        assert!(
            told[0].starts_with("2: {\"a\":\"x,\\nx,"),
            "{}",
            &told[0][..40]
        );
        assert!(
            told[1].ends_with("a quote that is never closed"),
            "{}",
            told[1]
        );
    }
}
