//! Tables as Parquet and CSV files, which are renamed when they are complete.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use deadloop_replay::corpus::{UnfinishedFile, WriteError, if_exists, open_file, read_text};
use deadloop_tables::{ColumnDoc, CsvWriter, DataFrame, ParquetWriter};

/// An error in reading or writing a file of a run.
#[derive(Debug, thiserror::Error)]
#[error("{path}: {what}", path = .path.display())]
pub struct FileError {
    /// The path of the file.
    pub path: PathBuf,
    /// The reason, in words.
    pub what: String,
}

impl FileError {
    /// Creates an error about the file at `path`.
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

/// Reads the text of a file. `None` if there is no such file.
///
/// # Errors
/// The path is a folder, a pipe or a dangling link, or the file cannot be read as text.
pub fn read_text_if_named(path: &Path) -> Result<Option<String>, FileError> {
    if_exists(read_text(path)).map_err(|e| FileError::at(path, e))
}

/// The minimum number of rows of a row group in a Parquet file. It bounds memory.
const MIN_ROW_GROUP_ROWS: usize = 1 << 14;

/// A writer of `<name>.parquet`, and of `<name>.csv` if requested, frame by frame. The files are renamed when they are
/// complete.
pub(crate) struct TableWriter {
    path: PathBuf,
    file: UnfinishedFile,
    parquet: ParquetWriter,
    csv: Option<CsvFile>,
    /// The rows that are not written yet.
    buffer: DataFrame,
    rows: usize,
}

/// The path and the writer of a CSV file.
type CsvFile = (PathBuf, CsvWriter<UnfinishedFile>);

impl TableWriter {
    pub(crate) fn create(
        dir: &Path,
        name: &str,
        columns: &[ColumnDoc],
        with_csv: bool,
    ) -> Result<Self, FileError> {
        let path = dir.join(format!("{name}.parquet"));
        let file = create_beside(&path)?;
        let parquet = ParquetWriter::new(file.reopen()?, columns);
        Ok(Self {
            parquet: parquet.map_err(|e| FileError::at(&path, e))?,
            path,
            file,
            csv: with_csv.then(|| create_csv(dir, name)).transpose()?,
            buffer: DataFrame::default(),
            rows: 0,
        })
    }

    /// Appends the rows of a frame with the columns of the table.
    pub(crate) fn write(&mut self, frame: &DataFrame) -> Result<(), FileError> {
        self.rows += frame.height();
        if self.buffer.width() == 0 {
            self.buffer = frame.clone();
        } else {
            let joined = self.buffer.vstack_mut(frame).map(|_| ());
            joined.map_err(|e| FileError::at(&self.path, e))?;
        }
        if self.buffer.height() >= MIN_ROW_GROUP_ROWS {
            self.flush()?;
        }
        Ok(())
    }

    /// Writes the buffered rows as a row group.
    fn flush(&mut self) -> Result<(), FileError> {
        let mut frame = std::mem::take(&mut self.buffer);
        frame.rechunk_mut();
        if let Some((path, csv)) = &mut self.csv {
            csv.write(&frame).map_err(|e| FileError::at(path, e))?;
        }
        let written = self.parquet.write(&frame);
        written.map_err(|e| FileError::at(&self.path, e))
    }

    /// Finishes the files and renames them. Returns the number of rows.
    pub(crate) fn finish(mut self) -> Result<usize, FileError> {
        if self.buffer.height() > 0 || self.rows == 0 {
            self.flush()?;
        }
        let finished = self.parquet.finish();
        finished.map_err(|e| FileError::at(&self.path, e))?;
        self.file.finish()?;
        self.csv.map_or(Ok(()), finish_csv)?;
        Ok(self.rows)
    }
}

fn create_csv(dir: &Path, name: &str) -> Result<CsvFile, FileError> {
    let path = dir.join(format!("{name}.csv"));
    let file = create_beside(&path)?;
    Ok((path, CsvWriter::new(file)))
}

fn finish_csv((path, csv): CsvFile) -> Result<(), FileError> {
    let file = csv.finish().map_err(|e| FileError::at(&path, e))?;
    Ok(file.finish()?)
}

/// Writes a small table as a CSV file only.
pub(crate) fn write_csv(dir: &Path, name: &str, frame: &DataFrame) -> Result<(), FileError> {
    let (path, mut csv) = create_csv(dir, name)?;
    csv.write(frame).map_err(|e| FileError::at(&path, e))?;
    finish_csv((path, csv))
}

/// Writes a frame as `<name>.parquet`, and as `<name>.csv` if requested. Returns the number of rows.
pub(crate) fn write_table(
    dir: &Path,
    name: &str,
    (columns, frame): (&[ColumnDoc], &DataFrame),
    csv: bool,
) -> Result<usize, FileError> {
    let mut table = TableWriter::create(dir, name, columns, csv)?;
    table.write(frame)?;
    table.finish()
}

/// Writes a text file under a temporary name, and renames it when it is complete.
pub fn write_text(path: &Path, text: &str) -> Result<(), FileError> {
    write_bytes(path, text.as_bytes())
}

/// Writes a file under a temporary name, and renames it when it is complete.
pub fn write_bytes(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    let mut file = create_beside(path)?;
    file.write_all(bytes).map_err(|e| FileError::at(path, e))?;
    Ok(file.finish()?)
}

/// Reads a CSV file, whose columns have the types `types`. `None` if there is no such file.
pub(crate) fn read_csv(
    dir: &Path,
    name: &str,
    types: &[ColumnDoc],
) -> Result<Option<DataFrame>, FileError> {
    let path = dir.join(format!("{name}.csv"));
    let file = if_exists(open_file(&path)).map_err(|e| FileError::at(&path, e))?;
    let read = file.map(|file| deadloop_tables::read_csv(file, types));
    read.transpose().map_err(|e| FileError::at(&path, e))
}

/// Reads the named columns of `<name>.parquet`, or all if none is named. `None` if there is no such file.
pub(crate) fn read_parquet(
    dir: &Path,
    name: &str,
    columns: &[&str],
) -> Result<Option<DataFrame>, FileError> {
    let path = dir.join(format!("{name}.parquet"));
    let file = if_exists(open_file(&path)).map_err(|e| FileError::at(&path, e))?;
    let read = file.map(|file| deadloop_tables::read_parquet(file, columns, 0..usize::MAX));
    read.transpose().map_err(|e| FileError::at(&path, e))
}

/// Reads the named columns of a table from its Parquet file, or else from its CSV file. The columns of the CSV file
/// have the types `types`.
pub(crate) fn read_table(
    dir: &Path,
    name: &str,
    columns: &[&str],
    types: &[ColumnDoc],
) -> Result<Option<DataFrame>, FileError> {
    match read_parquet(dir, name, columns)? {
        Some(table) => Ok(Some(table)),
        None => read_csv(dir, name, types),
    }
}

/// Creates a temporary file in the folder of `path`, which is renamed to `path` when it is finished.
pub(super) fn create_beside(path: &Path) -> Result<UnfinishedFile, FileError> {
    Ok(UnfinishedFile::create(path, true)?)
}
