//! Writes Parquet, one row group at a time.

use std::io::{self, Seek};
use std::path::Path;

use deadloop_tables::{ParquetError, ParquetWriter, Schema, SchemaField, cell};
use tempfile::NamedTempFile;

use super::REST;
use crate::Entry;
use crate::files::formats::{Effort, Sink};
use crate::transcript::wire::events_json;

const COLUMNS: [&str; 9] = [
    "id", "model", "profile", "group", "lang", "meta", "events", "labels", REST,
];

/// The number of bytes of text at which a row group ends. It also ends after [`GROUP_ROWS`] rows.
const GROUP_BYTES: usize = 16 << 20;
/// The maximum number of rows of a row group.
const GROUP_ROWS: usize = 4096;

pub(super) fn create(mut file: NamedTempFile, _: &Path, _: Effort) -> io::Result<Box<dyn Sink>> {
    file.rewind()?;
    let schema = schema();
    let columns = schema.described();
    Ok(Box::new(Groups {
        writer: ParquetWriter::new(file.reopen()?, &columns).map_err(unwritten)?,
        file,
        rows: Vec::new(),
        bytes: 0,
        schema,
    }))
}

/// Returns the columns, which are all text.
fn schema() -> Schema<Row> {
    let column = |(at, name): (usize, &str)| {
        SchemaField::new(name, "", "", move |row: &Row| {
            cell::Text::from(row[at].as_ref())
        })
    };
    COLUMNS.into_iter().enumerate().map(column).collect()
}

fn unwritten(error: ParquetError) -> io::Error {
    io::Error::other(error)
}

struct Groups {
    /// The file itself. `writer` has another handle to the file.
    file: NamedTempFile,
    writer: ParquetWriter,
    schema: Schema<Row>,
    rows: Vec<Row>,
    bytes: usize,
}

impl Groups {
    fn flush(&mut self) -> io::Result<()> {
        self.bytes = 0;
        let rows = std::mem::take(&mut self.rows);
        if rows.is_empty() {
            return Ok(());
        }
        let frame = self.schema.frame(&rows);
        self.writer.write(&frame).map_err(unwritten)
    }
}

impl Sink for Groups {
    fn write(&mut self, entry: &Entry) -> io::Result<()> {
        let row = row(entry)?;
        self.bytes += row.iter().flatten().map(String::len).sum::<usize>();
        self.rows.push(row);
        if self.bytes >= GROUP_BYTES || self.rows.len() >= GROUP_ROWS {
            self.flush()?;
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> io::Result<NamedTempFile> {
        self.flush()?;
        self.writer.finish().map_err(unwritten)?;
        Ok(self.file)
    }
}

/// The cells of a transcript, in the order of [`COLUMNS`].
type Row = [Option<String>; COLUMNS.len()];

fn row(entry: &Entry) -> io::Result<Row> {
    let transcript = &entry.transcript;
    let object = |fields: &serde_json::Map<_, _>| {
        let some = (!fields.is_empty()).then_some(fields);
        some.map(serde_json::to_string).transpose()
    };
    Ok([
        Some(transcript.id.clone()),
        Some(transcript.model.clone()),
        transcript.profile.clone(),
        transcript.group.clone(),
        transcript.lang.clone(),
        object(&transcript.meta)?,
        Some(events_json(&transcript.events)?),
        entry.labels.as_ref().map(ToString::to_string),
        object(&entry.rest)?,
    ])
}
