//! Parquet: one transcript a row. `id`, `model`, `profile`, `group`, `lang` and the short forms of
//! the text are columns of text; `events`, `labels`, `meta` and `deadloop_rest` (the fields of a
//! line that have no column) are JSON in columns of text. Other columns of text are kept as fields.
//!
//! A row group at a time is held in memory. Without the feature `parquet` every such file is one
//! problem.

use std::io;
use std::path::Path;

use tempfile::NamedTempFile;

use super::{Effort, Format, Records, Sink, Source};

#[cfg(feature = "parquet")]
mod groups;
#[cfg(feature = "parquet")]
mod rows;

/// The column of those fields of a transcript that have no column of their own, a JSON object.
#[cfg(feature = "parquet")]
const REST: &str = "deadloop_rest";

pub(crate) const ENTRY: Format = Format {
    name: "parquet",
    endings: &[".parquet"],
    magic: b"PAR1",
    read,
    create,
};

#[cfg(feature = "parquet")]
fn read(source: Source) -> Records {
    rows::read(source)
}

#[cfg(not(feature = "parquet"))]
fn read(source: Source) -> Records {
    let what = "this build cannot read Parquet";
    let expected = "a build with the feature `parquet`, or JSON lines";
    Box::new(std::iter::once(Err(crate::Problem::new(
        source.place(0),
        what,
        expected,
    ))))
}

#[cfg(feature = "parquet")]
fn create(file: NamedTempFile, _: &Path, _: Effort) -> io::Result<Box<dyn Sink>> {
    groups::create(file)
}

#[cfg(not(feature = "parquet"))]
fn create(_: NamedTempFile, _: &Path, _: Effort) -> io::Result<Box<dyn Sink>> {
    Err(io::Error::other(
        "this build cannot write Parquet (feature `parquet`)",
    ))
}
