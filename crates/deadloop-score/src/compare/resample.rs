//! Paired bootstrap over groups: whole groups are drawn, and both sides of each.

use super::pairs::Pair;
use super::subject::Measured;
use crate::intervals::{ByGroup, Interval, Resampling, percentile};
use crate::tally::Tally;

/// The 95 % interval of each metric's difference NEW - BASE; `None` where it was n/a in every replicate. Replicates
/// in which it is n/a are left out.
pub(crate) fn resample(
    clusters: &ByGroup<'_, 2>,
    metrics: &[Measured],
    resampling: Resampling,
) -> Vec<Option<Interval>> {
    let mut drawn: Vec<Vec<f64>> = vec![Vec::new(); metrics.len()];
    for sides in clusters.draw(resampling).tallies() {
        for (values, metric) in drawn.iter_mut().zip(metrics) {
            values.extend(difference(metric, &sides));
        }
    }
    drawn.iter_mut().map(|values| percentile(values)).collect()
}

/// NEW - BASE.
pub(crate) fn difference(metric: &Measured, [base, new]: &[Tally; 2]) -> Option<f64> {
    Some((metric.value)(new)? - (metric.value)(base)?)
}

/// What both sides add, group by group, in the order of their names.
pub(crate) fn clusters<'a>(pairs: &[&'a Pair]) -> ByGroup<'a, 2> {
    ByGroup::of(pairs.iter().map(|pair| (pair.base.cluster(), pair.adds)))
}
