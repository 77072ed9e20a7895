//! The paired bootstrap over groups. A drawn group counts on both sides.

use super::pairs::Pair;
use super::subject::Measured;
use crate::intervals::{ByGroup, Interval, Resampling, percentile};
use crate::tally::Tally;

/// Returns the 95 % interval of each metric's difference NEW - BASE. Replicates in which the difference is n/a are left
/// out. `None` if it is n/a in all of them.
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

/// Returns NEW - BASE. `None` if the metric is n/a on a side.
pub(crate) fn difference(metric: &Measured, [base, new]: &[Tally; 2]) -> Option<f64> {
    Some((metric.value)(new)? - (metric.value)(base)?)
}

/// Returns the counts of both sides by group, in the order of the groups' names.
pub(crate) fn clusters<'a>(pairs: &[&'a Pair]) -> ByGroup<'a, 2> {
    ByGroup::new(pairs.iter().map(|pair| (pair.base.cluster(), pair.adds)))
}
