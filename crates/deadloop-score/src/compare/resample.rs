//! Paired cluster bootstrap: whole groups are drawn, and both sides of each.

use super::pairs::Pair;
use super::subject::Measured;
use crate::intervals::{ByGroup, Interval, Resampling, percentile};
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
    clusters: &ByGroup<'_, 2>,
    metrics: &[Measured],
    resampling: Resampling,
) -> Vec<Option<Spread>> {
    let mut drawn: Vec<Vec<f64>> = vec![Vec::new(); metrics.len()];
    for sides in clusters.draw(resampling).tallies() {
        for (values, metric) in drawn.iter_mut().zip(metrics) {
            values.extend(difference(metric, &sides));
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
pub(crate) fn difference(metric: &Measured, [base, new]: &[Tally; 2]) -> Option<f64> {
    Some((metric.value)(new)? - (metric.value)(base)?)
}

/// What both sides add, group by group, in the order of their names, copies once.
pub(crate) fn clusters<'a>(pairs: &[Pair<'a>]) -> ByGroup<'a, 2> {
    let firsts = pairs.iter().filter(|pair| pair.first);
    ByGroup::of(firsts.map(|pair| (pair.base.cluster.as_str(), pair.adds())))
}
