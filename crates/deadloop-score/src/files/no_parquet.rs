//! In place of `parquet.rs` where polars is not built in, as in the packages for Python and node: there is nothing
//! that writes or reads Parquet, and whoever asks is told so.

use std::path::{Path, PathBuf};

use super::store::FileError;
use super::table::{Schema, Table};

/// A file that cannot be written.
pub(super) enum Packed {}

fn refused(path: &Path) -> FileError {
    FileError::at(path, "this build of deadloop has no Parquet")
}

impl Packed {
    pub(super) fn create(path: PathBuf, _: &Schema) -> Result<Self, FileError> {
        Err(refused(&path))
    }

    pub(super) fn write(&mut self, _: Table) -> Result<(), FileError> {
        match *self {}
    }

    pub(super) fn finish(self) -> Result<(), FileError> {
        match self {}
    }
}

pub(crate) fn parquet_shape(path: &Path) -> Result<Option<(Vec<String>, usize)>, FileError> {
    Err(refused(path))
}

pub(crate) fn read_parquet(
    path: &Path,
    _: &[&str],
    _: (usize, usize),
) -> Result<Option<Table>, FileError> {
    Err(refused(path))
}
