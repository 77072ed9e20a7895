//! [`Gathered`]: what came of some cases, added up case by case, as far as scores and their intervals need it.

use super::sweep::Scoring;
use crate::intervals::{Intervals, Known, PoissonCache, Sample, bounds, intervals};
use crate::judge::Outcome;
use crate::measure::Worth;
use crate::scores::Scores;
use crate::tally::{AnyEvidence, Latencies, Tally};

/// Counts, latencies, and what each group adds.
#[derive(Default)]
pub(super) struct Gathered {
    tally: Tally,
    latencies: Latencies,
    groups: Sample,
}

impl Gathered {
    /// What came of the chosen cases under a setting; `groups`: the number of each case's group.
    pub(super) fn of<E: AnyEvidence>(
        scoring: &Scoring<'_, E>,
        groups: &[u64],
        (cell, pick): (usize, &[usize]),
    ) -> Self {
        let mut all = Self::default();
        let evidence = scoring.evidence;
        evidence.each_judged(cell, pick, scoring.judge, |i, _, outcome| {
            all.add(groups[i], &outcome);
        });
        all
    }

    /// Adds what came of a case of a group.
    pub(super) fn add(&mut self, group: u64, outcome: &Outcome) {
        self.tally += Tally::of(outcome);
        self.latencies.add(outcome);
        self.groups.add(group, outcome);
    }

    /// The scores, with intervals as if every transcript stood for itself.
    pub(super) fn scores(&mut self, worth: &Worth, cache: &mut PoissonCache) -> Scores {
        let latencies = std::mem::take(&mut self.latencies).sorted();
        let quantiles = latencies.of_loops(&self.tally);
        self.latencies = latencies;
        Scores::of(&self.tally, quantiles, worth, cache)
    }

    /// The scores with intervals over groups.
    pub(super) fn over_groups(mut self, worth: &Worth, known: &mut Known) -> Scores {
        let scores = self.scores(worth, &mut known.poisson);
        let intervals = bounds(self.groups, worth, known);
        scores.with(|measure| intervals.of(measure.name))
    }

    /// All intervals over groups.
    pub(super) fn intervals(self, worth: &Worth, known: &mut Known) -> Intervals {
        intervals(self.groups, worth, known)
    }
}
