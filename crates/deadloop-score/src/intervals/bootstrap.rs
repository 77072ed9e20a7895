//! [`bootstrap`]: intervals over groups, for the few reported settings.
//!
//! A grid of a hundred thousand cells would take an hour.
//!
//! If every group has one transcript, shares and rates keep their closed intervals. In larger groups, transcripts are
//! not independent, and the percentile bootstrap over groups is used. It is never narrower than the closed interval,
//! nor than the interval of as many independent observations as there are groups.

use std::collections::BTreeSet;

use crate::intervals::{
    Draws, Groups, Interval, PoissonCache, Replicates, Resampling, percentile, poisson, wilson_of,
};
use crate::judge::{Outcome, Verdict};
use crate::measure::{Certainty, MEASURES, Measure, Metric, Worth};
use crate::tally::{Count, RANKS, Tally, rank};
use crate::truth::{Case, group_numbers};

/// The 95 % intervals of one setting.
#[derive(Clone, Debug, PartialEq)]
pub struct Intervals {
    /// The name of each column, its interval and its method. The interval is `None` if the score was n/a in every
    /// replicate.
    pub rows: Vec<(String, Option<Interval>, Method)>,
}

deadloop_replay::detect::words! {
    /// The method of an interval.
    pub enum Method {
        /// The Wilson score interval.
        Wilson = "wilson",
        /// The exact Poisson interval.
        Poisson = "poisson",
        /// The bootstrap over groups.
        Bootstrap = "bootstrap",
    }
}

impl Intervals {
    /// Returns the interval of a measure or a quantile.
    pub fn of(&self, name: &str) -> Option<Interval> {
        let row = self.rows.iter().find(|(n, ..)| n == name);
        row.and_then(|(_, interval, _)| *interval)
    }
}

/// The names of the resampled quantiles, over all loops.
const QUANTILES: [&str; RANKS.len()] = ["latency_p50", "latency_p90"];

/// Computes the intervals of every measure and of the latency quantiles.
///
/// `outcomes` belong to `cases`, in the same order. Groups that share a text count as one.
///
/// A bound may be infinite (`never`). Replicates in which a score is n/a are left out of its interval. Cost: the counts
/// of each group and a step for each hit, times the replicates; a hundredth of a second for a thousand groups.
pub fn bootstrap(
    cases: &[Case],
    outcomes: &[Outcome],
    worth: &Worth,
    resampling: Resampling,
) -> Intervals {
    let mut sample = Sample::default();
    for (group, outcome) in group_numbers(cases).into_iter().zip(outcomes) {
        sample.add(group, outcome);
    }
    intervals(sample, worth, &mut Known::new(resampling))
}

/// Cache shared by all reported settings.
#[derive(Debug)]
pub(crate) struct Known {
    /// Exact intervals.
    pub(crate) poisson: PoissonCache,
    /// The weights of groups.
    draws: Draws,
}

impl Known {
    /// Creates an empty cache.
    pub(crate) fn new(resampling: Resampling) -> Self {
        Self {
            poisson: PoissonCache::default(),
            draws: Draws::new(resampling),
        }
    }
}

/// Computes the intervals of [`bootstrap`] with a cache.
pub(crate) fn intervals(sample: Sample, worth: &Worth, known: &mut Known) -> Intervals {
    let sample = sample.sorted();
    let (mut rows, drawn) = sample.rows((&MEASURES, &QUANTILES), worth, known, true);
    let quantiles = QUANTILES.into_iter().zip(drawn);
    rows.extend(quantiles.map(|(name, ends)| (name.to_owned(), ends, Method::Bootstrap)));
    Intervals { rows }
}

/// Computes only the intervals of measures that have columns for them.
///
/// Nothing is drawn if every group has one transcript, since each of these measures then has a closed interval.
pub(crate) fn bounds(sample: Sample, worth: &Worth, known: &mut Known) -> Intervals {
    let with_columns: Vec<Metric> = MEASURES
        .into_iter()
        .filter(|measure| measure.bounds.is_some())
        .collect();
    let sample = sample.sorted();
    let clustered = sample.clustered();
    let (rows, _) = sample.rows((&with_columns, &[]), worth, known, clustered);
    Intervals { rows }
}

/// A row of [`Intervals`].
type Row = (String, Option<Interval>, Method);

/// Builds the row of a measure: the closed interval, the resampled one, or the wider of both on each side.
fn row(
    measure: Metric,
    tally: &Tally,
    resampled: Option<Option<Interval>>,
    cache: &mut PoissonCache,
) -> Row {
    let closed = measure.interval(tally, cache);
    let name = measure.name.to_owned();
    match (resampled, closed) {
        (Some(ends), None) => (name, ends, Method::Bootstrap),
        (Some(Some(ends)), Some(closed)) => (name, Some(wider(ends, closed)), Method::Bootstrap),
        (_, closed) => (name, closed, method(measure)),
    }
}

fn method(measure: &Measure) -> Method {
    match measure.certainty {
        Certainty::Share => Method::Wilson,
        Certainty::Rate => Method::Poisson,
        Certainty::Resampled => Method::Bootstrap,
    }
}

fn wider(a: Interval, b: Interval) -> Interval {
    Interval {
        lo: a.lo.min(b.lo),
        hi: a.hi.max(b.hi),
    }
}

/// The tallies of groups, and the latencies of hits.
#[derive(Debug, Default)]
pub(crate) struct Sample {
    groups: Groups,
    /// Latency and group of each hit.
    hits: Vec<(u64, u64)>,
    /// The sum over all groups.
    whole: Tally,
}

