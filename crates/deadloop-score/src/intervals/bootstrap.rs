//! [`bootstrap`]: intervals over groups, for the few reported settings.
//!
//! A bootstrap of a grid of a hundred thousand cells would take an hour.
//!
//! If every group has one transcript, shares and rates keep their closed intervals. In larger groups, transcripts are
//! not independent, and the percentile bootstrap over groups is used. Its interval is never narrower than the
//! closed interval, nor than the interval of as many independent observations as there are groups.

use std::collections::BTreeSet;

use crate::intervals::{
    GroupTallies, Interval, PoissonCache, Replicates, Resampling, WeightCache, percentile, poisson,
    wilson_fractional,
};
use crate::judge::Outcome;
use crate::measure::{MEASURES, Metric, Stakes, UncertaintyMethod};
use crate::tally::{Count, Tally};
use crate::truth::{Case, group_numbers};

/// The 95 % interval of each measure. `None` if the measure was n/a in every replicate, or no interval was requested.
pub type Intervals = [Option<Interval>; MEASURES.len()];

/// Returns the interval of every measure over groups of cases. `outcomes` has the outcome of each of `cases`, in the
/// same order.
///
/// Copies of a text are in one group. An interval leaves out the replicates in which its measure is n/a. The cost is
/// the number of counts of all groups, times the replicates: a hundredth of a second for a thousand groups.
pub fn bootstrap(
    cases: &[Case],
    outcomes: &[Outcome],
    worth: &Stakes,
    resampling: Resampling,
) -> Intervals {
    let mut sample = GroupedSample::default();
    for (group, outcome) in group_numbers(cases).into_iter().zip(outcomes) {
        sample.add_outcome(group, outcome);
    }
    sample.intervals(|_| true, worth, &mut IntervalCache::new(resampling))
}

/// A cache that all reported settings share.
#[derive(Debug)]
pub(crate) struct IntervalCache {
    /// The exact Poisson intervals.
    pub(crate) poisson: PoissonCache,
    /// The weights of groups in the replicates.
    draws: WeightCache,
}

impl IntervalCache {
    /// Creates an empty cache.
    pub(crate) fn new(resampling: Resampling) -> Self {
        Self {
            poisson: PoissonCache::default(),
            draws: WeightCache::new(resampling),
        }
    }
}

/// Returns the intervals of the measures that have columns for them.
///
/// Shares and rates are resampled only if some group has several transcripts. Other measures always need resampling,
/// and have intervals only if `means`.
pub(crate) fn column_intervals(
    sample: GroupedSample,
    worth: &Stakes,
    cache: &mut IntervalCache,
    means: bool,
) -> Intervals {
    let wanted =
        |m: Metric| m.bounds.is_some() && (means || m.certainty != UncertaintyMethod::Resampled);
    sample.intervals(wanted, worth, cache)
}

/// Returns the smallest interval that contains two intervals.
fn join_intervals(a: Interval, b: Interval) -> Interval {
    Interval {
        lo: a.lo.min(b.lo),
        hi: a.hi.max(b.hi),
    }
}

/// The outcomes of a sample, summed by group.
#[derive(Debug, Default)]
pub(crate) struct GroupedSample {
    groups: GroupTallies,
    /// The sum over all groups.
    total: Tally,
}

impl GroupedSample {
    /// Adds the outcome of a case to its group.
    pub(crate) fn add_outcome(&mut self, group: u64, outcome: &Outcome) {
        let tally = Tally::from_outcome(outcome);
        self.groups.add_tally(group, &tally);
        self.total += tally;
    }

