//! [`bootstrap`]: intervals over groups, for the few reported settings.
//!
//! A grid of a hundred thousand cells would take an hour.
//!
//! If every group has one transcript, shares and rates keep their closed intervals. In larger groups, transcripts are
//! not independent, and the percentile bootstrap over groups is used. It is never narrower than the closed interval,
//! nor than the interval of as many independent observations as there are groups.

use std::collections::BTreeSet;

use crate::intervals::{
    Draws, GroupTallies, Interval, PoissonCache, Replicates, Resampling, percentile, poisson,
    wilson_of,
};
use crate::judge::Outcome;
use crate::measure::{MEASURES, Metric, Stakes, UncertaintyMethod};
use crate::tally::{Count, Tally};
use crate::truth::{Case, group_numbers};

/// The 95 % interval of each measure. `None`: the measure was n/a in every replicate, or no interval was asked for.
pub type Intervals = [Option<Interval>; MEASURES.len()];

/// Returns the intervals of every measure. `outcomes` has the outcome of each of `cases`, in the same order. Copies of
/// a text are of one group.
///
/// Replicates in which a score is n/a are left out of its interval. Cost: the counts of each group, times the replicates; a
/// hundredth of a second for a thousand groups.
pub fn bootstrap(
    cases: &[Case],
    outcomes: &[Outcome],
    worth: &Stakes,
    resampling: Resampling,
) -> Intervals {
    let mut sample = GroupedSample::default();
    for (group, outcome) in group_numbers(cases).into_iter().zip(outcomes) {
        sample.add(group, outcome);
    }
    sample.intervals(|_| true, worth, &mut Cache::new(resampling))
}

/// Cache shared by all reported settings.
#[derive(Debug)]
pub(crate) struct Cache {
    /// Exact intervals.
    pub(crate) poisson: PoissonCache,
    /// The weights of groups.
    draws: Draws,
}

impl Cache {
    /// Creates an empty cache.
    pub(crate) fn new(resampling: Resampling) -> Self {
        Self {
            poisson: PoissonCache::default(),
            draws: Draws::new(resampling),
        }
    }
}

/// Returns the intervals of the measures that have columns for them. `means` includes measures that are neither shares
/// nor rates, which always need resampling. Shares and rates are resampled only if some group has several transcripts.
pub(crate) fn column_intervals(
    sample: GroupedSample,
    worth: &Stakes,
    known: &mut Cache,
    means: bool,
) -> Intervals {
    let wanted =
        |m: Metric| m.bounds.is_some() && (means || m.certainty != UncertaintyMethod::Resampled);
    sample.intervals(wanted, worth, known)
}

fn join_intervals(a: Interval, b: Interval) -> Interval {
    Interval {
        lo: a.lo.min(b.lo),
        hi: a.hi.max(b.hi),
    }
}

/// The outcomes of a sample, added up by group.
#[derive(Debug, Default)]
pub(crate) struct GroupedSample {
    groups: GroupTallies,
    /// The sum of all groups.
    whole: Tally,
}

impl GroupedSample {
    /// Adds the outcome of a case of a group.
    pub(crate) fn add(&mut self, group: u64, outcome: &Outcome) {
        let tally = Tally::from_outcome(outcome);
        self.groups.add(group, &tally);
        self.whole += tally;
    }

    /// Returns the intervals of the wanted measures: closed, resampled, or the wider of both on each side.
    fn intervals(
        mut self,
        wanted: impl Fn(Metric) -> bool,
        worth: &Stakes,
        known: &mut Cache,
    ) -> Intervals {
        self.groups.sort();
        let clustered = self.groups.has_larger();
        let is_drawn =
            |m: &Metric| wanted(m) && (clustered || m.certainty == UncertaintyMethod::Resampled);
        let drawn: Vec<Metric> = MEASURES.into_iter().filter(is_drawn).collect();
        let mut values: Vec<Vec<f64>> = vec![Vec::new(); drawn.len()];
        if !drawn.is_empty() {
            // Only counts that a measure uses are added to the replicates.
            let counts = drawn.iter().flat_map(|measure| measure.counted()).collect();
            for tally in self.draw(&counts, &mut known.draws) {
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
            let closed = || m.interval(&self.whole, &mut known.poisson);
            let closed = wanted(m).then(closed).flatten();
            let by_groups = clustered.then(|| self.as_groups(m)).flatten();
            let ends = match (resampled, closed) {
                (Some(ends), Some(closed)) => Some(join_intervals(ends, closed)),
                (ends, closed) => ends.or(closed),
            };
            ends.map(|ends| by_groups.map_or(ends, |groups| join_intervals(ends, groups)))
        })
    }

    /// Returns the interval of as many independent observations as there are groups.
    ///
    /// If no event occurs, or nothing but events, all replicates are alike and the bootstrap has no width. With few
    /// events it is too narrow. So this interval treats the events of a group as one. Let `G` of `g` groups have an
    /// event (or a non-event, if those are rarer): the interval of `G` in `g` is scaled by the mean number of events
    /// per such group. Without any event the design effect gives this number (Kish 1965: the mean size of the group of
    /// a transcript). `None` for a measure that is neither a share nor a rate.
    fn as_groups(&self, measure: Metric) -> Option<Interval> {
        let (k, n) = measure.counts(&self.whole)?;
        if n == 0 {
            return None;
        }
        let is_share = measure.certainty == UncertaintyMethod::Share;
        let rarer = |k: u64, n: u64, of_all: bool| if of_all { n.saturating_sub(k) } else { k };
        let misses = is_share && 2 * k > n;
        let (mut groups, mut with, mut members, mut squares) = (0_u64, 0_u64, 0.0, 0.0);
        self.groups.each(|_, tally| {
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
            UncertaintyMethod::Share => wilson_of(k as f64 / each, n as f64 / each),
            UncertaintyMethod::Rate => {
                let rate = |events: f64| measure.scale() * each * events / n as f64;
                Some(poisson(with).map(rate))
            }
            UncertaintyMethod::Resampled => None,
        }
    }

    /// Draws the requested counts of each replicate.
    fn draw(&self, counts: &BTreeSet<Count>, draws: &mut Draws) -> Vec<Tally> {
        let mut sums = Replicates::<1>::new(draws.resampling().replicates);
        self.groups
            .each(|name, tally| sums.add(&draws.for_group(name), &[tally.only(counts)]));
        sums.tallies().map(|[tally]| tally).collect()
    }
}
