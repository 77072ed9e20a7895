//! Tables as Parquet, by polars. A build without the feature `parquet` has `no_parquet.rs` in its place.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use deadloop_replay::corpus::{Beside, caught, if_named, open_file};
use polars::prelude::{Column, DataFrame, DataType, NamedFrom, Series};
use polars_io::SerReader;
use polars_io::parquet::read::{ParallelStrategy, ParquetReader};
use polars_io::parquet::write::{BatchedWriter, ParquetCompression, ParquetWriter};

use super::store::{FileError, beside};
use super::table::{Cells, Schema, Table, Type};

/// A file being written, beside its name.
pub(super) struct Packed {
    path: PathBuf,
    file: Beside,
    writer: BatchedWriter<File>,
}

impl Packed {
    pub(super) fn create(path: PathBuf, schema: &Schema) -> Result<Self, FileError> {
        let file = beside(&path)?;
        let types = schema
            .iter()
            .map(|(name, of)| (name.as_str().into(), data_type(*of)))
            .collect();
        let writer = ParquetWriter::new(file.reopen()?)
            .with_compression(ParquetCompression::Zstd(None))
            .set_parallel(false)
            .batched(&types)
            .map_err(|e| unwritten(&path, &e))?;
        Ok(Self { path, file, writer })
    }

    /// One more row group.
    pub(super) fn write(&mut self, table: Table) -> Result<(), FileError> {
        let frame = frame(table).map_err(|e| FileError::at(&self.path, e))?;
        let written = self.writer.write_batch(&frame);
        written.map_err(|e| unwritten(&self.path, &e))
    }

    /// Gives the file its name.
    pub(super) fn finish(self) -> Result<(), FileError> {
        let finished = self.writer.finish();
        finished.map_err(|e| unwritten(&self.path, &e))?;
        Ok(self.file.finish()?)
    }
}

/// An error of the Parquet writer. It reports a full disk in the words of its format, so the message names that cause.
fn unwritten(path: &Path, error: &polars::error::PolarsError) -> FileError {
    FileError::at(
        path,
        format!("cannot be written; is the disk full? {error}"),
    )
}

/// The columns that a Parquet file has, and how many rows; `None` where there is no such file.
pub(crate) fn parquet_shape(path: &Path) -> Result<Option<(Vec<String>, usize)>, FileError> {
    let Some(mut reader) = parquet_reader(path)? else {
        return Ok(None);
    };
    let shape = || {
        let schema = reader.schema()?;
        let names = schema.iter_names().map(ToString::to_string).collect();
        Ok((names, reader.num_rows()?))
    };
    guarded(path, shape).map(Some)
}

/// Runs something of polars, which panics on some broken files.
fn guarded<T>(
    path: &Path,
    work: impl FnOnce() -> Result<T, polars::error::PolarsError>,
) -> Result<T, FileError> {
    let broken = || FileError::at(path, "broken Parquet; expected a whole Parquet file");
    caught(work)
        .ok_or_else(broken)?
        .map_err(|e| FileError::at(path, e))
}

fn parquet_reader(path: &Path) -> Result<Option<ParquetReader<File>>, FileError> {
    let file = if_named(open_file(path)).map_err(|e| FileError::at(path, e))?;
    Ok(file.map(ParquetReader::new))
}

/// Reads some rows (first, count) of those of the named columns that a Parquet file has, or with
/// none named of all; `None` where there is no such file.
pub(crate) fn read_parquet(
    path: &Path,
    columns: &[&str],
    rows: (usize, usize),
) -> Result<Option<Table>, FileError> {
    let Some(mut reader) = parquet_reader(path)? else {
        return Ok(None);
    };
    let read = || {
        let schema = reader.schema()?;
        let there = columns.iter().filter(|c| schema.contains(c));
        let named = (!columns.is_empty()).then(|| there.map(|c| (*c).to_owned()).collect());
        // On this thread: a panic of another could not be kept off the terminal.
        let frame = reader
            .read_parallel(ParallelStrategy::None)
            .with_columns(named)
            .with_slice(Some(rows))
            .finish()?;
        let rows = frame.height();
        // One column after the other is dropped, so that the table is never there twice.
        let columns = frame
            .into_columns()
            .into_iter()
            .map(|c| Ok((c.name().to_string(), cells(&c)?)));
        let columns: Result<Vec<_>, polars::error::PolarsError> = columns.collect();
        Ok(Table {
            columns: columns?,
            rows,
        })
    };
    guarded(path, read).map(Some)
}

fn data_type(of: Type) -> DataType {
    match of {
        Type::Text => DataType::String,
        Type::Int => DataType::Int64,
        Type::Float => DataType::Float64,
    }
}

fn frame(table: Table) -> Result<DataFrame, polars::error::PolarsError> {
    let column = |(name, cells): (String, Cells)| -> Column {
        let name = name.as_str().into();
        match cells {
            Cells::Text(cells) => {
                let texts: Vec<Option<&str>> = cells.iter().map(Option::as_deref).collect();
                Series::new(name, texts).into()
            }
            Cells::Int(cells) => Series::new(name, cells).into(),
            Cells::Float(cells) => Series::new(name, cells).into(),
        }
    };
    DataFrame::new(table.rows, table.columns.into_iter().map(column).collect())
}

fn cells(column: &Column) -> Result<Cells, polars::error::PolarsError> {
    Ok(match column.dtype() {
        DataType::Int64 => Cells::Int(column.i64()?.iter().collect()),
        DataType::Float64 => Cells::Float(column.f64()?.iter().collect()),
        _ => Cells::Text(shared(column.str()?.iter())),
    })
}

/// Texts of which one that stands in several rows in a row is there once.
fn shared<'a>(texts: impl Iterator<Item = Option<&'a str>>) -> Vec<Option<Arc<str>>> {
    let mut last: Option<Arc<str>> = None;
    let one = |text: Option<&str>| {
        if last.as_deref() != text {
            last = text.map(Arc::from);
        }
        last.clone()
    };
    texts.map(one).collect()
}
