//! Splitting of files into records.
//!
//! Memory is bounded by the largest allowed record. Every record and every problem has its file and line.

use std::io::BufRead;

use serde_json::Value;

use deadloop_corpus::{Place, Problem};
use deadloop_stream::fields::{Object, as_object};
use deadloop_stream::wire::{self, WireFault, WireResult};

mod archive;
pub(crate) mod csv;
mod database;
mod document;
mod lines;
mod queries;
mod table;
mod text;

/// A record, or the problem in its place.
pub(crate) type RecordResult = Result<SourceRecord, Problem>;

/// An iterator over the records of a file, in order.
pub(crate) type SourceRecords = Box<dyn Iterator<Item = RecordResult> + Send>;

/// The maximum size of a document or list element, in bytes.
pub(crate) const MAX_DOCUMENT_BYTES: usize = 256 << 20;

/// The maximum number of values in the lists and objects of one record.
///
/// The bound keeps memory below some 2 GB, even if the file has only a char or two per value.
pub(crate) const MAX_VALUES: u32 = 8_000_000;

/// Parses JSON inside a string of a record, with the limits of a record.
pub(crate) fn parse_nested(text: &str) -> serde_json::Result<Value> {
    wire::parse(text, MAX_VALUES)
}

/// A record of a file.
pub(crate) struct SourceRecord {
    /// File and first line of the record.
    pub(crate) place: Place,
    /// Name of the archive member, otherwise empty.
    pub(crate) member: String,
    /// Content of the record.
    pub(crate) content: RecordContent,
}

/// Content of a record.
pub(crate) enum RecordContent {
    /// A JSON value, usually an object: a document, a list element or a row.
    Json(Value),
    /// Text of a line or event, which should be a JSON object. Occurs in a stream, or on request.
    Line(String),
    /// `[DONE]`, the end of a stream.
    Done,
    /// The whole text of a file.
    Text(String),
    /// A notice that the end of the file cuts the last line of a stream. A notice is not a record.
    CutLine,
    /// A notice that the next record has half of an escaped surrogate pair, read as U+FFFD.
    LoneSurrogate,
}

impl SourceRecord {
    /// Creates a record of a file that is not an archive.
    pub(crate) fn new(place: Place, content: RecordContent) -> Self {
        Self {
            place,
            member: String::new(),
            content,
        }
    }

    /// Returns the plain text, with the place of the record.
    pub(crate) fn into_place_and_text(self) -> WireResult<(Place, String)> {
        match self.content {
            RecordContent::Text(text) => Ok((self.place, text)),
            _ => Err(WireFault::new("JSON", "plain text")),
        }
    }

    /// Returns the JSON object, with the place of the record.
    pub(crate) fn into_place_and_object(self) -> WireResult<(Place, Object)> {
        Ok((self.place.clone(), self.into_object()?))
    }

    /// Returns the JSON object.
    pub(crate) fn into_object(self) -> WireResult<Object> {
        match self.content {
            RecordContent::Json(value) => as_object("record", value),
            RecordContent::Line(text) => as_object("record", parse_line(&text)?),
            content => {
                let what = match content {
                    RecordContent::Done => "[DONE] where no stream is",
                    RecordContent::Text(_) => "plain text",
                    _ => "half a line",
                };
                Err(WireFault::new(what, "one JSON object"))
            }
        }
    }
}

/// Parses the text of a line as JSON.
fn parse_line(text: &str) -> WireResult<Value> {
    let read = wire::parse(text, MAX_VALUES);
    read.map_err(|e| WireFault::json(&e, text))
}

/// Shape of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileShape {
    /// Plain text, which is one record.
    Text,
    /// JSON lines or server-sent events, with a record per line or event.
    Lines,
    /// JSON values over many lines, with a record per value, or per element of a list.
    Document,
    /// A zip archive, with a record per JSON member.
    Archive,
    /// Comma-separated values with a header, with a record per row.
    Csv,
    /// Parquet, with a record per row.
    Table,
    /// A SQLite database, with a record per row of each session.
    Database,
}

/// Returns an iterator over the records of a file.
///
/// `bytes` is the unpacked text, or the file itself for an archive. If `keep_text`, lines are returned as text.
pub(crate) fn read_records(
    shape: FileShape,
    bytes: Box<dyn BufRead + Send>,
    place: Place,
    keep_text: bool,
) -> SourceRecords {
    match shape {
        FileShape::Text => Box::new(text::read_records(bytes, place)),
        FileShape::Lines => Box::new(lines::read_records(bytes, place, keep_text)),
        FileShape::Document => Box::new(document::read_records(bytes, place)),
        FileShape::Csv => Box::new(csv::read_records(bytes, place)),
        FileShape::Archive => archive::read_records(place),
        FileShape::Table => table::read_records(place),
        FileShape::Database => database::read_records(place),
    }
}

pub(crate) use archive::member_names;

pub(crate) use table::read_records as read_rows;

/// The first bytes of an SQLite database.
pub(crate) const SQLITE_MAGIC: &[u8] = b"SQLite format 3\0";

pub(crate) use database::recognize_database;
