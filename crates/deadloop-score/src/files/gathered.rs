//! [`Gathered`]: the results of some cases, added up as far as scores and their intervals need it.

use crate::intervals::{Known, Sample, bounds};
use crate::judge::Outcome;
use crate::measure::Worth;
use crate::scores::Scores;
use crate::tally::{Latencies, Tally};

/// Counts, latencies, and what each group adds.
#[derive(Default)]
pub(super) struct Gathered {
    tally: Tally,
    latencies: Latencies,
    groups: Sample,
}

impl Gathered {
    /// Adds the outcome of a case of a group.
    pub(super) fn add(&mut self, group: u64, outcome: &Outcome) {
        self.tally += Tally::of(outcome);
        self.latencies.add(outcome);
        self.groups.add(group, outcome);
    }

    /// Returns the scores, with intervals as if every transcript stood for itself.
    pub(super) fn scores(&mut self, worth: &Worth, known: &mut Known) -> Scores {
        let latencies = std::mem::take(&mut self.latencies).sorted();
        let quantiles = latencies.of_loops(&self.tally);
        self.latencies = latencies;
        Scores::of(&self.tally, quantiles, worth, &mut known.poisson)
    }

    /// Returns the scores with intervals over groups. `means`: also those of measures that are no share and no rate.
    pub(super) fn over_groups(mut self, worth: &Worth, known: &mut Known, means: bool) -> Scores {
        let mut scores = self.scores(worth, known);
        let intervals = bounds(self.groups, worth, known, means);
        scores.intervals = intervals;
        scores
    }
}
