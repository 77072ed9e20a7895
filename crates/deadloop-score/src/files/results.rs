//! A folder of results, read back: all that a report is made from.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::manifest::Manifest;
use super::store::{FileError, parquet_shape, read_csv, read_parquet};
use crate::judge::JudgeOptions;
use crate::measure::{Metric, Worth, measures};
use crate::tally::{AnyEvidence, Tally};
use deadloop_tables::Table;

/// What a run left. A file that the command did not write is `None`; CSV files are read as text.
#[derive(Clone, Debug, PartialEq)]
pub struct Results {
    /// `manifest.json`.
    pub manifest: Manifest,
    /// `scores.parquet`.
    pub scores: ScoresFile,
    /// `scores_by.parquet`.
    pub scores_by: Option<Table>,
    /// `outcomes.parquet`.
    pub outcomes: Option<Table>,
    /// `intervals.csv`.
    pub intervals: Option<Table>,
    /// `choice.csv`.
    pub choice: Option<Table>,
    /// `budget.csv`.
    pub budget: Option<Table>,
}

impl Results {
    /// Reads a folder.
    ///
    /// # Errors
    /// `manifest.json` or `scores.parquet` is not there, or some file cannot be read.
    pub fn read(dir: &Path) -> Result<Self, FileError> {
        let outcomes = read_parquet(&dir.join(OUTCOMES), &[], 0..usize::MAX)?;
        let others = Self::but_outcomes(dir)?;
        Ok(Self { outcomes, ..others })
    }

    /// The same without the outcomes, which [`each_outcomes`] hands out: they have a row for each transcript.
    ///
    /// # Errors
    /// As those of [`read`](Self::read).
    pub fn but_outcomes(dir: &Path) -> Result<Self, FileError> {
        let scores_by = dir.join("scores_by.parquet");
        Ok(Self {
            manifest: Manifest::read(dir)?,
            scores: ScoresFile::open(dir)?,
            scores_by: read_parquet(&scores_by, &[], 0..usize::MAX)?,
            outcomes: None,
            intervals: read_csv(dir, "intervals")?,
            choice: read_csv(dir, "choice")?,
            budget: read_csv(dir, "budget")?,
        })
    }
}

const OUTCOMES: &str = "outcomes.parquet";

/// Rows of outcomes in memory at a time: a row group as it is written.
const PART: usize = 1 << 14;

/// Hands out `outcomes.parquet`, some rows at a time, in their order; nothing where there is no such file.
///
/// # Errors
/// It cannot be read.
pub fn each_outcomes<E: From<FileError>>(
    dir: &Path,
    mut visit: impl FnMut(Table) -> Result<(), E>,
) -> Result<(), E> {
    let path = dir.join(OUTCOMES);
    let rows = parquet_shape(&path)?.map_or(0, |(_, rows)| rows);
    for first in (0..rows).step_by(PART) {
        let part = read_parquet(&path, &[], first..rows.min(first + PART))?;
        let gone = || FileError::at(&path, "it vanished while it was read");
        visit(part.ok_or_else(gone)?)?;
    }
    Ok(())
}

/// `scores.parquet`, read some rows at a time: a sweep leaves one for each cell and model.
#[derive(Clone, Debug, PartialEq)]
pub struct ScoresFile {
    path: PathBuf,
    names: Vec<String>,
    rows: usize,
}

impl ScoresFile {
    /// Rows in memory at a time: four row groups as they are written.
    const PART: usize = 1 << 16;

    fn open(dir: &Path) -> Result<Self, FileError> {
        let path = dir.join("scores.parquet");
        let missing = || FileError::at(&path, "no such file; expected a run's results");
        let (names, rows) = parquet_shape(&path)?.ok_or_else(missing)?;
        let mut file = Self { path, names, rows };
        file.rows = file.of_choice()?;
        Ok(file)
    }

    /// How many rows are in the unit of choice: they come first.
    fn of_choice(&self) -> Result<usize, FileError> {
        let (mut first, mut rows) = (None, 0);
        self.each(&["unit"], |part| {
            let unit = |row| part.text("unit", row).map(str::to_owned);
            let own = |row: &usize| unit(*row) == *first.get_or_insert_with(|| unit(*row));
            let here = (0..part.rows()).take_while(own).count();
            rows += here;
        })?;
        // Files of older versions say no unit.
        let said = self.names.iter().any(|name| name == "unit");
        Ok(if said { rows } else { self.rows })
    }

    /// The names of its columns, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    /// Hands out its rows in the unit of choice in order, part after part, of the named columns that it has; with none
    /// named, of all.
    pub fn each(&self, columns: &[&str], mut visit: impl FnMut(Table)) -> Result<(), FileError> {
        for first in (0..self.rows).step_by(Self::PART) {
            // Behind them are those in other units.
            let rows = first..self.rows.min(first + Self::PART);
            let part = read_parquet(&self.path, columns, rows)?;
            let gone = || FileError::at(&self.path, "it vanished while it was read");
            visit(part.ok_or_else(gone)?);
        }
        Ok(())
    }
}

/// The means over models of every metric under one setting, by name; a model for which a metric is
/// n/a does not count in it, and a metric that is n/a for all is not there.
pub fn macro_means(
    evidence: &impl AnyEvidence,
    cell: usize,
    judge: &JudgeOptions,
    worth: &Worth,
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
