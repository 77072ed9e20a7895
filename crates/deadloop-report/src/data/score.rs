//! The scores of a setting, with what a report adds to them.

use crate::numbers::Estimate;
use deadloop_score::{Metric, Scores, Worth};

/// The scores of a setting on a model's transcripts.
#[derive(Debug, Clone, Default)]
pub struct Score {
    /// Index into [`ReportData::settings`](crate::ReportData::settings).
    pub setting: usize,
    /// The model, or [`ALL_MODELS`](crate::ALL_MODELS).
    pub model: String,
    /// Counts, measures, intervals.
    pub scores: Scores,
    /// The price of errors.
    pub worth: Worth,
    /// Whether it is within all limits of the run, by estimate.
    pub meets: bool,
    /// The mean over models of recall and of `fa_per_mchar`, where it was computed.
    pub macro_means: [Option<f64>; 2],
}

impl Score {
    /// Returns the value of a measure. `None` where it is n/a.
    pub fn value(&self, measure: Metric) -> Option<f64> {
        self.scores.value(measure)
    }

    /// Returns the value of a measure with its 95 % interval, where it has one.
    pub fn of(&self, measure: Metric) -> Estimate {
        let ends = self.scores.interval(measure);
        Estimate {
            value: self.value(measure),
            low: ends.map(|ends| ends.lo),
            high: ends.map(|ends| ends.hi),
        }
    }

    /// Returns its loops.
    pub fn loops(&self) -> u64 {
        self.scores.tally.loops()
    }

    /// Returns its clean transcripts.
    pub fn clean(&self) -> u64 {
        self.scores.tally.clean()
    }
}
