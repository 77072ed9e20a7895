//! Tables of typed columns, written and read as CSV and Parquet.
//!
//! | to find | look in |
//! |---|---|
//! | a table in memory: columns of text, whole numbers or numbers | [`Table`], [`TableCell`] |
//! | a table as a list of typed columns: written, read and documented by it | [`table_row!`], [`columns!`], [`column_names!`], [`Columns`], [`Rows`] |
//! | a table as CSV, without formulas that a spreadsheet would run | [`CsvTable`], [`read_csv`], [`unrunnable`] |
//! | a table as Parquet | [`ParquetWriter`], [`parquet_shape`], [`read_parquet`] |
//! | the rows of any Parquet file as JSON, lists and structs too | [`ParquetRows`] |
//!
//! This is the one crate that names polars, and none of its types is one of polars.
//!
//! It knows no path: it reads from files that are open, and writes to those that its callers made.

#![deny(
    clippy::print_stderr,
    clippy::print_stdout,
    reason = "they panic where nobody reads any more"
)]

mod column;
mod csv_table;
mod face;
mod formula;
mod named_rows;
mod parquet;
mod rows;
mod table;

pub use column::{Column, ColumnDoc, Columns};
pub use csv_table::{CsvTable, read_csv};
pub use face::{ParquetRows, ParquetWriter};
pub use formula::unrunnable;
pub use named_rows::Rows;
pub use parquet::{parquet_shape, read_parquet};
pub use rows::{Holds, Lost, ParquetError, RowColumn, RowOfValues};
pub use table::{Cells, Schema, Table, TableCell, Type, named};

/// The types of columns, and cells of them, as [`columns!`] and [`table_row!`] name them.
pub mod cell {
    pub use crate::column::{CellType, Float, Int, Text, TypedCell};
}
