//! A folder of results, read back: all that a report is made from.

use std::collections::BTreeMap;
use std::path::Path;

use super::manifest::Manifest;
use super::store::{FileError, read_csv, read_parquet};
use super::table::Table;
use crate::evidence::Evidence;
use crate::judging::JudgeOptions;
use crate::metric::Metric;
use crate::scores::Worth;
use crate::tally::Tally;

/// The columns of `outcomes.parquet` that a report shows: it has a row for each transcript, so what
/// nobody reads is not held in memory.
const SHOWN: [&str; 16] = [
    "transcript",
    "model",
    "setting",
    "kind",
    "channel",
    "alarm_channel",
    "onset",
    "end",
    "length",
    "verdict",
    "alarm_at",
    "alarm_kind",
    "detector",
    "latency",
    "lost",
    "error",
];

/// What a run left. A file that the command did not write is `None`; CSV files are read as text.
#[derive(Clone, Debug, PartialEq)]
pub struct Results {
    /// `manifest.json`.
    pub manifest: Manifest,
    /// `scores.parquet`.
    pub scores: Table,
    /// `scores_by.parquet`.
    pub scores_by: Option<Table>,
    /// `outcomes.parquet`, of its columns only those that a report shows.
    pub outcomes: Option<Table>,
    /// `pareto.csv`.
    pub pareto: Option<Table>,
    /// `intervals.csv`.
    pub intervals: Option<Table>,
    /// `choice.csv`.
    pub choice: Option<Table>,
}

impl Results {
    /// Reads a folder.
    ///
    /// # Errors
    /// `manifest.json` or `scores.parquet` is not there, or some file cannot be read.
    pub fn read(dir: &Path) -> Result<Self, FileError> {
        let missing = || {
            FileError::at(
                &dir.join("scores.parquet"),
                "no such file; expected a run's results",
            )
        };
        Ok(Self {
            manifest: Manifest::read(dir)?,
            scores: read_parquet(dir, "scores", &[])?.ok_or_else(missing)?,
            scores_by: read_parquet(dir, "scores_by", &[])?,
            outcomes: read_parquet(dir, "outcomes", &SHOWN)?,
            pareto: read_csv(dir, "pareto")?,
            intervals: read_csv(dir, "intervals")?,
            choice: read_csv(dir, "choice")?,
        })
    }
}

/// The means over models of every metric under one setting, by name; a model for which a metric is
/// n/a does not count in it, and a metric that is n/a for all is not there.
pub fn macro_means(
    evidence: &Evidence,
    cell: usize,
    judge: &JudgeOptions,
    worth: &Worth,
) -> BTreeMap<String, f64> {
    let models = evidence.models();
    let tallies: Vec<Tally> = models
        .values()
        .map(|pick| evidence.tally(cell, pick, judge))
        .collect();
    let mean = |metric: Metric| {
        let values: Vec<f64> = tallies
            .iter()
            .filter_map(|t| metric.value(t, worth))
            .collect();
        let n = values.len() as f64;
        (n > 0.0).then(|| (metric.name(), values.iter().sum::<f64>() / n))
    };
    Metric::ALL.into_iter().filter_map(mean).collect()
}
