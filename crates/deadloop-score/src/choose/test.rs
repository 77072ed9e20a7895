//! The paired test between two ways to run a guard on the same transcripts: [`PairedTest`].

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{Candidate, ChooseOptions, Chooser, Sample};
use crate::intervals::{ByGroup, Resampling, quantile};
use crate::tally::{Count, Tally};

deadloop_replay::detect::words! {
    /// The rule by which a guard replaces another.
    pub enum Ship {
        /// The objective is better.
        Better = "better",
        /// It has fewer wrong alarms and loses next to nothing.
        Safer = "safer",
    }
}

/// One guard against another on the same transcripts: each text once, labels in doubt left out. Intervals are 80 %
/// percentiles of the bootstrap over groups. Differences are newcomer less incumbent, turned so that more is better.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PairedTest {
    /// The difference in the objective. `None` where it is n/a.
    pub difference: Option<f64>,
    /// The lower end of its interval.
    pub lo: f64,
    /// The upper end.
    pub hi: f64,
    /// One point: 0.01 of a share, otherwise 1 % of the incumbent's value.
    pub point: f64,
    /// Wrong alarms of the newcomer and of the incumbent.
    pub wrong: [u64; 2],
    /// The upper end of the interval of their difference.
    pub wrong_hi: f64,
    /// Loops that the incumbent ends.
    pub ended: u64,
    /// Loops among these that the newcomer does not end.
    pub lost: u64,
}

impl PairedTest {
    /// Tests pairs of a group's name, the newcomer's tally and the incumbent's.
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
        let drawn = ByGroup::of(groups).draw(Resampling {
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

    /// Whether the objective is surely better. `is_within`: the newcomer's wrong alarms are within the limit by estimate.
    pub(super) fn is_better(&self, is_within: bool) -> bool {
        self.lo > 0.0 && (is_within || self.wrong[0] <= self.wrong[1])
    }

    /// Whether there are surely fewer wrong alarms, at a loss of no point and of one loop in a hundred at most.
    pub(super) fn is_safer(&self) -> bool {
        // Points are quotients: one must not be missed by the last bit.
        self.wrong_hi < 0.0 && self.lo >= -self.point - 1e-12 && self.lost <= self.ended / 100
    }

    /// Returns a difference in points.
    pub fn in_points(&self, difference: f64) -> f64 {
        if self.point > 0.0 {
            difference / self.point
        } else {
            0.0
        }
    }
}

impl Chooser<'_> {
    /// Tests a candidate against another on a sample. Returns the newcomer's tally too.
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

    /// Returns by which rule the newcomer of a test replaces the incumbent. `is_within`: its wrong alarms are within the limit.
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
