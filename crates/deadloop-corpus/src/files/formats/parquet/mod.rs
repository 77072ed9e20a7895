//! Parquet: one transcript a row. `id`, `model`, `profile`, `group`, `lang` and the short forms of
//! the text are columns of text; `events`, `labels`, `meta` and `deadloop_rest` (the fields of a
//! line that have no column) are JSON in columns of text. Text may be categorical. Other columns are kept
//! as fields, dates and times as text.
//!
//! A row group at a time is held in memory. Without the feature `parquet` every such file is one
//! problem.

use std::io;
use std::path::Path;

use tempfile::NamedTempFile;

use super::{Effort, Format, Records, Sink, Source};

#[cfg(feature = "parquet")]
mod columns;
#[cfg(feature = "parquet")]
mod groups;
#[cfg(feature = "parquet")]
mod pages;
#[cfg(feature = "parquet")]
mod rows;
#[cfg(feature = "parquet")]
pub(crate) use columns::Columns;
#[cfg(feature = "parquet")]
pub(crate) use rows::{broken, guarded};

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
    Box::new(std::iter::once(Err(without().at(source.place(0)))))
}

/// Without the feature no Parquet file can be read.
#[cfg(not(feature = "parquet"))]
pub(crate) fn without() -> crate::transcript::wire::WireFault {
    let expected = "a build with the feature `parquet`, or JSON lines";
    crate::transcript::wire::WireFault::new("this build cannot read Parquet", expected)
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
