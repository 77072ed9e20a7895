//! JSON over many lines: a record for each value, or each element of a list.
//!
//! Values are read one at a time. Their ends are found by brackets and strings, before they are parsed. So a broken
//! element does not affect later ones, as long as its brackets and strings are closed.

use std::io::{self, BufRead};

use deadloop_detect::harness::JsonScan;

use super::{MAX_DOCUMENT_BYTES, MAX_VALUES, RecordContent, RecordResult, SourceRecord};
use deadloop_corpus::Place;
use deadloop_corpus::files::lines::broken;
use deadloop_stream::wire::{self, WireFault, read_utf8};

pub(super) fn read_records(
    bytes: impl BufRead,
    place: Place,
) -> impl Iterator<Item = RecordResult> {
    DocumentRecords {
        bytes,
        place: Place::new(place.file, 1),
        scan: BracketScan::default(),
        delayed: None,
        ended: false,
    }
}

/// Role of a byte for the current value.
enum ScanStep {
    /// The byte is outside any value.
    Skip,
    /// The byte is part of the value.
    Take,
    /// The byte is the last one of the value.
    Last,
    /// The byte follows the value.
    End,
}

/// A scanner that finds the ends of JSON values by their brackets and strings.
#[derive(Default)]
struct BracketScan {
    /// Whether the scan is inside a list whose elements are the records.
    is_list: bool,
    /// Brackets and strings of the value.
    json: JsonScan,
}

impl BracketScan {
    /// Scans the next byte. `is_first` is whether the value is still empty.
    fn scan_byte(&mut self, byte: u8, is_first: bool) -> ScanStep {
        let between = self.json.depth() == 0 && !self.json.is_quoted();
        match byte {
            b'[' if is_first && !self.is_list => {
                self.is_list = true;
                return ScanStep::Skip;
            }
            b']' if between && self.is_list => {
                self.is_list = false;
                return ScanStep::End;
            }
            _ => {}
        }
        match self.json.outside(char::from(byte)) {
            Some(']' | '}') if self.json.depth() == 0 && !self.is_list => ScanStep::Last,
            Some(',') if between && self.is_list => ScanStep::End,
            Some('\n') if between && !self.is_list => ScanStep::End,
            Some(_) if is_first && byte.is_ascii_whitespace() => ScanStep::Skip,
            _ => ScanStep::Take,
        }
    }

    /// Returns the fault if the file ends inside a value or list.
    fn cut_fault(&self, is_first: bool) -> Option<WireFault> {
        let inside = self.json.is_quoted() || self.json.depth() > 0;
        match (inside, self.is_list && is_first) {
            (true, _) => Some(("the file ends inside this value", "a whole document")),
            (_, true) => Some(("the list does not end", "`]` after its elements")),
            _ => None,
        }
        .map(|(what, expected)| WireFault::new(what, expected))
    }
}

struct DocumentRecords<R> {
    bytes: R,
    /// Line of the next byte.
    place: Place,
    scan: BracketScan,
    /// Record to return after its notice.
    delayed: Option<SourceRecord>,
    ended: bool,
}

/// Bytes of a value up to the limit, with the number of its first line.
struct ValueBytes {
    bytes: Vec<u8>,
    line: u64,
    too_long: bool,
}

impl<R: BufRead> DocumentRecords<R> {
    /// Reads the next value, which is empty at the end of the file.
    fn next_value(&mut self) -> io::Result<ValueBytes> {
        let mut piece = ValueBytes {
            bytes: Vec::new(),
            line: self.place.line,
            too_long: false,
        };
        loop {
            let buffer = self.bytes.fill_buf()?;
            if buffer.is_empty() {
                self.ended = true;
                return Ok(piece);
            }
            let mut used = 0;
            let mut whole = false;
            for byte in buffer {
                used += 1;
                let is_first = piece.bytes.is_empty();
                let step = self.scan.scan_byte(*byte, is_first);
                let line = self.place.line;
                self.place.line += u64::from(*byte == b'\n');
                if matches!(step, ScanStep::Take | ScanStep::Last) {
                    piece.too_long |= piece.bytes.len() == MAX_DOCUMENT_BYTES;
                    if is_first {
                        piece.line = line;
                    }
                    if !piece.too_long {
                        piece.bytes.push(*byte);
                    }
                }
                whole = match step {
                    ScanStep::Last => true,
                    ScanStep::End => !is_first,
                    ScanStep::Skip | ScanStep::Take => false,
                };
                if whole {
                    break;
                }
            }
            self.bytes.consume(used);
            if whole {
                return Ok(piece);
            }
        }
    }

