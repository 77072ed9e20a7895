//! Parquet: one transcript a row. `id`, `model`, `profile`, `group`, `lang` and the short forms of
//! the text are columns of text; `events`, `labels`, `meta` and `deadloop_rest` (the fields of a
//! line that have no column) are JSON in columns of text. Other columns of text are kept as fields.
//!
//! A row group at a time is held in memory. Without the feature `parquet` every such file is one
//! problem.

use super::{Format, Records, Source};

#[cfg(feature = "parquet")]
mod rows;

pub(crate) const ENTRY: Format = Format {
    name: "parquet",
    endings: &[".parquet"],
    magic: b"PAR1",
    read,
};

#[cfg(feature = "parquet")]
fn read(source: Source) -> Records {
    rows::read(source)
}

#[cfg(not(feature = "parquet"))]
fn read(source: Source) -> Records {
    let what = "this build cannot read Parquet";
    let expected = "a build with the feature `parquet`, or JSON lines";
    Box::new(std::iter::once(Err(crate::Problem::new(source.place(0), what, expected))))
}
