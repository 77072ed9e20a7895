//! Intervals over groups for the few settings that are reported: [`bootstrap`]. A grid of a hundred thousand
//! cells would take an hour.
//!
//! Where every group has one transcript, shares and rates keep their closed intervals. Where groups are larger,
//! transcripts of one are not independent: there the percentile bootstrap over groups decides, and is never
//! narrower than the closed interval.

use std::collections::BTreeMap;

use crate::cases::Case;
use crate::intervals::{Interval, PoissonCache};
use crate::latency::{RANKS, rank};
use crate::measure::{Certainty, MEASURES, Measure, Metric, Worth};
use crate::resample::{Cluster, POISSON_1, Resampling, Weights, percentile};
use crate::tally::{Count, Tally};
use crate::verdict::{Outcome, Verdict};

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
/// counts of each group and a step for each hit, times the replicates; some 0.05 s for a thousand groups.
pub fn bootstrap<'a>(
    cases: impl IntoIterator<Item = &'a Case>,
    outcomes: &[Outcome],
    worth: &Worth,
    resampling: Resampling,
) -> Intervals {
    let mut sample = Sample::of(cases, outcomes, resampling.seed);
    let (mut rows, drawn) = sample.rows(&MEASURES, &QUANTILES, worth, resampling.replicates);
    let quantiles = QUANTILES.into_iter().zip(drawn);
    rows.extend(quantiles.map(|(name, ends)| (name.to_owned(), ends, Method::Bootstrap)));
    Intervals { rows }
}

/// The intervals of the measures that have columns for them, and of no other: nothing is drawn where every group has
/// one transcript, since each of them has a closed interval then.
pub(crate) fn bounds<'a>(
    cases: impl IntoIterator<Item = &'a Case>,
    outcomes: &[Outcome],
    worth: &Worth,
    resampling: Resampling,
) -> Intervals {
    let with_columns: Vec<Metric> = MEASURES
        .into_iter()
        .filter(|measure| measure.bounds.is_some())
        .collect();
    let mut sample = Sample::of(cases, outcomes, resampling.seed);
    let replicates = if sample.clustered {
        resampling.replicates
    } else {
        0
    };
    let (rows, _) = sample.rows(&with_columns, &[], worth, replicates);
    Intervals { rows }
}

/// A row of [`Intervals`].
type Row = (String, Option<Interval>, Method);

/// The interval of a difference in a measure, `sides[0]` less `sides[1]`, on the same cases, each group drawn for both
/// sides together. `None` where the measure is n/a in every replicate.
pub(crate) fn difference<'a>(
    cases: impl IntoIterator<Item = &'a Case>,
    sides: [&[Outcome]; 2],
    measure: Metric,
    worth: &Worth,
    resampling: Resampling,
) -> Option<Interval> {
    let mut groups: BTreeMap<&str, [Tally; 2]> = BTreeMap::new();
    for (case, (one, other)) in cases.into_iter().zip(sides[0].iter().zip(sides[1])) {
        let group = groups.entry(case.cluster()).or_default();
        group[0] += Tally::of(one);
        group[1] += Tally::of(other);
    }
    let cluster = |(name, tallies): (&str, [Tally; 2])| {
        Cluster::new(Weights::of(resampling.seed, name, &POISSON_1), &tallies)
    };
    let mut clusters: Vec<Cluster> = groups.into_iter().map(cluster).collect();
    let mut drawn = Vec::with_capacity(resampling.replicates);
    for _ in 0..resampling.replicates {
        let mut sums = [Tally::default(); 2];
        for cluster in &mut clusters {
            cluster.add_next(&mut sums);
        }
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
struct Sample {
    groups: Vec<Cluster>,
    /// How often each counts in the replicate that was drawn last.
    weights: Vec<u8>,
    /// Latency and group of each hit, rising.
    hits: Vec<(u64, usize)>,
    /// Whether some group has more than one transcript.
    clustered: bool,
    /// All groups, each once.
    whole: Tally,
}

impl Sample {
    fn of<'a>(cases: impl IntoIterator<Item = &'a Case>, outcomes: &[Outcome], seed: u64) -> Self {
        let mut names: BTreeMap<&str, usize> = BTreeMap::new();
        let mut tallies: Vec<Tally> = Vec::new();
        let mut hits = Vec::new();
        let mut whole = Tally::default();
        for (case, outcome) in cases.into_iter().zip(outcomes) {
            let group = *names.entry(case.cluster()).or_insert_with(|| {
                tallies.push(Tally::default());
                tallies.len() - 1
            });
            let tally = Tally::of(outcome);
            tallies[group] += tally;
            whole += tally;
            let hit = outcome.latency.filter(|_| outcome.verdict == Verdict::Hit);
            hits.extend(hit.map(|latency| (latency, group)));
        }
        hits.sort_unstable();
        let clustered = tallies.len() < outcomes.len();
        let mut groups: Vec<Option<Cluster>> = vec![None; tallies.len()];
        for (name, group) in names {
            let weights = Weights::of(seed, name, &POISSON_1);
            groups[group] = Some(Cluster::new(weights, &tallies[group..=group]));
        }
        Self {
            weights: vec![0; groups.len()],
            groups: groups.into_iter().flatten().collect(),
            hits,
            clustered,
            whole,
        }
    }

    /// The rows of some measures, and the intervals of the quantiles after them.
    fn rows(
        &mut self,
        all: &[Metric],
        quantiles: &[&str],
        worth: &Worth,
        replicates: usize,
    ) -> (Vec<Row>, Vec<Option<Interval>>) {
        let clustered = self.clustered;
        let resampled = |m: &&Metric| clustered || m.certainty == Certainty::Resampled;
        let measures: Vec<Metric> = all.iter().filter(resampled).copied().collect();
        let mut drawn: Vec<Vec<f64>> = vec![Vec::new(); measures.len() + quantiles.len()];
        for _ in 0..replicates {
            let tally = self.draw();
            let scores = measures.iter().map(|m| m.value(&tally, worth));
            let ranks = (!quantiles.is_empty()).then(|| self.quantiles(&tally));
            for (values, value) in drawn
                .iter_mut()
                .zip(scores.chain(ranks.into_iter().flatten()))
            {
                values.extend(value);
            }
        }
        let mut drawn = drawn.iter_mut().map(|values| percentile(values));
        let mut cache = PoissonCache::default();
        let measured = all.iter().map(|m| {
            let resampled = measures.contains(m).then(|| drawn.next().flatten());
            row(m, &self.whole, resampled, &mut cache)
        });
        let rows = measured.collect();
        (rows, drawn.collect())
    }

    /// The tally of the next replicate.
    fn draw(&mut self) -> Tally {
        let mut tally = [Tally::default()];
        for (group, weight) in self.groups.iter_mut().zip(&mut self.weights) {
            *weight = group.add_next(&mut tally);
        }
        tally[0]
    }

    /// Quantiles in the order of [`QUANTILES`].
    fn quantiles(&self, tally: &Tally) -> [Option<f64>; 6] {
        let of = |n: u64| RANKS.map(|q| rank(q, n).map(|k| self.nth(k)));
        let ([a, b, c], [d, e, f]) = (of(tally.loops()), of(tally.get(Count::Hit)));
        [a, b, c, d, e, f]
    }

    fn nth(&self, k: u64) -> f64 {
        let mut passed = 0;
        let found = self.hits.iter().find(|(_, group)| {
            passed += u64::from(self.weights[*group]);
            passed >= k
        });
        found.map_or(f64::INFINITY, |(latency, _)| *latency as f64)
    }
}
