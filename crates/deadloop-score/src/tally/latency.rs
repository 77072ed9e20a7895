//! Latencies of hits, and their exact quantiles by nearest rank.

use crate::judge::{Outcome, Verdict};
use crate::tally::Tally;

/// The quantiles of the latency in every table.
pub const RANKS: [f64; 2] = [0.5, 0.9];

/// The median and the 90th percentile of the latency over all loops, in the unit of the row.
///
/// `None` without loops. Infinite, written `never`, if too few loops are hits.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Quantiles {
    /// The median.
    pub p50: Option<f64>,
    /// The 90th percentile.
    pub p90: Option<f64>,
}

/// Returns the nearest rank of the quantile `q` of `n` values, from 1. `None` if `n` is 0.
///
/// It is the least k with k >= q·n. The median of 5 values is the 3rd, and of 4 the 2nd. The 90th percentile of 20
/// values is the 18th.
pub fn rank(q: f64, n: u64) -> Option<u64> {
    // 0.9 x 20 is 18 in exact arithmetic; the slack keeps rounding from making it 19.
    let exact = q * n as f64;
    (n > 0).then(|| ((exact - 1e-9).ceil() as u64).clamp(1, n))
}

/// The latencies of hits, in chars.
///
/// Latencies add like a [`Tally`], but they grow with the hits. They are used for reported settings, never for a grid.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Latencies(Vec<u64>);

impl Latencies {
    /// Collects the latencies of the hits in some outcomes.
    pub fn from_outcomes<'a>(outcomes: impl IntoIterator<Item = &'a Outcome>) -> Self {
        let mut all = Self::default();
        outcomes.into_iter().for_each(|one| all.add_hit(one));
        all.sort()
    }

    /// Adds the latency of an outcome if it is a is_hit. Call [`sort`](Self::sort) before reading.
    pub(crate) fn add_hit(&mut self, outcome: &Outcome) {
        let is_hit = outcome.verdict == Verdict::Hit;
        self.0.extend(outcome.latency.filter(|_| is_hit));
    }

    /// Sorts the latencies.
    pub(crate) fn sort(mut self) -> Self {
        self.0.sort_unstable();
        self
    }

    /// Returns the latencies in ascending order.
    pub fn rising(&self) -> &[u64] {
        &self.0
    }

    /// Returns the quantiles over all loops of `tally`. The latency of a loop without a hit is infinite.
    pub fn of_loops(&self, tally: &Tally) -> Quantiles {
        let at = |q| rank(q, tally.loops()).map(|k| self.value_at_rank(k));
        let [p50, p90] = RANKS.map(at);
        Quantiles { p50, p90 }
    }

    fn value_at_rank(&self, k: u64) -> f64 {
        let index = usize::try_from(k - 1).unwrap_or(usize::MAX);
        self.0
            .get(index)
            .map_or(f64::INFINITY, |latency| *latency as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tally::Count;

    #[test]
    fn ranks_are_nearest_ranks() {
        assert_eq!(rank(0.5, 5), Some(3));
        assert_eq!(rank(0.5, 4), Some(2));
        assert_eq!(rank(0.95, 20), Some(19));
        assert_eq!(rank(0.9, 10), Some(9));
        assert_eq!(rank(0.9, 1), Some(1));
        assert_eq!(rank(0.5, 0), None);
    }

    #[test]
    fn ranks_agree_with_whole_numbers() {
        for n in 1..2000_u64 {
            assert_eq!(rank(0.5, n), Some(n.div_ceil(2)));
            assert_eq!(rank(0.9, n), Some((9 * n).div_ceil(10)));
            assert_eq!(rank(0.95, n), Some((19 * n).div_ceil(20)));
        }
    }

    #[test]
    fn misses_are_infinite_and_nothing_is_none() {
        let latencies = Latencies(vec![10, 20, 30]);
        let mut tally = Tally::default();
        (tally[Count::Hit], tally[Count::Miss]) = (3, 1);
        let all = latencies.of_loops(&tally);
        assert_eq!((all.p50, all.p90), (Some(20.0), Some(f64::INFINITY)));
        tally[Count::Hit] = 0;
        assert_eq!(
            Latencies::default().of_loops(&tally).p50,
            Some(f64::INFINITY)
        );
    }
}
