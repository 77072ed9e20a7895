//! Rows and errors of Parquet files, in types independent of polars.

use std::sync::Arc;

use serde_json::Value;

/// The reasons why a Parquet file cannot be read or written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParquetError {
    /// The file cannot be read. Holds the reader's message.
    #[error("{0}")]
    Broken(String),
    /// The reader panicked.
    #[error("broken Parquet; expected a whole Parquet file")]
    GaveUp,
    /// The file cannot be written. Holds the writer's message, which never names a full disk, so the error asks about
    /// it.
    #[error("cannot be written; is the disk full? {0}")]
    Unwritten(String),
}

/// A row as column names and JSON cells, in the order of the columns.
///
/// Lists and structs are JSON too. Types that JSON lacks (dates, times, bytes) are text.
pub type RowOfValues = Vec<(Arc<str>, Value)>;

/// Rows that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RowsError {
    /// A single row.
    Row(ParquetError),
    /// A row group, with its number of rows.
    Group(u64, ParquetError),
}