impl Sample {
    /// Adds the outcome of a case of a group.
    pub(crate) fn add(&mut self, group: u64, outcome: &Outcome) {
        let tally = Tally::of(outcome);
        self.groups.add(group, &tally);
        self.whole += tally;
        let hit = outcome.latency.filter(|_| outcome.verdict == Verdict::Hit);
        self.hits.extend(hit.map(|latency| (latency, group)));
    }

    /// Sorts the groups, and the hits by latency.
    fn sorted(mut self) -> Self {
        self.groups.sort();
        self.hits.sort_unstable();
        self
    }

    /// Whether some group has more than one transcript.
    fn clustered(&self) -> bool {
        self.groups.has_larger()
    }

    /// Returns the rows of some measures, then the intervals of the quantiles. `draws`: whether to resample.
    fn rows(
        &self,
        (all, quantiles): (&[Metric], &[&str]),
        worth: &Worth,
        known: &mut Known,
        draws: bool,
    ) -> (Vec<Row>, Vec<Option<Interval>>) {
        let clustered = self.clustered();
        let resampled = |m: &&Metric| clustered || m.certainty == Certainty::Resampled;
        let measures: Vec<Metric> = all.iter().filter(resampled).copied().collect();
        let mut values: Vec<Vec<f64>> = vec![Vec::new(); measures.len() + quantiles.len()];
        if draws {
            // Each count of each group is added to every replicate, so unused counts are left out.
            let counts = measures.iter().flat_map(|measure| measure.counted());
            let counts: BTreeSet<Count> = if quantiles.is_empty() {
                counts.collect()
            } else {
                counts.chain(Count::LOOPS).collect()
            };
            let drawn = self.draw(&counts, &mut known.draws);
            for tally in &drawn {
                let scores = measures.iter().map(|m| m.value(tally, worth));
                for (values, value) in values.iter_mut().zip(scores) {
                    values.extend(value);
                }
            }
            if !quantiles.is_empty() {
                for ranks in self.quantiles(&drawn, &mut known.draws) {
                    let ends = values[measures.len()..].iter_mut().zip(ranks);
                    ends.for_each(|(values, value)| values.extend(value));
                }
            }
        }
        let mut ends = values.iter_mut().map(|values| percentile(values));
        let measured = all.iter().map(|m| {
            let resampled = measures.contains(m).then(|| ends.next().flatten());
            let by_groups = clustered.then(|| self.as_groups(m)).flatten();
            let (name, ends, method) = row(m, &self.whole, resampled, &mut known.poisson);
            let ends = ends.map(|ends| by_groups.map_or(ends, |groups| wider(ends, groups)));
            (name, ends, method)
        });
        let rows = measured.collect();
        (rows, ends.collect())
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
        let is_share = measure.certainty == Certainty::Share;
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
            Certainty::Share => wilson_of(k as f64 / each, n as f64 / each),
            Certainty::Rate => {
                let Interval { lo, hi } = poisson(with);
                let per = |events: f64| measure.scale() * each * events / n as f64;
                Some(Interval {
                    lo: per(lo),
                    hi: per(hi),
                })
            }
            Certainty::Resampled => None,
        }
    }

    /// Draws the requested counts of each replicate.
    fn draw(&self, counts: &BTreeSet<Count>, draws: &mut Draws) -> Vec<Tally> {
        let mut sums = Replicates::<1>::new(draws.resampling().replicates);
        self.groups
            .each(|name, tally| sums.add(&draws.of(name), &[tally.only(counts)]));
        sums.tallies().map(|[tally]| tally).collect()
    }

    /// Returns the quantiles of each replicate, in the order of [`QUANTILES`].
    fn quantiles(&self, drawn: &[Tally], draws: &mut Draws) -> Vec<[Option<f64>; RANKS.len()]> {
        let mut ranks: Vec<Ranks> = drawn.iter().map(Ranks::of).collect();
        for (latency, group) in &self.hits {
            for (ranks, weight) in ranks.iter_mut().zip(&*draws.of(*group)) {
                ranks.pass(*weight, *latency);
            }
        }
        ranks.iter().map(Ranks::found).collect()
    }
}

/// The quantiles of one replicate, while its hits pass in order of latency.
struct Ranks {
    passed: u64,
    /// The next rank to reach.
    next: u64,
    ranks: [Option<u64>; RANKS.len()],
    found: [f64; RANKS.len()],
}

impl Ranks {
    fn of(tally: &Tally) -> Self {
        let mut ranks = Self {
            passed: 0,
            next: 0,
            ranks: RANKS.map(|q| rank(q, tally.loops())),
            found: [f64::INFINITY; RANKS.len()],
        };
        ranks.wait();
        ranks
    }

    fn wait(&mut self) {
        let later = self.ranks.iter().flatten().filter(|r| **r > self.passed);
        self.next = later.copied().min().unwrap_or(u64::MAX);
    }

    /// Passes a hit that counts `weight` times.
    fn pass(&mut self, weight: u8, latency: u64) {
        let before = self.passed;
        self.passed += u64::from(weight);
        if self.passed < self.next {
            return;
        }
        for (rank, found) in self.ranks.iter().zip(&mut self.found) {
            if rank.is_some_and(|rank| before < rank && rank <= self.passed) {
                *found = latency as f64;
            }
        }
        self.wait();
    }

    fn found(&self) -> [Option<f64>; RANKS.len()] {
        std::array::from_fn(|i| self.ranks[i].map(|_| self.found[i]))
    }
}
