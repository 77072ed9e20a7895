//! `repairs.parquet` and `arguments.csv`: the results of `deadloop repair`.

use std::path::Path;

use super::store::{FileError, write_csv, write_table};
use deadloop_tables::table_row;

table_row! {
    /// A row of `repairs.parquet`: the repair of one stream by one variant.
    pub struct RepairRow {
        /// The transcript's id.
        transcript: Text,
        /// The fault of the stream. Empty: intact.
        fault: Text,
        /// The degree of the fault, 0 for none.
        severity: Int,
        /// The variant of the repairer.
        variant: Text,
        /// The verdict: recovered, wrong, lost, leaked, false-repair, intact; error: the repairer failed.
        verdict: Text,
        /// Details of the verdict.
        detail: Text,
        /// The most chars held back at one time. Empty for events, programs and the unrepaired stream.
        held: Int["chars"],
        /// The most chars read without output. Empty for events, programs and the unrepaired stream.
        silence: Int["chars"],
        /// The repairer of the variant.
        repairer: Text,
        /// The model.
        model: Text,
        /// The group: transcripts that belong together, as the answers to one prompt.
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
    write_table(dir, "repairs", (&schema.docs(), &schema.frame(&rows)), csv)
}

table_row! {
    /// A row of `arguments.csv`: the repair by one variant of the invalid JSON arguments of one source.
    pub struct ArgumentRow {
        /// The source, or else the model.
        source: Text,
        /// The variant of the repairer.
        variant: Text,
        /// The number of arguments that are no JSON.
        broken: Int["calls"],
        /// The number of these that are JSON after the repair.
        parsed: Int["calls"],
        /// The number of these that are a JSON object after the repair.
        objects: Int["calls"],
        /// The number of these that have the fields and types of the tool's other calls.
        schema_valid: Int["calls"],
        /// The number of these on which the repairer failed.
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
