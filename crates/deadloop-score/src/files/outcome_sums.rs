//! [`OutcomeSums`]: outcomes added up for scores and their intervals.

use crate::intervals::{Cache, GroupedSample, column_intervals};
use crate::judge::Outcome;
use crate::measure::Stakes;
use crate::scores::Scores;
use crate::tally::{Latencies, Tally};

/// Counts, latencies and sums by group of some outcomes.
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
        self.latencies.add(outcome);
        self.groups.add(group, outcome);
    }

    /// Returns the scores. Their intervals take transcripts as independent.
    pub(super) fn scores(&mut self, worth: &Stakes, known: &mut Cache) -> Scores {
        let latencies = std::mem::take(&mut self.latencies).sort();
        let quantiles = latencies.of_loops(&self.tally);
        self.latencies = latencies;
        Scores::new(&self.tally, quantiles, worth, &mut known.poisson)
    }

    /// Returns the scores with intervals over groups. `means` adds intervals of measures that are neither shares nor
    /// rates.
    pub(super) fn over_groups(mut self, worth: &Stakes, known: &mut Cache, means: bool) -> Scores {
        let mut scores = self.scores(worth, known);
        let intervals = column_intervals(self.groups, worth, known, means);
        scores.intervals = intervals;
        scores
    }
}
