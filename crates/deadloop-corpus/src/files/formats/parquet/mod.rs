//! Parquet: one transcript per row.
//!
//! `id`, `model`, `profile`, `group`, `lang` and the short forms of the text are columns of text. `events`, `labels`,
//! `meta` and `deadloop_rest` (fields without a column) are JSON in columns of text. Text may be categorical. Other
//! columns are kept as fields, dates and times as text.
//!
//! One row group at a time is in memory. Without the feature `parquet`, every such file is reported as one problem.

use deadloop_tables::ParquetError;

use super::Format;
use crate::transcript::wire::WireFault;

mod groups;
mod rows;

/// The column of the fields without a column of their own, as a JSON object.
const REST: &str = "deadloop_rest";

pub(crate) const ENTRY: Format = Format {
    name: "parquet",
    endings: &[".parquet"],
    magic: b"PAR1",
    read: rows::read,
    create: groups::create,
};

/// Converts an error to the fault of a broken file.
pub fn fault(error: ParquetError) -> WireFault {
    let why = match error {
        ParquetError::GaveUp => "the reader gave up".to_owned(),
        ParquetError::Broken(why) | ParquetError::Unwritten(why) => why,
    };
    let first = why.lines().next().unwrap_or_default();
    WireFault::new(format!("broken Parquet: {first}"), "a whole Parquet file")
}
