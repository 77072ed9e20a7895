//! Rows of scores, and whether each is within the limits of the run.

use crate::data::{ALL_MODELS, RunInfo, Score};
use deadloop_score::{
    Constraint, Interval, MEASURES, Manifest, Metric, ScoreRows, Tally, Worth,
    replay::detect::Unit, wrong_rate,
};
use std::collections::BTreeMap;

/// Intervals that were written, by setting and model, then by measure.
pub(super) type Written<'r> = BTreeMap<(&'r str, &'r str), BTreeMap<&'static str, Interval>>;

/// Makes scores of rows of `scores.parquet` or `scores_by.parquet`.
pub(super) struct ScoreReader {
    constraints: Vec<Constraint>,
    worth: Worth,
    unit: Unit,
    height: Metric,
}

/// The intervals of a row that have columns.
pub(super) fn written(
    rows: &ScoreRows<'_>,
    row: usize,
) -> BTreeMap<&'static str, deadloop_score::Interval> {
    let one = |measure: Metric| Some((measure.name, rows.interval(measure, row)?));
    MEASURES.into_iter().filter_map(one).collect()
}

impl ScoreReader {
    pub(super) fn new(manifest: &Manifest, run: &RunInfo) -> Self {
        Self {
            constraints: run.constraints.clone(),
            worth: manifest.worth,
            unit: manifest.judge.unit,
            height: run.height(),
        }
    }

    /// The rate of wrong alarms.
    pub(super) fn wrong(&self) -> Metric {
        wrong_rate(self.unit)
    }

    /// The height of the plane.
    pub(super) fn height(&self) -> Metric {
        self.height
    }

    /// The score of a row. Its intervals are those that were written where that is one of few rows: `*` of a grid has
    /// a hundred thousand, whose intervals are closed, and those of its settings with a name are in intervals.csv.
    pub(super) fn score(
        &self,
        rows: &ScoreRows<'_>,
        row: usize,
        setting: usize,
        model: &str,
    ) -> Score {
        let tally = rows.tally(row);
        Score {
            setting,
            model: model.to_owned(),
            meets: model == ALL_MODELS && self.meets(&tally),
            tally,
            latency: rows.latency(row),
            worth: self.worth,
            intervals: if model == ALL_MODELS {
                BTreeMap::new()
            } else {
                written(rows, row)
            },
            ..Score::default()
        }
    }

    /// The value of a measure in a row.
    pub(super) fn value(&self, measure: Metric, tally: &Tally) -> Option<f64> {
        measure.value(tally, &self.worth)
    }

    /// Whether it is within all limits, by estimate.
    fn meets(&self, tally: &Tally) -> bool {
        let mut limits = self.constraints.iter();
        limits.all(|limit| limit.estimate(tally, &self.worth).1)
    }
}
