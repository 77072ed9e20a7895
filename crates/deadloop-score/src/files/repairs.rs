//! `repairs.parquet`, what became of each stream in the hands of each variant, and `scores.parquet` of `repair`:
//! counts and shares by variant and fault, with Wilson intervals.

use std::path::Path;

use super::store::{FileError, write_csv, write_table};
use crate::intervals::{Interval, wilson};
use crate::judge::Mended;
use crate::repairs::RepairTally;
use deadloop_tables::{Columns, columns, table_row};

table_row! {
    /// A row of `repairs.parquet`: a stream in the hands of a variant.
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
        /// What belongs together in folds and intervals.
        group: Text,
        /// The split.
        split: Text,
        /// The hash of the text: copies have the same.
        text: Text,
    }
}

/// Writes `repairs.parquet`, and `repairs.csv` where asked for.
///
/// # Errors
/// A file that cannot be written.
pub fn write_repairs(
    dir: &Path,
    rows: impl IntoIterator<Item = RepairRow>,
    csv: bool,
) -> Result<usize, FileError> {
    write_table(dir, "repairs", &RepairRow::columns(), rows, csv)
}

/// A row of the scores: one variant on one fault (`*`: all damaged and intact streams together).
#[derive(Clone, Debug, PartialEq)]
pub struct RepairScore {
    /// The variant's name.
    pub variant: String,
    /// The repairer.
    pub repairer: String,
    /// The parameters that differ from the defaults.
    pub params: String,
    /// The fault, or `*`.
    pub fault: String,
    /// Its counts.
    pub tally: RepairTally,
    /// Streams on which it failed: in no share.
    pub errors: u64,
    /// The 95th percentile of the most chars that waited at one time; `None` for events, programs and the stream as it is.
    pub held: Option<u64>,
    /// The 95th percentile of the most chars that were read without anything coming out; `None` likewise.
    pub silence: Option<u64>,
}

/// The shares that have an interval: the name, the counts it is of.
pub const SHARES: [(&str, Mended); 5] = [
    ("recovered", Mended::Recovered),
    ("wrong", Mended::Wrong),
    ("lost", Mended::Lost),
    ("leaked", Mended::Leaked),
    ("false_repair", Mended::FalseRepair),
];

/// Of how many a verdict's share is: of the damaged streams, false repairs of the intact ones.
pub fn share_of(tally: &RepairTally, verdict: Mended) -> (u64, u64) {
    let all = match verdict {
        Mended::FalseRepair | Mended::Intact => tally.intact(),
        _ => tally.damaged(),
    };
    (tally.of(verdict), all)
}

/// Writes `scores.parquet`, and `scores.csv` where asked for.
///
/// # Errors
/// A file that cannot be written.
pub fn write_repair_scores(
    dir: &Path,
    scores: &[RepairScore],
    csv: bool,
) -> Result<usize, FileError> {
    write_table(dir, "scores", &repair_score_columns(), scores, csv)
}

/// The columns of the `scores.parquet` of `repair`.
pub(super) fn repair_score_columns() -> Columns<RepairScore> {
    let mut list = columns![RepairScore;
        ("variant", Text, "The variant of the repairer.", |row| &row.variant),
        ("repairer", Text, "The repairer.", |row| &row.repairer),
        ("params", Text, "Its parameters that differ from the defaults.", |row| &row.params),
        ("fault", Text, "The fault; `*`: all damaged and all intact streams together.", |row| &row.fault),
        ("damaged", Int["streams"], "How many streams were damaged.", |row| row.tally.damaged()),
        ("intact", Int["streams"], "How many were intact.", |row| row.tally.intact()),
        ("errors", Int["streams"], "On how many the repairer failed; they are in no share.", |row| row.errors),
    ];
    for (name, verdict) in SHARES {
        let about = format!("How many streams are {name}.");
        list.extend(columns![RepairScore;
            (name, Int["streams"], about, |row| row.tally.of(verdict)),
        ]);
    }
    for (name, verdict) in SHARES {
        let of = match verdict {
            Mended::FalseRepair => "intact",
            _ => "damaged",
        };
        let about = format!("The share of the {of} streams that are {name}.");
        let (lo, hi) = ("Its 95 % interval, from.", "Its 95 % interval, to.");
        list.extend(columns![RepairScore;
            (format!("{name}_share"), Float, about, |row| share(row, verdict).map(|(share, _)| share)),
            (format!("{name}_lo"), Float, lo, |row| share(row, verdict).map(|(_, ends)| ends.lo)),
            (format!("{name}_hi"), Float, hi, |row| share(row, verdict).map(|(_, ends)| ends.hi)),
        ]);
    }
    list.extend(columns![RepairScore;
        ("held_p95", Int["chars"], "The 95th percentile of the most that waited at one time.", |row| row.held),
        ("silence_p95", Int["chars"], "The 95th percentile of the most that was read without anything coming out.", |row| row.silence),
    ]);
    list
}

/// A verdict's share and its interval.
fn share(score: &RepairScore, verdict: Mended) -> Option<(f64, Interval)> {
    let (k, n) = share_of(&score.tally, verdict);
    Some((k as f64 / n as f64, wilson(k, n)?))
}

deadloop_tables::table_row! {
    /// A row of `arguments.csv`: a variant on the arguments of a source that are no JSON.
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
/// A file that cannot be written.
pub fn write_arguments(dir: &Path, rows: &[ArgumentRow]) -> Result<(), FileError> {
    let columns = ArgumentRow::columns();
    let cells = rows.iter().map(|row| columns.cells(row));
    write_csv(dir, "arguments", &columns.schema(), cells)
}
