//! `repairs.parquet` and `arguments.csv`: the results of `deadloop repair`.

use std::path::Path;

use super::store::{FileError, write_csv, write_table};
use deadloop_tables::table_row;

table_row! {
    /// A row of `repairs.parquet`: a stream repaired by a variant.
    pub struct RepairRow {
        /// The transcript's id.
        transcript: Text,
        /// The fault of the stream; empty: it was intact.
        fault: Text,
        /// The degree of the fault, 0 for none.
        severity: Int,
        /// The variant of the repairer.
        variant: Text,
        /// What became of it: recovered, wrong, lost, leaked, false-repair, intact; error: the repairer failed.
        verdict: Text,
        /// What is to be said of it.
        detail: Text,
        /// The most that waited at one time; empty for events, programs and the stream as it is.
        held: Int["chars"],
        /// The most that was read without anything coming out; empty likewise.
        silence: Int["chars"],
        /// The repairer that the variant stands beside.
        repairer: Text,
        /// The model.
        model: Text,
        /// What belongs together.
        group: Text,
        /// The split.
        split: Text,
    }
}

/// Writes `repairs.parquet`, and `repairs.csv` if requested. Returns the number of rows.
///
/// # Errors
/// A file cannot be written.
pub fn write_repairs(
    dir: &Path,
    rows: impl IntoIterator<Item = RepairRow>,
    csv: bool,
) -> Result<usize, FileError> {
    let (schema, rows) = (RepairRow::schema(), Vec::from_iter(rows));
    write_table(
        dir,
        "repairs",
        (&schema.described(), &schema.frame(&rows)),
        csv,
    )
}

table_row! {
    /// A row of `arguments.csv`: a variant on the invalid JSON arguments of a source.
    pub struct ArgumentRow {
        /// The source, or else the model.
        source: Text,
        /// The variant of the repairer.
        variant: Text,
        /// How many arguments are no JSON.
        broken: Int["calls"],
        /// How many of them are JSON when they are repaired.
        parsed: Int["calls"],
        /// How many are a JSON object.
        objects: Int["calls"],
        /// How many have the fields and types that other calls of the tool have.
        schema_valid: Int["calls"],
        /// On how many the repairer failed.
        errors: Int["calls"],
    }
}

/// Writes `arguments.csv`.
///
/// # Errors
/// The file cannot be written.
pub fn write_arguments(dir: &Path, rows: &[ArgumentRow]) -> Result<(), FileError> {
    write_csv(dir, "arguments", &ArgumentRow::schema().frame(rows))
}
