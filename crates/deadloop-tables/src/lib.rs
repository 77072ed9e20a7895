//! Tables as data frames of polars, with their schemas and their CSV and Parquet files.
//!
//! | to find | look in |
//! |---|---|
//! | declaration of a table's columns: name, type, unit, meaning | [`schema!`], [`table_row!`], [`Schema`] |
//! | data frames, and the cells of their columns | [`DataFrame`], [`texts`], [`ints`], [`floats`] |
//! | joins of two frames | [`join`] |
//! | CSV files, without formulas that a spreadsheet would run | [`CsvWriter`], [`read_csv`], [`escape_formula`] |
//! | Parquet files | [`ParquetWriter`], [`read_parquet`] |
//! | rows of any Parquet file as JSON | [`ParquetRows`] |
//!
//! No other crate depends on polars. This crate handles no paths, but reads and writes files opened by its callers.

// These macros panic if the reader of the output is gone.
#![deny(clippy::print_stderr, clippy::print_stdout)]

mod csv;
mod formula;
mod parquet;
mod rows;
mod schema;

pub use csv::{CsvWriter, cell_text, number, read_csv};
pub use formula::escape_formula;
pub use parquet::{ParquetRows, ParquetWriter, read_parquet};
pub use polars;
pub use polars::prelude::DataFrame;
pub use polars_ops::prelude::JoinType;
pub use rows::{ParquetError, RowOfValues, RowsError};
pub use schema::{ColumnDoc, Schema, SchemaField, Type, floats, ints, join, texts};

/// The types of cells, under the names used in [`schema!`] and [`table_row!`].
pub mod cell {
    pub use crate::schema::{CellType, Float, Int, Text};
}
