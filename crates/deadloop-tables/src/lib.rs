//! Tables as frames of polars: their schemas, and their files in CSV and Parquet.
//!
//! | to find | look in |
//! |---|---|
//! | the columns of a table in one list: name, type, unit, meaning | [`schema!`], [`table_row!`], [`Schema`] |
//! | a frame, and the cells of a column of it | [`DataFrame`], [`texts`], [`ints`], [`floats`] |
//! | the join of two frames | [`join`] |
//! | a frame as CSV, without formulas that a spreadsheet would run | [`CsvWriter`], [`read_csv`], [`unrunnable`] |
//! | a frame as Parquet | [`ParquetWriter`], [`read_parquet`] |
//! | the rows of any Parquet file as JSON, lists and structs too | [`ParquetRows`] |
//!
//! No other crate depends on polars. This crate handles no paths: it reads and writes files that its callers opened.

#![deny(
    clippy::print_stderr,
    clippy::print_stdout,
    reason = "they panic where nobody reads any more"
)]

mod csv;
mod formula;
mod parquet;
mod rows;
mod schema;

pub use csv::{CsvWriter, cell_text, number, read_csv};
pub use formula::unrunnable;
pub use parquet::{ParquetRows, ParquetWriter, read_parquet};
pub use polars;
pub use polars::prelude::DataFrame;
pub use polars_ops::prelude::JoinType;
pub use rows::{ParquetError, RowOfValues, RowsError};
pub use schema::{ColumnDoc, Schema, SchemaField, Type, floats, ints, join, texts};

/// The types of cells, as [`schema!`] and [`table_row!`] name them.
pub mod cell {
    pub use crate::schema::{CellType, Float, Int, Text};
}
