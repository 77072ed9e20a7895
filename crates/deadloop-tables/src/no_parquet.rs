//! In place of `parquet/` where polars is not built in, as in the packages for Python and node and in the small program:
//! nothing writes or reads Parquet, and whoever asks is told how to get it.

use std::fs::File;
use std::ops::Range;

use crate::rows::{Lost, ParquetError, RowColumn, RowOfValues};
use crate::table::{Schema, Table};

/// A file that cannot be written.
pub(crate) enum Writer {}

impl Writer {
    pub(crate) fn new(_: File, _: &Schema) -> Result<Self, ParquetError> {
        Err(ParquetError::Missing)
    }

    pub(crate) fn write(&mut self, _: Table) -> Result<(), ParquetError> {
        match *self {}
    }

    pub(crate) fn finish(self) -> Result<(), ParquetError> {
        match self {}
    }
}

/// Returns [`ParquetError::Missing`].
///
/// # Errors
/// Always.
pub fn parquet_shape(_: File) -> Result<(Vec<String>, usize), ParquetError> {
    Err(ParquetError::Missing)
}

/// Returns [`ParquetError::Missing`].
///
/// # Errors
/// Always.
pub fn read_parquet(_: File, _: &[&str], _: Range<usize>) -> Result<Table, ParquetError> {
    Err(ParquetError::Missing)
}

/// Rows that cannot be read.
pub(crate) enum Rows {}

impl Rows {
    pub(crate) fn open(_: File) -> Result<Self, ParquetError> {
        Err(ParquetError::Missing)
    }

    pub(crate) fn columns(&self) -> Vec<RowColumn> {
        match *self {}
    }

    pub(crate) fn bytes_begun(&self) -> u64 {
        match *self {}
    }

    pub(crate) fn next(&mut self) -> Option<Result<RowOfValues, Lost>> {
        match *self {}
    }
}
