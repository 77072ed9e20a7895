//! `repairs.parquet`, what became of each stream in the hands of each variant, and `scores.parquet` of `repair`:
//! counts and shares by variant and fault, with Wilson intervals.

use std::path::Path;

use super::store::{FileError, TableWriter};
use crate::intervals::{Interval, wilson};
use crate::judge::Mended;
use crate::repairs::RepairTally;
use deadloop_tables::{Schema, TableCell, Type};

/// A row of `repairs.parquet`.
#[derive(Clone, Debug, PartialEq)]
pub struct RepairRow {
    /// The transcript's id.
    pub transcript: String,
    /// The fault; none: it was intact.
    pub fault: Option<String>,
    /// Its degree, 0 for none.
    pub severity: u64,
    /// The variant's name.
    pub variant: String,
    /// The verdict; none: the repairer failed.
    pub verdict: Option<Mended>,
    /// What is to be said of it.
    pub detail: String,
    /// The most chars that waited at one time; `None` for events, programs and the stream as it is.
    pub held: Option<u64>,
    /// The most chars that were read without anything coming out; `None` likewise.
    pub silence: Option<u64>,
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
    let schema: Schema = [
        ("transcript", Type::Text),
        ("fault", Type::Text),
        ("severity", Type::Int),
        ("variant", Type::Text),
        ("verdict", Type::Text),
        ("detail", Type::Text),
        ("held", Type::Int),
        ("silence", Type::Int),
    ]
    .map(|(name, of)| (name.to_owned(), of))
    .to_vec();
    let mut table = TableWriter::create(dir, "repairs", schema, csv)?;
    for row in rows {
        table.push(vec![
            TableCell::text(row.transcript),
            TableCell::maybe(row.fault),
            TableCell::count(row.severity),
            TableCell::text(row.variant),
            TableCell::text(row.verdict.map_or("error", Mended::name)),
            TableCell::text(row.detail),
            whole(row.held),
            whole(row.silence),
        ])?;
    }
    table.finish()
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

/// A whole number of chars, or an empty cell.
fn whole(chars: Option<u64>) -> TableCell {
    TableCell::Int(chars.and_then(|chars| i64::try_from(chars).ok()))
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
    let mut schema: Schema = ["variant", "repairer", "params", "fault"]
        .map(|name| (name.to_owned(), Type::Text))
        .to_vec();
    let counts = ["damaged", "intact", "errors"].into_iter();
    let counts = counts.chain(SHARES.iter().map(|(name, _)| *name));
    schema.extend(counts.map(|name| (name.to_owned(), Type::Int)));
    for (name, _) in SHARES {
        for end in ["share", "lo", "hi"] {
            schema.push((format!("{name}_{end}"), Type::Float));
        }
    }
    schema.extend(["held_p95", "silence_p95"].map(|name| (name.to_owned(), Type::Int)));
    let mut table = TableWriter::create(dir, "scores", schema, csv)?;
    for score in scores {
        let tally = &score.tally;
        let mut row: Vec<TableCell> =
            [&score.variant, &score.repairer, &score.params, &score.fault]
                .map(|text| TableCell::text(text.as_str()))
                .to_vec();
        row.extend([tally.damaged(), tally.intact(), score.errors].map(TableCell::count));
        row.extend(SHARES.iter().map(|(_, v)| TableCell::count(tally.of(*v))));
        for (_, verdict) in SHARES {
            let (k, n) = share_of(tally, verdict);
            let Some(Interval { lo, hi }) = wilson(k, n) else {
                row.extend([None, None, None].map(TableCell::Float));
                continue;
            };
            row.extend([k as f64 / n as f64, lo, hi].map(|x| TableCell::Float(Some(x))));
        }
        row.extend([score.held, score.silence].map(whole));
        table.push(row)?;
    }
    table.finish()
}
