//! [`OutcomeSums`]: sums of outcomes for scores and their intervals.

use crate::intervals::{GroupedSample, IntervalCache, column_intervals};
use crate::judge::Outcome;
use crate::measure::Stakes;
use crate::scores::Scores;
use crate::tally::{Latencies, Tally};

/// The counts, latencies and group sums of some outcomes.
#[derive(Default)]
pub(super) struct OutcomeSums {
    tally: Tally,
    latencies: Latencies,
    groups: GroupedSample,
}

impl OutcomeSums {
    /// Adds the outcome of a case to its group.
    pub(super) fn add(&mut self, group: u64, outcome: &Outcome) {
        self.tally += Tally::from_outcome(outcome);
        self.latencies.add_hit(outcome);
        self.groups.add_outcome(group, outcome);
    }

    /// Returns the scores, with intervals that treat transcripts as independent.
    pub(super) fn plain_scores(&mut self, worth: &Stakes, cache: &mut IntervalCache) -> Scores {
        let latencies = std::mem::take(&mut self.latencies).sort();
        let quantiles = latencies.of_loops(&self.tally);
        self.latencies = latencies;
        Scores::new(&self.tally, quantiles, worth, &mut cache.poisson)
    }

    /// Returns the scores with intervals over groups. If `means`, measures that are neither shares nor rates have
    /// intervals too.
    pub(super) fn group_scores(
        mut self,
        worth: &Stakes,
        cache: &mut IntervalCache,
        means: bool,
    ) -> Scores {
        let mut scores = self.plain_scores(worth, cache);
        let intervals = column_intervals(self.groups, worth, cache, means);
        scores.intervals = intervals;
        scores
    }
}
