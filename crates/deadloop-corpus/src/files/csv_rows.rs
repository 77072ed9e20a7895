//! The rows of a CSV file, each read independently.
//!
//! An invalid row does not affect later rows. Most CSV readers treat the rest of a file as one cell after an unclosed
//! quote.

use std::borrow::Cow;
use std::io::Read;

use csv::StringRecord;

use crate::files::BOM;

/// A row of a CSV file.
#[derive(Clone, Debug, PartialEq)]
pub struct CsvRow {
    /// Number of the first line of the row, from 1.
    pub line: u64,
    /// Cells of the row. An invalid row has only the cells that can be read.
    pub cells: StringRecord,
    /// Problem of an invalid row, as a description of the fault and of what was expected.
    pub bad: Option<(Cow<'static, str>, &'static str)>,
}

/// Iterates over the rows of a file in order, including the header. Empty lines are ignored.
pub fn parse_csv_rows(text: &[u8]) -> impl Iterator<Item = CsvRow> {
    let mut rest = text.strip_prefix(BOM).unwrap_or(text);
    let mut line = 1;
    std::iter::from_fn(move || {
        let (end, row) = parse_first_row(rest, line)?;
        line += count_line_breaks(&rest[..end]);
        rest = &rest[end..];
        Some(row)
    })
}

/// Parses the first row of a text that may continue. Returns the number of bytes up to the end of the row, and the row.
///
/// The bytes include empty lines before the row. `line` is the number of the text's first line. Returns `None` if the
/// text has only empty lines.
pub fn parse_first_row(text: &[u8], line: u64) -> Option<(usize, CsvRow)> {
    let (mut from, mut line) = (0, line);
    while from < text.len() {
        let (end, bad) = find_row_end(&text[from..]);
        let row = &text[from..from + end];
        let here = line;
        line += count_line_breaks(row);
        from += end;
        if !row.trim_ascii().is_empty() {
            return Some((from, parse_row(here, row, bad)));
        }
    }
    None
}

/// Returns whether the first row of a text has an unclosed quote.
pub fn is_open(text: &[u8]) -> bool {
    matches!(find_row_end(text), (_, Some(UNCLOSED_QUOTE)))
}

/// Position of the scanner in a row.
enum CsvPosition {
    /// Before the first byte of a cell.
    Begin,
    /// In a cell without quotes.
    Bare,
    /// Between the quotes of a cell.
    Quoted,
    /// After a quote that closes a cell, unless another quote follows.
    Closed,
}

const UNCLOSED_QUOTE: (&str, &str) = ("a quote that is never closed", "a second quote in its row");
const TEXT_AFTER_QUOTE: (&str, &str) = (
    "text after the quote that closes a cell",
    "a comma or the end of the row; a quote inside quotes is written twice",
);

/// Returns the length of the first row, and the problem of its quotes. A row with an unclosed quote ends with the line
/// of the quote.
fn find_row_end(text: &[u8]) -> (usize, Option<(&'static str, &'static str)>) {
    let mut at = CsvPosition::Begin;
    let mut bad = None;
    let mut quote_start = 0;
    for (place, byte) in text.iter().enumerate() {
        at = match (at, byte) {
            (CsvPosition::Quoted, b'"') => CsvPosition::Closed,
            (CsvPosition::Quoted, _) => CsvPosition::Quoted,
            (_, b'\n' | b'\r') => return (find_line_end(text, place), bad),
            (_, b',') => CsvPosition::Begin,
            (CsvPosition::Begin | CsvPosition::Closed, b'"') => {
                quote_start = place;
                CsvPosition::Quoted
            }
            // The quote that seems to close the cell begins a cell in another line.
            (CsvPosition::Closed, _) if find_line_end(text, quote_start) < place => {
                return (find_line_end(text, quote_start), Some(UNCLOSED_QUOTE));
            }
            (CsvPosition::Closed, _) => {
                bad = Some(TEXT_AFTER_QUOTE);
                CsvPosition::Bare
            }
            (CsvPosition::Begin | CsvPosition::Bare, _) => CsvPosition::Bare,
        };
    }
    if matches!(at, CsvPosition::Quoted) {
        return (find_line_end(text, quote_start), Some(UNCLOSED_QUOTE));
    }
    (text.len(), bad)
}

