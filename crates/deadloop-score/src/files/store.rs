//! Tables as Parquet and CSV files, written beside their names and renamed when whole.

use std::io::{self, BufRead, BufWriter, Write};
use std::path::{Path, PathBuf};

use deadloop_replay::corpus::{Beside, WriteError, if_named, open_file, read_text, unpack_zstd};
use serde::Serialize;

use super::formula::as_it_was;
use super::parquet::Packed;
pub(crate) use super::parquet::{parquet_shape, read_parquet};
use super::table::{Schema, Table, TableCell, Type};

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
    csv: Option<(PathBuf, csv::Writer<Beside>)>,
}

impl TableWriter {
    pub(crate) fn create(
        dir: &Path,
        name: &str,
        schema: Schema,
        with_csv: bool,
    ) -> Result<Self, FileError> {
        let parquet = Packed::create(dir.join(format!("{name}.parquet")), &schema)?;
        let csv = if with_csv {
            Some(csv_writer(dir, name, &schema)?)
        } else {
            None
        };
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
        if let Some((path, csv)) = &mut self.csv {
            for row in 0..table.rows() {
                let cells = table.columns.iter().map(|(_, cells)| cells.cell(row));
                let texts = cells.map(|cell| cell.map_or_else(String::new, |c| c.for_people()));
                csv.write_record(texts)
                    .map_err(|e| FileError::at(path, e))?;
            }
        }
        self.parquet.write(table)
    }

    /// Gives the files their names. Returns how many rows they have.
    pub(crate) fn finish(mut self) -> Result<usize, FileError> {
        if self.buffer.rows() > 0 {
            self.flush()?;
        }
        self.parquet.finish()?;
        if let Some((path, csv)) = self.csv {
            let file = csv
                .into_inner()
                .map_err(|e| FileError::at(&path, e.error()))?;
            file.finish()?;
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
    let (path, mut csv) = csv_writer(dir, name, schema)?;
    for row in rows {
        csv.write_record(row.iter().map(TableCell::for_people))
            .map_err(|e| FileError::at(&path, e))?;
    }
    let file = csv
        .into_inner()
        .map_err(|e| FileError::at(&path, e.error()))?;
    Ok(file.finish()?)
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
    let Some(file) = file else {
        return Ok(None);
    };
    let failed = |error| FileError::at(&path, error);
    let mut reader = csv::Reader::from_reader(file);
    let header = reader.headers().map_err(failed)?.clone();
    let schema = header
        .iter()
        .map(|name| (name.to_owned(), Type::Text))
        .collect();
    let mut table = Table::new(&schema);
    for row in reader.records() {
        let row = row.map_err(failed)?;
        let cell =
            |text: &str| TableCell::Text((!text.is_empty()).then(|| as_it_was(text).to_owned()));
        table.push(row.iter().map(cell).collect());
    }
    Ok(Some(table))
}

fn csv_writer(
    dir: &Path,
    name: &str,
    schema: &Schema,
) -> Result<(PathBuf, csv::Writer<Beside>), FileError> {
    let path = dir.join(format!("{name}.csv"));
    let mut csv = csv::Writer::from_writer(beside(&path)?);
    let header = schema.iter().map(|(name, _)| name);
    csv.write_record(header)
        .map_err(|e| FileError::at(&path, e))?;
    Ok((path, csv))
}

/// A file in the folder of `path` that becomes it.
pub(super) fn beside(path: &Path) -> Result<Beside, FileError> {
    Ok(Beside::create(path, true)?)
}
