//! Writing Parquet with polars, a row group at a time.

use std::io::{self, Seek};

use polars::prelude::{Column, DataFrame, DataType, Schema};
use polars_io::parquet::write::{BatchedWriter, ParquetCompression, ParquetWriter};
use tempfile::NamedTempFile;

use super::REST;
use crate::Entry;
use crate::files::formats::Sink;
use crate::transcript::wire::events_json;

const COLUMNS: [&str; 9] = [
    "id", "model", "profile", "group", "lang", "meta", "events", "labels", REST,
];

/// A row group ends when it holds this many bytes of text, or [`GROUP_ROWS`] rows.
const GROUP_BYTES: usize = 16 << 20;
/// The most rows of a row group.
const GROUP_ROWS: usize = 4096;

pub(super) fn create(mut file: NamedTempFile) -> io::Result<Box<dyn Sink>> {
    file.rewind()?;
    let schema: Schema = COLUMNS
        .iter()
        .map(|name| ((*name).into(), DataType::String))
        .collect();
    let writer =
        ParquetWriter::new(file.reopen()?).with_compression(ParquetCompression::Zstd(None));
    let writer = writer
        .set_parallel(false)
        .batched(&schema)
        .map_err(io::Error::other)?;
    Ok(Box::new(Groups {
        file,
        writer,
        rows: Vec::new(),
        bytes: 0,
    }))
}

type Row = [Option<String>; COLUMNS.len()];

struct Groups {
    /// The file itself; `writer` has a handle of its own to it.
    file: NamedTempFile,
    writer: BatchedWriter<std::fs::File>,
    rows: Vec<Row>,
    bytes: usize,
}

impl Groups {
    fn flush(&mut self) -> io::Result<()> {
        let rows = std::mem::take(&mut self.rows);
        self.bytes = 0;
        if rows.is_empty() {
            return Ok(());
        }
        let column = |at: usize, name: &str| {
            let cells: Vec<Option<&str>> = rows.iter().map(|row| row[at].as_deref()).collect();
            Column::new(name.into(), cells)
        };
        let columns = COLUMNS
            .iter()
            .enumerate()
            .map(|(at, name)| column(at, name));
        let frame = DataFrame::new(rows.len(), columns.collect()).map_err(io::Error::other)?;
        self.writer.write_batch(&frame).map_err(io::Error::other)
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
        self.writer.finish().map_err(io::Error::other)?;
        Ok(self.file)
    }
}

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
