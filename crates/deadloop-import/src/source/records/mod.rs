//! Splitting of files into records.
//!
//! Every method is bounded by the largest allowed record, and gives each record and each problem its place.

use std::io::BufRead;

use serde_json::Value;

use deadloop_corpus::{Place, Problem};
use deadloop_stream::fields::{Object, as_object};
use deadloop_stream::wire::{self, WireFault};

mod archive;
pub(crate) mod csv;
mod database;
mod document;
mod lines;
mod queries;
mod table;
mod text;

/// An iterator over the records of a file, in order.
pub(crate) type SourceRecords = Box<dyn Iterator<Item = Result<SourceRecord, Problem>> + Send>;

/// The maximum size of a document, or of an element of a list, in bytes.
pub(crate) const MAX_DOCUMENT: usize = 256 << 20;

/// The maximum number of values in the lists and objects of one record.
///
/// The bound keeps memory below some 2 GB, even if the file has only a char or two per value.
pub(crate) const MAX_VALUES: u32 = 8_000_000;

/// Parses a JSON text inside a string of a record, with the limit of a record.
pub(crate) fn parse_nested(text: &str) -> serde_json::Result<Value> {
    wire::parse(text, MAX_VALUES)
}

/// A record of a file.
pub(crate) struct SourceRecord {
    /// The place of its beginning.
    pub(crate) place: Place,
    /// The name in an archive, otherwise empty.
    pub(crate) member: String,
    /// The content.
    pub(crate) content: RecordContent,
}

/// The content of a record.
pub(crate) enum RecordContent {
    /// A JSON value, nearly always an object: a document, an element of its list, a row.
    Json(Value),
    /// The text of a line or of an event's data, which should be a JSON object. Only in a stream, or on request.
    Line(String),
    /// `[DONE]`, the end of a stream.
    Done,
    /// The whole text of a file.
    Text(String),
    /// Notice of the last line of a stream, cut by the end of the file. A notice is no record.
    Torn,
    /// Notice that the next record has an escape that is half of a surrogate pair, read as U+FFFD.
    HalfPair,
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

    /// Returns the place and the text.
    pub(crate) fn into_place_and_text(self) -> Result<(Place, String), WireFault> {
        match self.content {
            RecordContent::Text(text) => Ok((self.place, text)),
            _ => Err(WireFault::new("JSON", "plain text")),
        }
    }

    /// Returns the place and the object.
    pub(crate) fn into_place_and_object(self) -> Result<(Place, Object), WireFault> {
        Ok((self.place.clone(), self.into_object()?))
    }

    /// Returns the object.
    pub(crate) fn into_object(self) -> Result<Object, WireFault> {
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

/// Parses the text of a line.
fn parse_line(text: &str) -> Result<Value, WireFault> {
    let read = wire::parse(text, MAX_VALUES);
    read.map_err(|e| WireFault::json(&e, text))
}

/// The shape of a file.
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

/// Returns the records of a file.
///
/// `bytes` is the unpacked text, or the file itself for an archive. With `texts`, lines stay text.
pub(crate) fn records(
    shape: FileShape,
    bytes: Box<dyn BufRead + Send>,
    place: Place,
    texts: bool,
) -> SourceRecords {
    match shape {
        FileShape::Text => Box::new(text::records(bytes, place)),
        FileShape::Lines => Box::new(lines::records(bytes, place, texts)),
        FileShape::Document => Box::new(document::records(bytes, place)),
        FileShape::Csv => Box::new(csv::records(bytes, place)),
        FileShape::Archive => archive::records(place),
        FileShape::Table => table::records(place),
        FileShape::Database => database::records(place),
    }
}

/// Returns the names of an archive's members. Empty if they cannot be read.
pub(crate) use archive::members;

/// Returns the rows of a Parquet file.
pub(crate) use table::records as rows;

/// The first bytes of a SQLite database.
pub(crate) const DATABASE: &[u8] = b"SQLite format 3\0";

/// Returns the format of a database, recognized by its tables.
pub(crate) use database::format as database_format;