    /// Returns the intervals of the wanted measures. An interval is closed, resampled, or the union of both.
    fn intervals(
        mut self,
        wanted: impl Fn(Metric) -> bool,
        worth: &Stakes,
        cache: &mut IntervalCache,
    ) -> Intervals {
        self.groups.sort();
        let clustered = self.groups.has_several_in_one();
        let is_drawn =
            |m: &Metric| wanted(m) && (clustered || m.certainty == UncertaintyMethod::Resampled);
        let drawn: Vec<Metric> = MEASURES.into_iter().filter(is_drawn).collect();
        let mut values: Vec<Vec<f64>> = vec![Vec::new(); drawn.len()];
        if !drawn.is_empty() {
            // Only counts that a measure uses are added to the replicates.
            let counts = drawn.iter().flat_map(|m| m.counts_used()).collect();
            for tally in self.resample(&counts, &mut cache.draws) {
                let scores = drawn.iter().map(|m| m.value(&tally, worth));
                values
                    .iter_mut()
                    .zip(scores)
                    .for_each(|(all, one)| all.extend(one));
            }
        }
        let mut ends = values.iter_mut().map(|values| percentile(values));
        MEASURES.map(|m| {
            let resampled = is_drawn(&m).then(|| ends.next().flatten()).flatten();
            let closed = || m.interval(&self.total, &mut cache.poisson);
            let closed = wanted(m).then(closed).flatten();
            let by_groups = clustered.then(|| self.interval_of_groups(m)).flatten();
            let ends = match (resampled, closed) {
                (Some(ends), Some(closed)) => Some(join_intervals(ends, closed)),
                (ends, closed) => ends.or(closed),
            };
            ends.map(|ends| by_groups.map_or(ends, |groups| join_intervals(ends, groups)))
        })
    }

    /// Returns the interval of as many independent observations as there are groups.
    ///
    /// Without any event, or with events alone, all replicates are alike and the bootstrap has no width. With few
    /// events it is too narrow. So this interval treats the events of a group as one. If `G` of `g` groups have an
    /// event, the interval of `G` in `g` is scaled by the mean number of events per group with an event. If non-events
    /// are rarer, they are counted instead. Without any event the scale is the design effect, the mean size of the
    /// group of a transcript (Kish 1965). `None` for a measure that is neither a share nor a rate.
    fn interval_of_groups(&self, measure: Metric) -> Option<Interval> {
        let (k, n) = measure.counts(&self.total)?;
        if n == 0 {
            return None;
        }
        let is_share = measure.certainty == UncertaintyMethod::Share;
        let rarer = |k: u64, n: u64, of_all: bool| if of_all { n.saturating_sub(k) } else { k };
        let misses = is_share && 2 * k > n;
        let (mut groups, mut with, mut members, mut squares) = (0_u64, 0_u64, 0.0, 0.0);
        self.groups.for_each_sum(|_, tally| {
            if let Some((own, all)) = measure.counts(tally).filter(|(_, all)| *all > 0) {
                let size = tally.get(Count::Transcripts) as f64;
                (groups, members, squares) = (groups + 1, members + size, squares + size * size);
                with += u64::from(rarer(own, all, misses) > 0);
            }
        });
        let some = rarer(k, n, misses) as f64;
        let each = match (with, is_share) {
            (0, true) => n as f64 / groups.max(1) as f64,
            (0, false) => squares / f64::max(members, 1.0),
            (with, _) => some / with as f64,
        };
        match measure.certainty {
            UncertaintyMethod::Share => wilson_fractional(k as f64 / each, n as f64 / each),
            UncertaintyMethod::Rate => {
                let rate = |events: f64| measure.scale() * each * events / n as f64;
                Some(poisson(with).map(rate))
            }
            UncertaintyMethod::Resampled => None,
        }
    }

    /// Returns the requested counts of each replicate.
    fn resample(&self, counts: &BTreeSet<Count>, draws: &mut WeightCache) -> Vec<Tally> {
        let mut sums = Replicates::<1>::new(draws.resampling().replicates);
        self.groups.for_each_sum(|name, tally| {
            sums.add_group(&draws.weights_of(name), &[tally.only(counts)])
        });
        sums.tallies().map(|[tally]| tally).collect()
    }
}
