//! Intervals over groups for the few settings that are reported: [`bootstrap`]. A grid of a hundred thousand
//! cells would take an hour.
//!
//! Where every group has one transcript, shares and rates keep their closed intervals. Where groups are larger,
//! transcripts of one are not independent: there the percentile bootstrap over groups decides, and is never
//! narrower than the closed interval.

use std::collections::{BTreeMap, BTreeSet};

use crate::intervals::{
    Draws, Interval, POISSON_1, PoissonCache, Replicates, Resampling, Weights, percentile,
};
use crate::judge::{Outcome, Verdict};
use crate::measure::{Certainty, MEASURES, Measure, Metric, Worth};
use crate::tally::{Count, RANKS, Tally, rank};
use crate::truth::Case;

/// The 95 % intervals of one setting.
#[derive(Clone, Debug, PartialEq)]
pub struct Intervals {
    /// Each with the name of its column and how it was made; `None` where the score was n/a in every replicate.
    pub rows: Vec<(String, Option<Interval>, Method)>,
}

/// How an interval was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Wilson.
    Wilson,
    /// Exact Poisson.
    Poisson,
    /// The bootstrap over groups.
    Bootstrap,
}

impl Method {
    /// The name used in intervals.csv.
    pub fn name(self) -> &'static str {
        match self {
            Self::Wilson => "wilson",
            Self::Poisson => "poisson",
            Self::Bootstrap => "bootstrap",
        }
    }
}

impl Intervals {
    /// That of a measure or a quantile.
    pub fn of(&self, name: &str) -> Option<Interval> {
        let row = self.rows.iter().find(|(n, ..)| n == name);
        row.and_then(|(_, interval, _)| *interval)
    }
}

/// The names of the quantiles that are resampled, over all loops and over hits.
const QUANTILES: [&str; 6] = [
    "latency_p50",
    "latency_p90",
    "latency_p95",
    "hit_latency_p50",
    "hit_latency_p90",
    "hit_latency_p95",
];

/// The intervals of every measure and of the latency quantiles. `outcomes` are those of `cases`, in the same
/// order; copies of a text are left out by who calls.
///
/// A bound may be infinite (`never`). Replicates in which a score is n/a are left out of its interval. Cost: the
/// counts of each group and a step for each hit, times the replicates; a hundredth of a second for a thousand groups.
pub fn bootstrap<'a>(
    cases: impl IntoIterator<Item = &'a Case>,
    outcomes: &[Outcome],
    worth: &Worth,
    resampling: Resampling,
) -> Intervals {
    let sample = cases.into_iter().zip(outcomes.iter().copied());
    intervals(sample, worth, &mut Known::new(resampling))
}

/// What settings that are reported have in common, remembered.
#[derive(Debug)]
pub(crate) struct Known {
    /// Exact intervals.
    pub(crate) poisson: PoissonCache,
    /// The weights of groups.
    draws: Draws,
}

impl Known {
    /// Nothing yet.
    pub(crate) fn new(resampling: Resampling) -> Self {
        Self {
            poisson: PoissonCache::default(),
            draws: Draws::new(resampling),
        }
    }
}

/// [`bootstrap`], with what is known from other settings.
pub(crate) fn intervals<'a>(
    sample: impl IntoIterator<Item = (&'a Case, Outcome)>,
    worth: &Worth,
    known: &mut Known,
) -> Intervals {
    let sample = Sample::of(sample);
    let (mut rows, drawn) = sample.rows((&MEASURES, &QUANTILES), worth, known, true);
    let quantiles = QUANTILES.into_iter().zip(drawn);
    rows.extend(quantiles.map(|(name, ends)| (name.to_owned(), ends, Method::Bootstrap)));
    Intervals { rows }
}

/// The intervals of the measures that have columns for them, and of no other: nothing is drawn where every group has
/// one transcript, since each of them has a closed interval then.
pub(crate) fn bounds<'a>(
    sample: impl IntoIterator<Item = (&'a Case, Outcome)>,
    worth: &Worth,
    known: &mut Known,
) -> Intervals {
    let with_columns: Vec<Metric> = MEASURES
        .into_iter()
        .filter(|measure| measure.bounds.is_some())
        .collect();
    let sample = Sample::of(sample);
    let (rows, _) = sample.rows((&with_columns, &[]), worth, known, sample.clustered);
    Intervals { rows }
}

/// A row of [`Intervals`].
type Row = (String, Option<Interval>, Method);

/// The interval of a difference in a measure, `sides[0]` less `sides[1]`, on the same cases, each group drawn for both
/// sides together. `None` where the measure is n/a in every replicate.
pub(crate) fn bootstrap_difference<'a>(
    sides: impl IntoIterator<Item = (&'a Case, [Outcome; 2])>,
    measure: Metric,
    worth: &Worth,
    resampling: Resampling,
) -> Option<Interval> {
    let mut groups: BTreeMap<&str, [Tally; 2]> = BTreeMap::new();
    for (case, [one, other]) in sides {
        let group = groups.entry(case.cluster()).or_default();
        group[0] += Tally::of(&one);
        group[1] += Tally::of(&other);
    }
    let mut sums = Replicates::new(resampling.replicates);
    for (name, tallies) in groups {
        sums.draw(Weights::of(resampling.seed, name, &POISSON_1), &tallies);
    }
    let mut drawn = Vec::with_capacity(resampling.replicates);
    for sums in sums.tallies() {
        let [one, other] = sums.map(|tally| measure.value(&tally, worth));
        drawn.extend(one.zip(other).map(|(one, other)| one - other));
    }
    percentile(&mut drawn)
}

/// The row of a measure: closed, resampled, or the wider of both on each side.
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

