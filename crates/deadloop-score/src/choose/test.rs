//! [`PairedTest`]: the paired test of two guards on the same transcripts.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{Candidate, ChooseOptions, Chooser, Sample};
use crate::intervals::{GroupSums, Resampling, quantile};
use crate::tally::{Count, Tally};

deadloop_replay::detect::words! {
    /// The rule by which a guard replaces another.
    pub enum Ship {
        /// The objective is better.
        Better = "better",
        /// The guard has fewer wrong alarms and loses next to nothing.
        Safer = "safer",
    }
}

/// Comparison of two guards on the same transcripts.
///
/// Each text counts once, and labels in doubt are left out. Intervals are 80 % percentiles of the bootstrap over
/// groups. Differences are newcomer minus incumbent, signed so that more is better.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PairedTest {
    /// The difference in the objective. `None` if it is n/a.
    pub difference: Option<f64>,
    /// The lower end of the interval of the difference.
    pub lo: f64,
    /// The upper end.
    pub hi: f64,
    /// The size of one point: 0.01 of a share, otherwise 1 % of the incumbent's value.
    pub point: f64,
    /// Wrong alarms of the newcomer, then of the incumbent.
    pub wrong: [u64; 2],
    /// The upper end of the interval of the difference in wrong alarms.
    pub wrong_hi: f64,
    /// Loops that the incumbent ends.
    pub ended: u64,
    /// Loops among these that the newcomer does not end.
    pub lost: u64,
}

impl PairedTest {
    /// Tests triples of a group's name, the newcomer's tally and the incumbent's tally.
    pub(super) fn new(pairs: &[(&str, Tally, Tally)], options: &ChooseOptions) -> Self {
        let ChooseOptions {
            objective, worth, ..
        } = options;
        let counts: BTreeSet<Count> = objective.counted().chain(Count::WRONG).collect();
        let value = |tally: &Tally| objective.value(tally, worth);
        let difference = |[new, old]: &[Tally; 2]| {
            let (new, old) = value(new).zip(value(old))?;
            Some(objective.sign() * (new - old))
        };
        let groups = pairs
            .iter()
            .map(|(group, new, old)| (*group, [new.only(&counts), old.only(&counts)]));
        let drawn = GroupSums::new(groups).draw(Resampling {
            replicates: options.replicates,
            seed: options.seed,
        });
        let (mut differences, mut wrong): (Vec<f64>, Vec<f64>) = drawn
            .tallies()
            .map(|sides| {
                let wrong = sides[0].wrong() as f64 - sides[1].wrong() as f64;
                (difference(&sides).unwrap_or(0.0), wrong)
            })
            .unzip();
        let sums = pairs
            .iter()
            .fold([Tally::default(); 2], |[a, b], (_, new, old)| {
                [a + *new, b + *old]
            });
        let ends = |tally: &Tally| tally[Count::Hit] + tally[Count::Earlier] > 0;
        let ended = pairs.iter().filter(|(_, _, old)| ends(old));
        Self {
            difference: difference(&sums),
            lo: quantile(&mut differences, 0.1).unwrap_or(0.0),
            hi: quantile(&mut differences, 0.9).unwrap_or(0.0),
            point: objective.point(value(&sums[1]).unwrap_or(0.0)),
            wrong: [sums[0].wrong(), sums[1].wrong()],
            wrong_hi: quantile(&mut wrong, 0.9).unwrap_or(0.0),
            ended: ended.clone().count() as u64,
            lost: ended.filter(|(_, new, _)| !ends(new)).count() as u64,
        }
    }

    /// Returns whether the objective is surely better. `is_within` says whether the newcomer meets the limits by
    /// estimate.
    pub(super) fn is_better(&self, is_within: bool) -> bool {
        self.lo > 0.0 && (is_within || self.wrong[0] <= self.wrong[1])
    }

    /// Returns whether wrong alarms are surely fewer, at a loss of at most one point and one loop in a hundred.
    pub(super) fn is_safer(&self) -> bool {
        // Points are quotients, so rounding must not miss one by the last bit.
        self.wrong_hi < 0.0 && self.lo >= -self.point - 1e-12 && self.lost <= self.ended / 100
    }

    /// Converts a difference to points.
    pub(crate) fn in_points(&self, difference: f64) -> f64 {
        if self.point > 0.0 {
            difference / self.point
        } else {
            0.0
        }
    }
}

impl Chooser<'_> {
    /// Tests a candidate against another on a sample, and returns the newcomer's tally too.
    pub(super) fn test(
        &self,
        sample: &Sample,
        new: &Candidate,
        old: &Candidate,
    ) -> (PairedTest, Tally) {
        let sides = self
            .tallies(new, &sample.pick)
            .into_iter()
            .zip(self.tallies(old, &sample.pick));
        let group = |i: &usize| self.evidence.cases[*i].cluster();
        let pairs = sample.pick.iter().map(group).zip(sides);
        let pairs: Vec<(&str, Tally, Tally)> =
            pairs.map(|(group, (new, old))| (group, new, old)).collect();
        let sum = pairs.iter().map(|(_, new, _)| *new).sum();
        (PairedTest::new(&pairs, self.options), sum)
    }

    /// Returns the rule by which the newcomer replaces the incumbent. `is_within` says whether the newcomer meets the
    /// limits by estimate.
    pub(super) fn ships(
        &self,
        sample: &Sample,
        (test, new): (&PairedTest, &Tally),
        is_within: bool,
    ) -> Option<Ship> {
        let others = self.options.meets_others(new);
        if others && sample.is_enough() && test.is_better(is_within) {
            Some(Ship::Better)
        } else if others && sample.is_enough_for_safer() && test.is_safer() {
            Some(Ship::Safer)
        } else {
            None
        }
    }
}
