//! The scores of a setting: counts, and every measure of them by the table of `deadloop-score`.

use crate::numbers::Estimate;
use deadloop_score::{Metric, PoissonCache, Quantiles, Tally, Worth};
use std::collections::BTreeMap;

/// The scores of a setting on a model's transcripts.
#[derive(Debug, Clone, Default)]
pub struct Score {
    /// Index into [`ReportData::settings`](crate::ReportData::settings).
    pub setting: usize,
    /// The model, or [`ALL_MODELS`](crate::ALL_MODELS).
    pub model: String,
    /// What every measure is computed from.
    pub tally: Tally,
    /// Latencies over all loops.
    pub latency: Quantiles,
    /// What errors cost.
    pub worth: Worth,
    /// Intervals that were written, by measure; of the others the closed form holds.
    pub intervals: BTreeMap<&'static str, deadloop_score::Interval>,
    /// Whether it is within all limits of the run, by estimate.
    pub meets: bool,
    /// The mean over models of recall and of `fa_per_mchar`, where it was computed.
    pub macro_means: [Option<f64>; 2],
}

impl Score {
    /// The value of a measure; `None` where it is n/a.
    pub fn value(&self, measure: Metric) -> Option<f64> {
        measure.value(&self.tally, &self.worth)
    }

    /// The value of a measure with its 95 % interval, where it has one.
    pub fn of(&self, measure: Metric) -> Estimate {
        let written = self.intervals.get(measure.name).copied();
        let closed = || measure.interval(&self.tally, &mut PoissonCache::default());
        let ends = written.or_else(closed);
        Estimate {
            value: self.value(measure),
            low: ends.map(|ends| ends.lo),
            high: ends.map(|ends| ends.hi),
        }
    }

    /// Its loops.
    pub fn loops(&self) -> u64 {
        self.tally.loops()
    }

    /// Its clean transcripts.
    pub fn clean(&self) -> u64 {
        self.tally.clean()
    }
}
