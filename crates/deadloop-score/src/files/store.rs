//! Tables as Parquet and CSV files, written beside their names and renamed when whole.

use std::borrow::Borrow;
use std::fs::File;
use std::io::{self, BufRead, BufWriter, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use deadloop_replay::corpus::{Beside, WriteError, if_named, open_file, read_text, unpack_zstd};
use deadloop_tables::{Columns, CsvTable, ParquetWriter, Schema, Table, TableCell};
use serde::Serialize;

/// A file of a run that cannot be written or read.
#[derive(Debug, thiserror::Error)]
#[error("{path}: {what}", path = .path.display())]
pub struct FileError {
    /// Which.
    pub path: PathBuf,
    /// Why.
    pub what: String,
}

impl FileError {
    /// What went wrong with the file at `path`.
    pub fn at(path: &Path, what: impl ToString) -> Self {
        Self {
            path: path.into(),
            what: what.to_string(),
        }
    }
}

impl From<WriteError> for FileError {
    fn from(error: WriteError) -> Self {
        match error {
            WriteError::Io { path, source } => Self::at(&path, source),
            WriteError::Exists { path } => Self::at(&path, "is there already"),
            WriteError::NoFile { path } => Self::at(&path, "is there and is no file"),
            WriteError::Ending { path } => Self::at(&path, "unknown ending"),
        }
    }
}

/// The text of a file; `None` where nothing has its name.
///
/// # Errors
/// Something has it and cannot be read as text: a folder, a pipe, a link to nothing.
pub fn read_text_if_named(path: &Path) -> Result<Option<String>, FileError> {
    if_named(read_text(path)).map_err(|e| FileError::at(path, e))
}

/// Small files, written once: a level that takes no time to speak of.
const ZSTD_LEVEL: i32 = 9;

/// Rows that are held back before they become a row group: a bound on memory.
const GROUP_ROWS: usize = 1 << 14;

/// Writes one table row by row: `<name>.parquet`, and `<name>.csv` where asked for.
pub(crate) struct TableWriter {
    schema: Schema,
    buffer: Table,
    rows: usize,
    parquet: Packed,
    csv: Option<CsvFile>,
}

/// A Parquet file being written, beside its name.
struct Packed {
    path: PathBuf,
    file: Beside,
    writer: ParquetWriter,
}

impl Packed {
    fn create(path: PathBuf, schema: &Schema) -> Result<Self, FileError> {
        let file = beside(&path)?;
        let writer = ParquetWriter::new(file.reopen()?, schema);
        let writer = writer.map_err(|e| FileError::at(&path, e))?;
        Ok(Self { path, file, writer })
    }

    /// Gives the file its name.
    fn finish(self) -> Result<(), FileError> {
        let finished = self.writer.finish();
        finished.map_err(|e| FileError::at(&self.path, e))?;
        Ok(self.file.finish()?)
    }
}

/// A CSV file being written, beside its name.
struct CsvFile {
    path: PathBuf,
    rows: CsvTable<Beside>,
}

impl CsvFile {
    fn create(dir: &Path, name: &str, schema: &Schema) -> Result<Self, FileError> {
        let path = dir.join(format!("{name}.csv"));
        let rows = CsvTable::new(beside(&path)?, schema);
        let rows = rows.map_err(|e| FileError::at(&path, e))?;
        Ok(Self { path, rows })
    }

    /// Gives the file its name.
    fn finish(self) -> Result<(), FileError> {
        let written = self.rows.finish();
        let file = written.map_err(|e| FileError::at(&self.path, e))?;
        Ok(file.finish()?)
    }
}

impl TableWriter {
    pub(crate) fn create(
        dir: &Path,
        name: &str,
        schema: Schema,
        with_csv: bool,
    ) -> Result<Self, FileError> {
        let parquet = Packed::create(dir.join(format!("{name}.parquet")), &schema)?;
        let csv = with_csv.then(|| CsvFile::create(dir, name, &schema));
        let csv = csv.transpose()?;
        let buffer = Table::new(&schema);
        Ok(Self {
            schema,
            buffer,
            rows: 0,
            parquet,
            csv,
        })
    }

    pub(crate) fn push(&mut self, row: Vec<TableCell>) -> Result<(), FileError> {
        self.buffer.push(row);
        self.full()
    }

    /// Adds rows that are picked from other tables, whose columns stand side by side in this one: of each table the
    /// rows `picks`, all of them equally many.
    pub(crate) fn pick(&mut self, parts: &[(&Table, &[u32])]) -> Result<(), FileError> {
        let all = parts.first().map_or(0, |(_, picks)| picks.len());
        let mut from = 0;
        while from < all {
            let to = all.min(from + GROUP_ROWS - self.buffer.rows());
            let some: Vec<(&Table, &[u32])> = parts
                .iter()
                .map(|(table, picks)| (*table, &picks[from..to]))
                .collect();
            self.buffer.extend_picked(&some);
            self.full()?;
            from = to;
        }
        Ok(())
    }

    /// Writes a row group where there is one.
    fn full(&mut self) -> Result<(), FileError> {
        if self.buffer.rows() == GROUP_ROWS {
            self.flush()
        } else {
            Ok(())
        }
    }

    fn flush(&mut self) -> Result<(), FileError> {
        let table = std::mem::replace(&mut self.buffer, Table::new(&self.schema));
        self.rows += table.rows();
        if let Some(CsvFile { path, rows }) = &mut self.csv {
            rows.rows(&table).map_err(|e| FileError::at(path, e))?;
        }
        let Packed { path, writer, .. } = &mut self.parquet;
        writer.write(table).map_err(|e| FileError::at(path, e))
    }

    /// Gives the files their names. Returns how many rows they have.
    pub(crate) fn finish(mut self) -> Result<usize, FileError> {
        if self.buffer.rows() > 0 {
            self.flush()?;
        }
        self.parquet.finish()?;
        if let Some(csv) = self.csv {
            csv.finish()?;
        }
        Ok(self.rows)
    }
}

/// Writes a small table as CSV only.
pub(crate) fn write_csv(
    dir: &Path,
    name: &str,
    schema: &Schema,
    rows: impl IntoIterator<Item = Vec<TableCell>>,
) -> Result<(), FileError> {
    let mut file = CsvFile::create(dir, name, schema)?;
    for row in rows {
        let CsvFile { path, rows } = &mut file;
        rows.row(&row).map_err(|e| FileError::at(path, e))?;
    }
    file.finish()
}

/// Writes a text file: beside its name, renamed when it is whole.
pub fn write_text(path: &Path, text: &str) -> Result<(), FileError> {
    write_bytes(path, text.as_bytes())
}

/// Writes a file: beside its name, renamed when it is whole.
pub fn write_bytes(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    let mut file = beside(path)?;
    file.write_all(bytes).map_err(|e| FileError::at(path, e))?;
    Ok(file.finish()?)
}

/// Writes lines, packed with zstd: beside its name, renamed when it is whole. The first is `head`, which is written as it
/// is made: it may be as long as the corpus.
pub(crate) fn write_headed_lines(
    path: &Path,
    head: &impl Serialize,
    lines: impl Iterator<Item = serde_json::Result<String>>,
) -> Result<(), FileError> {
    let mut file = beside(path)?;
    let failed = |e: &dyn std::fmt::Display| FileError::at(path, e);
    let packed = zstd::Encoder::new(&mut file, ZSTD_LEVEL).map_err(|e| failed(&e))?;
    let mut packed = BufWriter::new(packed);
    serde_json::to_writer(&mut packed, head).map_err(|e| failed(&e))?;
    writeln!(packed).map_err(|e| failed(&e))?;
    for line in lines {
        let line = line.map_err(|e| failed(&e))?;
        writeln!(packed, "{line}").map_err(|e| failed(&e))?;
    }
    let packed = packed.into_inner().map_err(|e| failed(&e.error()))?;
    packed.finish().map_err(|e| failed(&e))?;
    Ok(file.finish()?)
}

/// Hands out the lines of such a file with their numbers, the first being 1; whether there is one.
pub(crate) fn read_lines(
    path: &Path,
    mut visit: impl FnMut(usize, &str) -> Result<(), FileError>,
) -> Result<bool, FileError> {
    let failed = |e: io::Error| FileError::at(path, e);
    let Some(file) = open_lines(path)? else {
        return Ok(false);
    };
    for (number, line) in file.lines().enumerate() {
        visit(number + 1, &line.map_err(failed)?)?;
    }
    Ok(true)
}

/// Such a file, unpacked; `None` if it is not there.
pub(crate) fn open_lines(path: &Path) -> Result<Option<impl BufRead>, FileError> {
    let failed = |e: io::Error| FileError::at(path, e);
    let file = if_named(open_file(path)).map_err(failed)?;
    let unpacked = file.map(unpack_zstd).transpose();
    Ok(unpacked.map_err(failed)?.map(io::BufReader::new))
}

/// Reads a CSV file as text; `None` where there is no such file.
pub(crate) fn read_csv(dir: &Path, name: &str) -> Result<Option<Table>, FileError> {
    let path = dir.join(format!("{name}.csv"));
    let file = if_named(open_file(&path)).map_err(|e| FileError::at(&path, e))?;
    let read = file.map(deadloop_tables::read_csv).transpose();
    read.map_err(|e| FileError::at(&path, e))
}

/// Writes `<name>.parquet`, and `<name>.csv` where asked for; how many rows they have.
pub(crate) fn write_table<R: Borrow<T>, T>(
    dir: &Path,
    name: &'static str,
    columns: &Columns<T>,
    rows: impl IntoIterator<Item = R>,
    csv: bool,
) -> Result<usize, FileError> {
    let mut table = TableWriter::create(dir, name, columns.schema(), csv)?;
    for row in rows {
        table.push(columns.cells(row.borrow()))?;
    }
    table.finish()
}

/// The table `<name>.parquet`, or else `<name>.csv`; `None` where there is neither.
pub(crate) fn read_table(dir: &Path, name: &str) -> Result<Option<Table>, FileError> {
    match read_parquet(&dir.join(format!("{name}.parquet")), &[], 0..usize::MAX)? {
        Some(table) => Ok(Some(table)),
        None => read_csv(dir, name),
    }
}

/// The columns that a Parquet file has, and how many rows; `None` where there is no such file.
pub(crate) fn parquet_shape(path: &Path) -> Result<Option<(Vec<String>, usize)>, FileError> {
    let shape = parquet_file(path)?.map(deadloop_tables::parquet_shape);
    shape.transpose().map_err(|e| FileError::at(path, e))
}

/// Reads some rows of those of the named columns that a Parquet file has, or with
/// none named of all; `None` where there is no such file.
pub(crate) fn read_parquet(
    path: &Path,
    columns: &[&str],
    rows: Range<usize>,
) -> Result<Option<Table>, FileError> {
    let file = parquet_file(path)?;
    let read = file.map(|file| deadloop_tables::read_parquet(file, columns, rows));
    read.transpose().map_err(|e| FileError::at(path, e))
}

fn parquet_file(path: &Path) -> Result<Option<File>, FileError> {
    if_named(open_file(path)).map_err(|e| FileError::at(path, e))
}

/// A file in the folder of `path` that becomes it.
pub(super) fn beside(path: &Path) -> Result<Beside, FileError> {
    Ok(Beside::create(path, true)?)
}
