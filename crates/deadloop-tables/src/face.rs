//! Parquet files as others see them: no type of polars shows.

use std::fs::File;

use crate::parquet::{Rows, Writer};
use crate::rows::{Lost, ParquetError, RowColumn, RowOfValues};
use crate::table::{Schema, Table};

/// A Parquet file being written, a row group at a time, packed with zstd.
pub struct ParquetWriter(Writer);

impl ParquetWriter {
    /// Begins a file.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn new(file: File, schema: &Schema) -> Result<Self, ParquetError> {
        Writer::new(file, schema).map(Self)
    }

    /// Writes one more row group.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write(&mut self, table: Table) -> Result<(), ParquetError> {
        self.0.write(table)
    }

    /// Writes what is left.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn finish(self) -> Result<(), ParquetError> {
        self.0.finish()
    }
}

/// The rows of a Parquet file in order. After an error it goes on with the rows behind it.
pub struct ParquetRows(Rows);

impl ParquetRows {
    /// Reads the file's own description.
    ///
    /// # Errors
    /// It is no whole Parquet file.
    pub fn open(file: File) -> Result<Self, ParquetError> {
        Rows::open(file).map(Self)
    }

    /// Its columns, in order.
    pub fn columns(&self) -> Vec<RowColumn> {
        self.0.columns()
    }

    /// The packed bytes of the row groups that were begun.
    pub fn bytes_begun(&self) -> u64 {
        self.0.bytes_begun()
    }
}

impl Iterator for ParquetRows {
    type Item = Result<RowOfValues, Lost>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next()
    }
}
