//! How a file is cut into records. Every way is bounded by the largest record that is allowed, and
//! gives each record and each problem its place.

use std::io::BufRead;

use serde_json::Value;

use crate::transcript::wire::{self, WireFault};
use crate::{Place, Problem};
use deadloop_stream::take::{Object, as_object};

mod archive;
pub(crate) mod csv;
mod database;
mod document;
mod lines;
mod queries;
mod table;
mod text;

/// The records of a file in order.
pub(crate) type Records = Box<dyn Iterator<Item = Result<Record, Problem>> + Send>;

/// The largest document or element of a list, in bytes, that is read.
pub(super) const MAX_DOCUMENT: usize = 256 << 20;

/// Values in the lists and objects of one record, at most: some 2 GB in memory at worst, where each takes a char or two
/// of the file.
pub(crate) const MOST_VALUES: u32 = 8_000_000;

/// A JSON text that stands in a string of a record: bounded as the record is.
pub(crate) fn inside(text: &str) -> serde_json::Result<Value> {
    wire::parse(text, MOST_VALUES)
}

/// One record.
pub(crate) struct Record {
    /// Where it begins.
    pub(crate) place: Place,
    /// Its name in an archive; empty elsewhere.
    pub(crate) member: String,
    /// What it holds.
    pub(crate) content: Content,
}

/// What a record holds.
pub(crate) enum Content {
    /// A JSON object nearly always: a document, an element of one that is a list, a row.
    Json(Value),
    /// The text of a line, or of an event's data, that should be a JSON object: of a stream, and where it is asked for.
    Line(String),
    /// `[DONE]`: the stream ends here.
    Done,
    /// All of a file of text.
    Text(String),
    /// The last line of a stream, in which the file ends: nothing to read, and no fault of what came before.
    Torn,
}

impl Record {
    /// Where it begins, and the text that it is.
    pub(crate) fn text(self) -> Result<(Place, String), WireFault> {
        match self.content {
            Content::Text(text) => Ok((self.place, text)),
            _ => Err(WireFault::new("JSON", "plain text")),
        }
    }

    /// Where it begins, and the object that it holds.
    pub(crate) fn placed(self) -> Result<(Place, Object), WireFault> {
        Ok((self.place.clone(), self.object()?))
    }

    /// The object that it holds.
    pub(crate) fn object(self) -> Result<Object, WireFault> {
        match self.content {
            Content::Json(value) => as_object("record", value),
            Content::Line(text) => as_object("record", line(&text)?),
            Content::Done => Err(WireFault::new(
                "[DONE] where no stream is",
                "one JSON object",
            )),
            Content::Torn => Err(WireFault::new("half a line", "one JSON object")),
            Content::Text(_) => Err(WireFault::new("plain text", "one JSON object")),
        }
    }
}

/// What the text of a line is.
fn line(text: &str) -> Result<Value, WireFault> {
    let read = wire::parse(text, MOST_VALUES);
    read.map_err(|e| WireFault::json(&e, text))
}

/// How a file is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Plain text: one record.
    Text,
    /// JSON lines or server-sent events: a record each.
    Lines,
    /// JSON values over many lines: each is a record, and of a list each element.
    Document,
    /// A zip archive: a record for each member that is JSON.
    Archive,
    /// Comma-separated values with a header: a record for each row.
    Csv,
    /// Parquet: a record for each row.
    Table,
    /// A SQLite database: a record for each row of each session.
    Database,
}

/// The records of a file. `bytes`: its text, unpacked (of an archive: the file as it is). `texts`: whether lines are
/// wanted as the text that they are.
pub(super) fn records(
    shape: Shape,
    bytes: Box<dyn BufRead + Send>,
    place: Place,
    texts: bool,
) -> Records {
    match shape {
        Shape::Text => Box::new(text::records(bytes, place)),
        Shape::Lines => Box::new(lines::records(bytes, place, texts)),
        Shape::Document => Box::new(document::records(bytes, place)),
        Shape::Csv => Box::new(csv::records(bytes, place)),
        Shape::Archive => archive::records(place),
        Shape::Table => table::records(place),
        Shape::Database => database_rows(place),
    }
}

/// The names of an archive's members, as far as they can be read.
pub(super) use archive::members;

/// The rows of a Parquet file.
pub(super) use table::records as rows;

/// How a SQLite database begins.
pub(super) const DATABASE: &[u8] = b"SQLite format 3\0";

/// The rows of a database.
fn database_rows(place: Place) -> Records {
    database::records(place)
}

/// The format of a database by its tables.
pub(super) use database::format as database_format;
