//! What a Parquet file holds and how its reading fails, in words that do not depend on polars.

use std::sync::Arc;

use serde_json::Value;

/// Why a Parquet file was not read or written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParquetError {
    /// It cannot be read, in the words of the reader.
    #[error("{0}")]
    Broken(String),
    /// The reader gave up in the middle: it panicked.
    #[error("broken Parquet; expected a whole Parquet file")]
    GaveUp,
    /// It cannot be written, in the words of the writer. A full disk is reported in the words of the format, so
    /// the message names that cause.
    #[error("cannot be written; is the disk full? {0}")]
    Unwritten(String),
}

/// A row: its cells as JSON, in the order of the columns. Lists and structs are JSON too; what JSON has no type for
/// (dates, times, bytes) is text.
pub type RowOfValues = Vec<(Arc<str>, Value)>;

/// A column of a Parquet file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowColumn {
    /// Its name.
    pub name: String,
    /// What its cells are.
    pub holds: Holds,
    /// Its type, as polars and others call it.
    pub type_name: String,
}

/// What the cells of a column are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holds {
    /// Text, also of few values that are numbered.
    Text,
    /// No value at all.
    Nothing,
    /// Something else that JSON can say.
    Value,
    /// Something that JSON cannot say.
    Other,
}

/// Rows that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lost {
    /// One row.
    Row(ParquetError),
    /// As many rows as this: a row group.
    Group(u64, ParquetError),
}
