//! [`Gathered`]: what came of some cases, added up case by case, as far as scores and their intervals need it.

use super::sweep::Scoring;
use crate::intervals::{Intervals, Known, PoissonCache, Sample, bounds, intervals};
use crate::judge::Outcome;
use crate::measure::Worth;
use crate::scores::Scores;
use crate::tally::{AnyEvidence, Latencies, Tally};
use crate::truth::Case;

/// Counts, latencies, and of each text once what its group adds.
#[derive(Default)]
pub(super) struct Gathered {
    tally: Tally,
    latencies: Latencies,
    once: Sample,
}

impl Gathered {
    /// What came of the chosen cases under a setting; `firsts`: which cases are the first with their text.
    pub(super) fn of<E: AnyEvidence>(
        scoring: &Scoring<'_, E>,
        firsts: &[bool],
        (cell, pick): (usize, &[usize]),
    ) -> Self {
        let mut all = Self::default();
        let evidence = scoring.evidence;
        evidence.each_judged(cell, pick, scoring.judge, |i, case, outcome| {
            all.add(case, &outcome, firsts[i]);
        });
        all
    }

    /// Adds what came of a case; `first`: whether it is the first with its text.
    pub(super) fn add(&mut self, case: &Case, outcome: &Outcome, first: bool) {
        self.tally += Tally::of(outcome);
        self.latencies.add(outcome);
        if first {
            self.once.add(case, outcome);
        }
    }

    /// The scores, with intervals as if every transcript stood for itself.
    pub(super) fn scores(&mut self, worth: &Worth, cache: &mut PoissonCache) -> Scores {
        let latencies = std::mem::take(&mut self.latencies).sorted();
        let (loops, hits) = (latencies.of_loops(&self.tally), latencies.of_hits());
        self.latencies = latencies;
        Scores::of(&self.tally, loops, hits, worth, cache)
    }

    /// The scores with intervals over groups, each text once.
    pub(super) fn over_groups(mut self, worth: &Worth, known: &mut Known) -> Scores {
        let scores = self.scores(worth, &mut known.poisson);
        let intervals = bounds(self.once, worth, known);
        scores.with(|measure| intervals.of(measure.name))
    }

    /// All intervals over groups, each text once.
    pub(super) fn intervals(self, worth: &Worth, known: &mut Known) -> Intervals {
        intervals(self.once, worth, known)
    }
}
