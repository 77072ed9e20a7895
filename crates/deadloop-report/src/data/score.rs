//! [`Score`]: the scores of a setting on a model.

use crate::numbers::Estimate;
use deadloop_score::{Metric, Scores, Stakes};

/// The scores of a setting on the transcripts of a model.
#[derive(Debug, Clone, Default)]
pub struct Score {
    /// The setting, as an index into [`ReportData::settings`](crate::ReportData::settings).
    pub setting: usize,
    /// The model, or [`ALL_MODELS`](crate::ALL_MODELS).
    pub model: String,
    /// The counts, the values of the measures and their intervals.
    pub scores: Scores,
    /// The costs of errors.
    pub worth: Stakes,
    /// Whether the estimates meet all limits of the run.
    pub meets: bool,
}

impl Score {
    /// Returns the value of a measure. `None` if it is n/a.
    pub fn value(&self, measure: Metric) -> Option<f64> {
        self.scores.value(measure)
    }

    /// Returns the value of a measure, with its 95 % interval if it has one.
    pub fn estimate(&self, measure: Metric) -> Estimate {
        let ends = self.scores.interval(measure);
        Estimate {
            value: self.value(measure),
            low: ends.map(|ends| ends.lo),
            high: ends.map(|ends| ends.hi),
        }
    }

    /// Returns the number of loops.
    pub fn loops(&self) -> u64 {
        self.scores.tally.loops()
    }

    /// Returns the number of clean transcripts.
    pub fn clean(&self) -> u64 {
        self.scores.tally.clean()
    }
}
