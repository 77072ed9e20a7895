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
        /// The guard has fewer wrong alarms, and its objective is at most one point worse.
        Safer = "safer",
    }
}

/// Comparison of two guards on the same transcripts.
///
/// Each text counts once, and labels in doubt are left out. Intervals are 80 % percentiles of the bootstrap over
/// groups. A difference is the newcomer's value minus the incumbent's, signed so that more is better.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PairedTest {
    /// The difference in the objective. `None` if it is n/a.
    pub difference: Option<f64>,
    /// The lower end of the interval of the difference in the objective.
    pub lo: f64,
    /// The upper end of the interval of the difference in the objective.
    pub hi: f64,
    /// The size of one point of the objective: 0.01 if it is a share, otherwise 1 % of the incumbent's value.
    pub point: f64,
    /// Number of wrong alarms of the newcomer, then of the incumbent.
    pub wrong: [u64; 2],
    /// The upper end of the interval of the difference in wrong alarms.
    pub wrong_hi: f64,
    /// Number of loops that the incumbent ends.
    pub ended: u64,
    /// Number of loops that the incumbent ends and the newcomer does not.
    pub lost: u64,
    /// Number of loops that the newcomer ends and the incumbent does not.
    pub gained: u64,
}

impl PairedTest {
    /// Tests pairs of tallies, the newcomer's and the incumbent's. Each pair has the name of its group.
    pub(super) fn new(pairs: &[(&str, [Tally; 2])], options: &ChooseOptions) -> Self {
        let objective = options.objective;
        let counts: BTreeSet<Count> = objective.counts_used().chain(Count::WRONG).collect();
        let value = |tally: &Tally| objective.value(tally, &options.worth);
        let difference = |[new, old]: &[Tally; 2]| {
            let (new, old) = value(new).zip(value(old))?;
            Some(objective.sign() * (new - old))
        };
        let groups = pairs
            .iter()
            .map(|(group, sides)| (*group, sides.map(|side| side.only(&counts))));
        let drawn = GroupSums::new(groups).draw(Resampling {
            replicates: options.replicates,
            seed: options.seed,
        });
        let drawn = drawn.tallies().map(|sides| {
            let wrong = sides[0].wrong() as f64 - sides[1].wrong() as f64;
            (difference(&sides).unwrap_or(0.0), wrong)
        });
        let (mut differences, mut wrong): (Vec<f64>, Vec<f64>) = drawn.unzip();
        let sums = [0, 1].map(|side| pairs.iter().map(|(_, sides)| sides[side]).sum::<Tally>());
        let ends = |tally: &Tally| tally[Count::Hit] + tally[Count::Earlier] > 0;
        let count = |is: &dyn Fn(bool, bool) -> bool| {
            let ended = pairs.iter().map(|(_, sides)| sides.each_ref().map(ends));
            ended.filter(|[new, old]| is(*new, *old)).count() as u64
        };
        Self {
            difference: difference(&sums),
            lo: quantile(&mut differences, 0.1).unwrap_or(0.0),
            hi: quantile(&mut differences, 0.9).unwrap_or(0.0),
            point: objective.point(value(&sums[1]).unwrap_or(0.0)),
            wrong: sums.map(|sum| sum.wrong()),
            wrong_hi: quantile(&mut wrong, 0.9).unwrap_or(0.0),
            ended: count(&|_, old| old),
            lost: count(&|new, old| old && !new),
            gained: count(&|new, old| new && !old),
        }
    }

    /// Returns whether the newcomer has surely fewer wrong alarms, and loses at most one point and one loop in a
    /// hundred.
    fn is_safer(&self) -> bool {
        // Points are quotients, so rounding must not miss one by the last bit.
        self.wrong_hi < 0.0 && self.lo >= -self.point - 1e-12 && self.lost <= self.ended / 100
    }

    /// Returns how many times as many transcripts it takes to prove a difference of this size. `None` if it is not
    /// above 0.
    pub(super) fn times_needed(&self) -> Option<f64> {
        let difference = self.difference.filter(|x| *x > 0.0)?;
        Some(((difference - self.lo) / difference).powi(2))
    }

    /// Converts a difference in the objective to points.
    pub(crate) fn in_points(&self, difference: f64) -> f64 {
        in_points(difference, self.point)
    }
}

/// Converts a difference to points of size `point`.
pub(super) fn in_points(difference: f64, point: f64) -> f64 {
    if point > 0.0 { difference / point } else { 0.0 }
}

/// A candidate with its test against an incumbent.
#[derive(Clone)]
pub(super) struct Trial {
    pub(super) candidate: Candidate,
    /// The candidate's counts on the sample.
    pub(super) tally: Tally,
    pub(super) test: PairedTest,
    /// The rule by which the candidate replaces the incumbent. `None` if it does not.
    pub(super) by: Option<Ship>,
}

impl Chooser<'_> {
    /// Tests a candidate against an incumbent on a sample. With `by_estimate`, a candidate with more wrong alarms must
    /// meet the limits by estimate.
    pub(super) fn trial(
        &self,
        sample: &Sample,
        candidate: Candidate,
        incumbent: &Candidate,
        by_estimate: bool,
    ) -> Trial {
        let each = |of: &Candidate| self.tallies(of.held_out().map(Some), &sample.pick);
        let (new, old) = (each(&candidate), each(incumbent));
        let tally = new.iter().copied().sum();
        let sides = new.into_iter().zip(old).map(<[Tally; 2]>::from);
        let pairs: Vec<(&str, [Tally; 2])> = self.groups(sample).zip(sides).collect();
        let test = PairedTest::new(&pairs, self.options);
        let others = self.options.meets_others(&tally);
        let is_over = by_estimate && !self.options.is_within(&tally);
        let is_kept = test.wrong[0] <= test.wrong[1] || !is_over;
        let by = if others && sample.has_enough_loops() && test.lo > 0.0 && is_kept {
            Some(Ship::Better)
        } else if others && sample.has_enough_for_safer() && test.is_safer() {
            Some(Ship::Safer)
        } else {
            None
        };
        Trial {
            candidate,
            tally,
            test,
            by,
        }
    }
}
