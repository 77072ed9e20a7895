//! The content and errors of Parquet files, in types independent of polars.

use std::sync::Arc;

use serde_json::Value;

/// The reason why a Parquet file was not read or written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParquetError {
    /// The file cannot be read. The text is the reader's.
    #[error("{0}")]
    Broken(String),
    /// The reader panicked.
    #[error("broken Parquet; expected a whole Parquet file")]
    GaveUp,
    /// The file cannot be written. The text is the writer's. The message adds the possibility of a full disk, which the
    /// writer does not name.
    #[error("cannot be written; is the disk full? {0}")]
    Unwritten(String),
}

/// A row: its cells as JSON, in the order of the columns. Lists and structs are JSON too. Types that JSON lacks (dates,
/// times, bytes) are text.
pub type RowOfValues = Vec<(Arc<str>, Value)>;

/// Rows that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RowsError {
    /// A single row.
    Row(ParquetError),
    /// A row group of this many rows.
    Group(u64, ParquetError),
}
