//! [`ResultFolder`]: the results of a run, as a report reads them.

use std::collections::BTreeMap;
use std::path::Path;

use deadloop_tables::DataFrame;

use super::choice::choice_schema;
use super::manifest::Manifest;
use super::store::{FileError, read_csv, read_parquet};
use crate::judge::JudgeOptions;
use crate::measure::{Metric, Stakes, measures};
use crate::tally::{AnyEvidence, Tally};

/// The files of a run that a report reads.
#[derive(Clone, Debug)]
pub struct ResultFolder {
    /// `manifest.json`.
    pub manifest: Manifest,
    /// `scores.parquet`.
    pub scores: DataFrame,
    /// `choice.csv`. `None` if the command made no choice.
    pub choice: Option<DataFrame>,
}

impl ResultFolder {
    /// Reads the results in a folder.
    ///
    /// # Errors
    /// `manifest.json` or `scores.parquet` is missing, or a file cannot be read.
    pub fn read(dir: &Path) -> Result<Self, FileError> {
        let manifest = Manifest::read(dir)?;
        let types = choice_schema(manifest.judge.unit).docs();
        let missing = || {
            FileError::at(
                &dir.join("scores.parquet"),
                "no such file; expected a run's results",
            )
        };
        Ok(Self {
            scores: read_parquet(dir, "scores", &[])?.ok_or_else(missing)?,
            choice: read_csv(dir, "choice", &types)?,
            manifest,
        })
    }
}

/// Reads the named columns of `outcomes.parquet`, or all if none is named. `None` if there is no such file.
///
/// # Errors
/// The file cannot be read.
pub fn read_outcomes(dir: &Path, columns: &[&str]) -> Result<Option<DataFrame>, FileError> {
    read_parquet(dir, "outcomes", columns)
}

/// Returns the mean over models of every metric under one setting, by the metric's name.
///
/// A model in which the metric is n/a is left out. A metric without any value is left out.
pub fn macro_means(
    evidence: &impl AnyEvidence,
    cell: usize,
    judge: &JudgeOptions,
    worth: &Stakes,
) -> BTreeMap<String, f64> {
    let models = evidence.by_model();
    let tallies: Vec<Tally> = models
        .values()
        .map(|pick| evidence.tally_of(cell, pick, judge))
        .collect();
    let mean = |metric: Metric| {
        let values: Vec<f64> = tallies
            .iter()
            .filter_map(|t| metric.value(t, worth))
            .collect();
        let n = values.len() as f64;
        (n > 0.0).then(|| (metric.name.to_owned(), values.iter().sum::<f64>() / n))
    };
    measures(judge.unit).filter_map(mean).collect()
}