/// Returns the end of the line that contains byte `from`, after its line feed, carriage return or both.
fn find_line_end(text: &[u8], from: usize) -> usize {
    let (_, rest) = text.split_at(from);
    let length = rest
        .iter()
        .take_while(|byte| !b"\r\n".contains(byte))
        .count();
    let ending = if rest[length..].starts_with(b"\r\n") {
        2
    } else {
        1
    };
    (from + length + ending).min(text.len())
}

/// Counts the line breaks in a text.
pub fn count_line_breaks(text: &[u8]) -> u64 {
    let (mut ends, mut at) = (0, 0);
    while at < text.len() {
        at = find_line_end(text, at);
        ends += u64::from(text[..at].ends_with(b"\n") || text[..at].ends_with(b"\r"));
    }
    ends
}

fn parse_row(line: u64, row: &[u8], bad: Option<(&'static str, &'static str)>) -> CsvRow {
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .buffer_capacity(row.len() + 1)
        // The reader removes a byte order mark at the start of its input, but an id may begin with one.
        .from_reader(b"\n".chain(row));
    let mut cells = csv::ByteRecord::new();
    let read = reader.read_byte_record(&mut cells);
    let mut bad = bad.map(|(what, expected)| (what.into(), expected));
    if let Err(error) = read {
        bad = bad.or(Some((error.to_string().into(), "a row of cells")));
    }
    let cells = StringRecord::from_byte_record(cells).unwrap_or_else(|error| {
        let what = format!("not UTF-8 in column {}", error.utf8_error().field() + 1);
        bad = bad.take().or(Some((what.into(), "a row of UTF-8 text")));
        StringRecord::from_byte_record_lossy(error.into_byte_record())
    });
    CsvRow { line, cells, bad }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns each row as `line: cells`, with its problem.
    fn rows_as_text(text: &[u8]) -> Vec<String> {
        let row = |row: CsvRow| {
            let cells: Vec<&str> = row.cells.iter().collect();
            let bad = row
                .bad
                .map_or(String::new(), |(what, _)| format!(" ({what})"));
            format!("{}: {}{bad}", row.line, cells.join("|"))
        };
        parse_csv_rows(text).map(row).collect()
    }

    #[test]
    fn rows_are_cut_where_they_end() {
        let text = b"\xef\xbb\xbfa,b\r\n\n\"x, \"\"y\"\"\nz\",1\r\n \nq\"q,\"\"";
        assert_eq!(
            rows_as_text(text),
            ["1: a|b", "3: x, \"y\"\nz|1", "6: q\"q|"]
        );
        assert_eq!(
            rows_as_text(b"a,b\r\"1\r2\",3\r4,5"),
            ["1: a|b", "2: 1\r2|3", "4: 4|5"]
        );
        assert_eq!(rows_as_text(b""), [""; 0]);
        // Only a byte order mark before the header is removed.
        assert_eq!(
            rows_as_text("\u{feff}a,b\n\u{feff}c,d".as_bytes()),
            ["1: a|b", "2: \u{feff}c|d"]
        );
    }

    #[test]
    fn a_row_that_is_not_whole_spoils_no_other() {
        assert_eq!(
            rows_as_text(b"a,\"b\nc,d\n\"e\"f,g\nh,\xff\n\"i\"j,k\n\"l\n"),
            [
                "1: a|b\n (a quote that is never closed)",
                "2: c|d",
                "3: ef|g (text after the quote that closes a cell)",
                "4: h|\u{fffd} (not UTF-8 in column 2)",
                "5: ij|k (text after the quote that closes a cell)",
                "6: l\n (a quote that is never closed)",
            ]
        );
        assert_eq!(
            rows_as_text(b"\"a\nb\",\"c\nd\n"),
            ["1: a\nb|c\n (a quote that is never closed)", "3: d"]
        );
    }

    /// Checks that complete rows are read as by the csv crate.
    #[test]
    fn whole_rows_are_those_of_the_csv_crate() {
        let text = "a,b\n\"1\n2\",\"x,\"\"\"\n,\n\"\",q\n";
        let mut reader = csv::ReaderBuilder::new();
        let mut reader = reader.has_headers(false).from_reader(text.as_bytes());
        let theirs: Vec<_> = reader.records().map(|row| row.unwrap()).collect();
        let ours = parse_csv_rows(text.as_bytes());
        let ours: Vec<_> = ours.map(|row| row.cells).collect();
        assert_eq!(ours.len(), theirs.len());
        for (ours, theirs) in ours.iter().zip(&theirs) {
            assert!(ours.iter().eq(theirs.iter()));
        }
    }
}