/// Groups as what they add, hits by latency.
struct Sample<'a> {
    /// Name and counts.
    groups: Vec<(&'a str, Tally)>,
    /// Latency and group of each hit, rising.
    hits: Vec<(u64, usize)>,
    /// Whether some group has more than one transcript.
    clustered: bool,
    /// All groups, each once.
    whole: Tally,
}

/// What was drawn.
struct Drawn {
    /// The counts of each replicate.
    tallies: Vec<Tally>,
    /// For each group that has a hit, how often it counts in each replicate.
    weights: BTreeMap<usize, Vec<u8>>,
}

impl<'a> Sample<'a> {
    fn of(sample: impl IntoIterator<Item = (&'a Case, Outcome)>) -> Self {
        let mut names: BTreeMap<&str, usize> = BTreeMap::new();
        let mut groups: Vec<(&str, Tally)> = Vec::new();
        let mut hits = Vec::new();
        let mut whole = Tally::default();
        let mut transcripts = 0;
        for (case, outcome) in sample {
            transcripts += 1;
            let name = case.cluster();
            let group = *names.entry(name).or_insert_with(|| {
                groups.push((name, Tally::default()));
                groups.len() - 1
            });
            let tally = Tally::of(&outcome);
            groups[group].1 += tally;
            whole += tally;
            let hit = outcome.latency.filter(|_| outcome.verdict == Verdict::Hit);
            hits.extend(hit.map(|latency| (latency, group)));
        }
        hits.sort_unstable();
        Self {
            clustered: groups.len() < transcripts,
            groups,
            hits,
            whole,
        }
    }

    /// The rows of some measures, and the intervals of the quantiles after them; `draws`: whether any has to be drawn.
    fn rows(
        &self,
        (all, quantiles): (&[Metric], &[&str]),
        worth: &Worth,
        known: &mut Known,
        draws: bool,
    ) -> (Vec<Row>, Vec<Option<Interval>>) {
        let clustered = self.clustered;
        let resampled = |m: &&Metric| clustered || m.certainty == Certainty::Resampled;
        let measures: Vec<Metric> = all.iter().filter(resampled).copied().collect();
        let mut values: Vec<Vec<f64>> = vec![Vec::new(); measures.len() + quantiles.len()];
        if draws {
            // Each count of each group is added to every replicate: those that nothing is made of are not.
            let counts = measures.iter().flat_map(|measure| measure.counted());
            let counts: BTreeSet<Count> = match quantiles.is_empty() {
                true => counts.collect(),
                false => counts.chain(Count::LOOPS).collect(),
            };
            let drawn = self.draw(&counts, &mut known.draws);
            for tally in &drawn.tallies {
                let scores = measures.iter().map(|m| m.value(tally, worth));
                for (values, value) in values.iter_mut().zip(scores) {
                    values.extend(value);
                }
            }
            if !quantiles.is_empty() {
                for ranks in self.quantiles(&drawn) {
                    let ends = values[measures.len()..].iter_mut().zip(ranks);
                    ends.for_each(|(values, value)| values.extend(value));
                }
            }
        }
        let mut ends = values.iter_mut().map(|values| percentile(values));
        let measured = all.iter().map(|m| {
            let resampled = measures.contains(m).then(|| ends.next().flatten());
            row(m, &self.whole, resampled, &mut known.poisson)
        });
        let rows = measured.collect();
        (rows, ends.collect())
    }

    /// Draws the counts that are asked for.
    fn draw(&self, counts: &BTreeSet<Count>, draws: &mut Draws) -> Drawn {
        let hits: BTreeSet<usize> = self.hits.iter().map(|(_, group)| *group).collect();
        let mut sums = Replicates::<1>::new(draws.resampling().replicates);
        let mut weights = BTreeMap::new();
        for (group, (name, tally)) in self.groups.iter().enumerate() {
            let drawn = draws.of(name);
            sums.add(&drawn, &[tally.only(counts)]);
            if hits.contains(&group) {
                weights.insert(group, drawn.into_owned());
            }
        }
        Drawn {
            tallies: sums.tallies().map(|[tally]| tally).collect(),
            weights,
        }
    }

    /// Quantiles in the order of [`QUANTILES`], replicate by replicate.
    fn quantiles(&self, drawn: &Drawn) -> Vec<[Option<f64>; 6]> {
        let mut ranks: Vec<Ranks> = drawn.tallies.iter().map(Ranks::of).collect();
        for (latency, group) in &self.hits {
            let weights = drawn.weights.get(group).map_or(&[][..], Vec::as_slice);
            for (ranks, weight) in ranks.iter_mut().zip(weights) {
                ranks.pass(*weight, *latency);
            }
        }
        ranks.iter().map(Ranks::found).collect()
    }
}

/// The quantiles of one replicate, while its hits pass in order of latency.
struct Ranks {
    passed: u64,
    /// The next rank that is waited for.
    next: u64,
    ranks: [Option<u64>; 6],
    found: [f64; 6],
}

impl Ranks {
    fn of(tally: &Tally) -> Self {
        let of = |n: u64| RANKS.map(|q| rank(q, n));
        let ([a, b, c], [d, e, f]) = (of(tally.loops()), of(tally.get(Count::Hit)));
        let mut ranks = Self {
            passed: 0,
            next: 0,
            ranks: [a, b, c, d, e, f],
            found: [f64::INFINITY; 6],
        };
        ranks.wait();
        ranks
    }

    fn wait(&mut self) {
        let later = self.ranks.iter().flatten().filter(|r| **r > self.passed);
        self.next = later.copied().min().unwrap_or(u64::MAX);
    }

    /// A hit that counts so often.
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

    fn found(&self) -> [Option<f64>; 6] {
        std::array::from_fn(|i| self.ranks[i].map(|_| self.found[i]))
    }
}
