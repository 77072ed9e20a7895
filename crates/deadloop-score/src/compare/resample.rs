//! Paired cluster bootstrap: whole groups are drawn, and both sides of each.

use std::collections::BTreeMap;

use super::pairs::Pair;
use crate::bootstrap::{Resampling, percentile};
use crate::intervals::Interval;
use crate::metric::Metric;
use crate::random::Random;
use crate::scores::Worth;
use crate::tally::Tally;

/// What the bootstrap says about the difference NEW - BASE of one metric.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Spread {
    /// The 2.5th and the 97.5th percentile of the replicates.
    pub(crate) interval: Interval,
    /// Their standard deviation.
    pub(crate) error: f64,
}

/// The spread of each metric's difference; `None` where it was n/a in every replicate. Replicates
/// in which it is n/a are left out.
pub(crate) fn resample(
    clusters: &[(Tally, Tally)],
    metrics: &[Metric],
    resampling: Resampling,
    name: &str,
) -> Vec<Option<Spread>> {
    let mut random = Random::named(resampling.seed, name);
    let mut drawn: Vec<Vec<f64>> = vec![Vec::new(); metrics.len()];
    let n = clusters.len() as u64;
    for _ in 0..resampling.replicates {
        let (mut base, mut new) = (Tally::default(), Tally::default());
        for _ in 0..n {
            // Below n, so it fits.
            let (a, b) = &clusters[random.below(n) as usize];
            base += *a;
            new += *b;
        }
        for (values, metric) in drawn.iter_mut().zip(metrics) {
            values.extend(difference(*metric, &base, &new));
        }
    }
    drawn.iter_mut().map(|values| spread(values)).collect()
}

fn spread(values: &mut [f64]) -> Option<Spread> {
    let interval = percentile(values)?;
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|x| (x - mean) * (x - mean)).sum();
    let error = (squares / (n - 1.0).max(1.0)).sqrt();
    Some(Spread { interval, error })
}

/// NEW - BASE.
pub(crate) fn difference(metric: Metric, base: &Tally, new: &Tally) -> Option<f64> {
    // Of the metrics that are compared none depends on what errors cost.
    let worth = Worth::default();
    Some(metric.value(new, &worth)? - metric.value(base, &worth)?)
}

/// The tallies of both sides, cluster by cluster, in the order of their names.
pub(crate) fn clusters(pairs: &[Pair<'_>]) -> Vec<(Tally, Tally)> {
    let mut clusters: BTreeMap<&str, (Tally, Tally)> = BTreeMap::new();
    for Pair { base, new } in pairs {
        let of = clusters.entry(&base.cluster).or_default();
        of.0 += base.tally;
        of.1 += new.tally;
    }
    clusters.into_values().collect()
}
