//! Writes Parquet, one row group at a time.

use std::io::{self, Seek};
use std::path::Path;

use deadloop_tables::{ParquetError, ParquetWriter, Schema, Table, TableCell, Type, named};
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
/// The most rows of a row group.
const GROUP_ROWS: usize = 4096;

pub(super) fn create(mut file: NamedTempFile, _: &Path, _: Effort) -> io::Result<Box<dyn Sink>> {
    file.rewind()?;
    let schema = named(&COLUMNS, Type::Text);
    Ok(Box::new(Groups {
        writer: ParquetWriter::new(file.reopen()?, &schema).map_err(unwritten)?,
        file,
        rows: Table::new(&schema),
        bytes: 0,
        schema,
    }))
}

fn unwritten(error: ParquetError) -> io::Error {
    io::Error::other(error)
}

struct Groups {
    /// The file itself. `writer` has another handle to it.
    file: NamedTempFile,
    writer: ParquetWriter,
    schema: Schema,
    rows: Table,
    bytes: usize,
}

impl Groups {
    fn flush(&mut self) -> io::Result<()> {
        self.bytes = 0;
        let rows = std::mem::replace(&mut self.rows, Table::new(&self.schema));
        if rows.rows() == 0 {
            return Ok(());
        }
        self.writer.write(rows).map_err(unwritten)
    }
}

impl Sink for Groups {
    fn write(&mut self, entry: &Entry) -> io::Result<()> {
        let row = row(entry)?;
        self.bytes += row.iter().flatten().map(String::len).sum::<usize>();
        self.rows.push(row.map(TableCell::Text).into());
        if self.bytes >= GROUP_BYTES || self.rows.rows() >= GROUP_ROWS {
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

/// Returns the cells of a transcript, in the order of [`COLUMNS`].
fn row(entry: &Entry) -> io::Result<[Option<String>; COLUMNS.len()]> {
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
