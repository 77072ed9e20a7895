//! Paired cluster bootstrap: whole groups are drawn, and both sides of each.

use std::collections::BTreeMap;

use super::pairs::Pair;
use crate::intervals::{Interval, POISSON_1, Replicates, Resampling, Weights, percentile};
use crate::measure::{Metric, Worth};
use crate::tally::Tally;

/// What the bootstrap says about the difference NEW - BASE of one metric.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Spread {
    /// The 2.5th and the 97.5th percentile of the replicates.
    pub(crate) interval: Interval,
    /// Their standard deviation.
    pub(crate) error: f64,
}

/// One group: its name, and the tallies of both sides.
pub(crate) struct Cluster<'a> {
    name: &'a str,
    pub(crate) sides: [Tally; 2],
}

/// The spread of each metric's difference; `None` where it was n/a in every replicate. Replicates
/// in which it is n/a are left out.
pub(crate) fn resample(
    clusters: &[Cluster<'_>],
    metrics: &[Metric],
    resampling: Resampling,
) -> Vec<Option<Spread>> {
    let mut sums = Replicates::new(resampling.replicates);
    for c in clusters {
        sums.draw(Weights::of(resampling.seed, c.name, &POISSON_1), &c.sides);
    }
    let mut drawn: Vec<Vec<f64>> = vec![Vec::new(); metrics.len()];
    for sides in sums.tallies() {
        for (values, metric) in drawn.iter_mut().zip(metrics) {
            values.extend(difference(metric, &sides[0], &sides[1]));
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

/// The tallies of both sides, group by group, in the order of their names, copies once.
pub(crate) fn clusters<'a>(pairs: &[Pair<'a>]) -> Vec<Cluster<'a>> {
    let mut clusters: BTreeMap<&str, [Tally; 2]> = BTreeMap::new();
    for Pair { base, new, .. } in pairs.iter().filter(|pair| pair.first) {
        let of = clusters.entry(&base.cluster).or_default();
        of[0] += base.tally;
        of[1] += new.tally;
    }
    let named = clusters.into_iter();
    named.map(|(name, sides)| Cluster { name, sides }).collect()
}
