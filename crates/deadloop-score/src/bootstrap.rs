//! Percentile bootstrap over clusters, for the scores that have no closed interval. It is for the
//! few settings that are reported: a grid of a hundred thousand cells would take an hour.

use std::collections::BTreeMap;

use crate::cases::Case;
use crate::intervals::Interval;
use crate::latency::{RANKS, rank};
use crate::metric::Metric;
use crate::random::Random;
use crate::scores::Worth;
use crate::tally::{Count, Tally};
use crate::verdict::{Outcome, Verdict};

/// How often is resampled, and from which seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resampling {
    /// Replicates.
    pub replicates: usize,
    /// Seed.
    pub seed: u64,
}

impl Default for Resampling {
    fn default() -> Self {
        Self {
            replicates: 2000,
            seed: 1,
        }
    }
}

/// The 95 % intervals of one setting.
#[derive(Clone, Debug, PartialEq)]
pub struct Intervals {
    /// Each with the name of its column; `None` where the score was n/a in every replicate.
    pub rows: Vec<(String, Option<Interval>)>,
}

/// The scores that are resampled from tallies.
const METRICS: [Metric; 4] = [Metric::Delay, Metric::Saved, Metric::Lost, Metric::Utility];

/// The names of the quantiles that are resampled, over all loops and over hits.
const QUANTILES: [&str; 6] = [
    "latency_p50",
    "latency_p90",
    "latency_p95",
    "hit_latency_p50",
    "hit_latency_p90",
    "hit_latency_p95",
];

/// The intervals of `delay`, `saved`, `lost`, `utility` and the latency quantiles. `outcomes` are
/// those of `cases`, in the same order.
///
/// Whole clusters (`group`) are drawn with replacement, as many as there are. A bound may be
/// infinite (`never`). Replicates in which a score is n/a are left out of its interval. Cost: a
/// tally for each cluster and a step for each hit, times the replicates; some 0.1 s for a thousand
/// clusters.
pub fn bootstrap<'a>(
    cases: impl IntoIterator<Item = &'a Case>,
    outcomes: &[Outcome],
    worth: &Worth,
    resampling: Resampling,
) -> Intervals {
    let sample = Sample::of(cases, outcomes);
    let mut random = Random::new(resampling.seed);
    let mut drawn: Vec<Vec<f64>> = vec![Vec::new(); METRICS.len() + QUANTILES.len()];
    for _ in 0..resampling.replicates {
        let (tally, weights) = sample.draw(&mut random);
        let scores = METRICS.iter().map(|m| m.value(&tally, worth));
        let quantiles = sample.quantiles(&tally, &weights);
        for (values, value) in drawn.iter_mut().zip(scores.chain(quantiles)) {
            values.extend(value);
        }
    }
    let names = METRICS
        .iter()
        .map(|m| m.name())
        .chain(QUANTILES.map(String::from));
    let rows = names
        .zip(&mut drawn)
        .map(|(name, values)| (name, percentile(values)))
        .collect();
    Intervals { rows }
}

/// Clusters as tallies, hits by latency.
struct Sample {
    clusters: Vec<Tally>,
    /// Latency and cluster of each hit, rising.
    hits: Vec<(u64, usize)>,
}

impl Sample {
    fn of<'a>(cases: impl IntoIterator<Item = &'a Case>, outcomes: &[Outcome]) -> Self {
        let mut index: BTreeMap<&str, usize> = BTreeMap::new();
        let mut clusters: Vec<Tally> = Vec::new();
        let mut hits = Vec::new();
        for (case, outcome) in cases.into_iter().zip(outcomes) {
            let cluster = *index.entry(case.cluster()).or_insert_with(|| {
                clusters.push(Tally::default());
                clusters.len() - 1
            });
            clusters[cluster] += Tally::of(outcome);
            let hit = outcome.latency.filter(|_| outcome.verdict == Verdict::Hit);
            hits.extend(hit.map(|latency| (latency, cluster)));
        }
        hits.sort_unstable();
        Self { clusters, hits }
    }

    /// One replicate: its tally, and how often each cluster was drawn.
    fn draw(&self, random: &mut Random) -> (Tally, Vec<u64>) {
        let n = self.clusters.len();
        let mut weights = vec![0; n];
        let mut tally = Tally::default();
        for _ in 0..n {
            // Below n, so it fits.
            let i = random.below(n as u64) as usize;
            weights[i] += 1;
            tally += self.clusters[i];
        }
        (tally, weights)
    }

    /// Quantiles in the order of [`QUANTILES`].
    fn quantiles(&self, tally: &Tally, weights: &[u64]) -> [Option<f64>; 6] {
        let of = |n: u64| RANKS.map(|q| rank(q, n).map(|k| self.nth(k, weights)));
        let ([a, b, c], [d, e, f]) = (of(tally.loops()), of(tally.get(Count::Hit)));
        [a, b, c, d, e, f]
    }

    fn nth(&self, k: u64, weights: &[u64]) -> f64 {
        let mut passed = 0;
        let found = self.hits.iter().find(|(_, cluster)| {
            passed += weights[*cluster];
            passed >= k
        });
        found.map_or(f64::INFINITY, |(latency, _)| *latency as f64)
    }
}

/// The 2.5th and the 97.5th percentile, nearest rank.
pub(crate) fn percentile(values: &mut [f64]) -> Option<Interval> {
    values.sort_by(f64::total_cmp);
    let at = |q| rank(q, values.len() as u64).map(|k| values[k as usize - 1]);
    Some(Interval {
        lo: at(0.025)?,
        hi: at(0.975)?,
    })
}