    /// Parses a value. On error, also returns the line of the fault.
    fn parse_value(&mut self, piece: &ValueBytes) -> Result<RecordContent, (u64, WireFault)> {
        let here = |fault| (piece.line, fault);
        if piece.too_long {
            let expected = format!("at most {MAX_DOCUMENT_BYTES} bytes");
            return Err(here(WireFault::new("a value that is too long", expected)));
        }
        if self.ended
            && let Some(fault) = self.scan.cut_fault(piece.bytes.is_empty())
        {
            return Err(here(fault));
        }
        let text = read_utf8(&piece.bytes).map_err(here)?;
        let value = wire::parse(text.trim_ascii(), MAX_VALUES);
        value.map(RecordContent::Json).map_err(|e| {
            let line = piece.line + (e.line() as u64).saturating_sub(1);
            (line, WireFault::json(&e, text))
        })
    }
}

impl<R: BufRead> Iterator for DocumentRecords<R> {
    type Item = RecordResult;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(record) = self.delayed.take() {
            return Some(Ok(record));
        }
        if self.ended {
            return None;
        }
        let mut piece = match self.next_value() {
            Ok(piece) => piece,
            Err(e) => {
                self.ended = true;
                return Some(Err(broken(&e).at(self.place.clone())));
            }
        };
        if piece.bytes.is_empty() && self.scan.cut_fault(true).is_none() {
            return None;
        }
        let whole = wire::fix_surrogates(&piece.bytes);
        let has_half_pair = whole.is_some();
        piece.bytes = whole.map_or(piece.bytes, String::into_bytes);
        let place = |line| Place::new(self.place.file.clone(), line);
        let begin = place(piece.line);
        let record = |content| SourceRecord::new(begin.clone(), content);
        Some(match self.parse_value(&piece) {
            Ok(content) if has_half_pair => {
                self.delayed = Some(record(content));
                Ok(record(RecordContent::LoneSurrogate))
            }
            Ok(content) => Ok(record(content)),
            Err((line, fault)) => Err(fault.at(Place::new(begin.file, line))),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The values of a text, read `size` bytes at a time, or `line: problem`.
    fn cut(text: &str, size: usize) -> Vec<String> {
        let bytes = std::io::BufReader::with_capacity(size, text.as_bytes());
        read_records(bytes, Place::whole("x"))
            .map(|record| match record {
                Ok(SourceRecord {
                    place,
                    content: RecordContent::Json(value),
                    ..
                }) => {
                    format!("{}: {value}", place.line)
                }
                Ok(_) => "no JSON".to_owned(),
                Err(problem) => format!("{}! {}", problem.place.line, problem.what),
            })
            .collect()
    }

    #[test]
    fn values_and_elements_are_records() {
        for (text, expected) in [
            ("", vec![]),
            ("[]", vec![]),
            (" [ ]\n", vec![]),
            (
                "{\n \"a\": [1, \"}]\\\"\"]\n}\n{}",
                vec!["1: {\"a\":[1,\"}]\\\"\"]}", "4: {}"],
            ),
            (
                "[\n{\"a\":\n1},\n{\"b\":[]}, 7,\n]",
                vec!["2: {\"a\":1}", "4: {\"b\":[]}", "4: 7"],
            ),
            (
                "[{\"a\" 1}, {}]",
                vec!["1! not JSON: expected `:` (column 6)", "1: {}"],
            ),
            (
                "[{}, {\"a\":",
                vec!["1: {}", "1! the file ends inside this value"],
            ),
            ("[{},", vec!["1: {}", "1! the list does not end"]),
            (
                "junk here\n{}",
                vec!["1! not JSON: expected value (column 1)", "2: {}"],
            ),
            (
                "{}}{}",
                vec!["1: {}", "1! not JSON: expected value (column 1)", "1: {}"],
            ),
        ] {
            for size in 1..10 {
                assert_eq!(cut(text, size), expected, "{text:?}");
            }
        }
    }
}
