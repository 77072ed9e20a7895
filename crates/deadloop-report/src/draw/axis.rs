//! [`ChartAxis`]: a logarithmic scale with a strip for 0.

use plotters::coord::ranged1d::{DefaultFormatting, KeyPointHint, Ranged};
use std::ops::Range;

/// The width of the strip for 0, as a share of the scale.
const STRIP_SHARE: f64 = 0.17;
/// The width of the gap between the strip and the other rates, as a share of the scale.
const GAP_SHARE: f64 = 0.02;

/// A scale for rates, with a strip for 0 and a logarithmic scale for positive rates.
#[derive(Debug, Clone)]
pub(crate) struct ChartAxis {
    low: f64,
    high: f64,
    ticks: Vec<f64>,
}

impl ChartAxis {
    /// Creates the scale for these rates. The value -1 is the left end of the strip for 0.
    pub(crate) fn for_rates(rates: impl Iterator<Item = f64>) -> Self {
        let positive: Vec<f64> = rates.filter(|&rate| rate > 0.0).collect();
        let least = positive.iter().copied().fold(1.0, f64::min);
        let most = positive.iter().copied().fold(1.0, f64::max);
        let low = 10f64.powf(least.log10().floor());
        let high = (most * 1.3).max(low * 10.0);
        let decades = (0..).map(|n| low * 10f64.powi(n));
        let decades = decades
            .take_while(|at| *at <= high)
            .flat_map(|at| [at, 3.0 * at]);
        let low_end = least.min(3.0 * low) / 1.3;
        let inside = decades.filter(|at| (low_end..=high).contains(at));
        Self {
            low: low_end,
            high,
            ticks: std::iter::once(0.0).chain(inside).collect(),
        }
    }

    /// Returns the position of a value on the scale, from 0 to 1.
    fn position(&self, value: f64) -> f64 {
        if value <= 0.0 {
            return STRIP_SHARE * (1.0 + value.max(-1.0)) / 2.0;
        }
        let ratio = value.max(self.low) / self.low;
        let position = (ratio.ln() / (self.high / self.low).ln()).clamp(0.0, 1.0);
        STRIP_SHARE + GAP_SHARE + (1.0 - STRIP_SHARE - GAP_SHARE) * position
    }
}

impl Ranged for ChartAxis {
    type FormatOption = DefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, limit: (i32, i32)) -> i32 {
        let length = f64::from(limit.1 - limit.0);
        limit.0 + (self.position(*value) * length).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, _hint: Hint) -> Vec<f64> {
        self.ticks.clone()
    }

    fn range(&self) -> Range<f64> {
        -1.0..self.high
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zero_has_a_strip_beside_rising_rates() {
        let axis = ChartAxis::for_rates([0.0, 0.12, 700.0].into_iter());
        let ticks = axis.ticks.iter().map(|at| format!("{at:.1}"));
        assert_eq!(
            ticks.collect::<Vec<_>>().join(" "),
            "0.0 0.1 0.3 1.0 3.0 10.0 30.0 100.0 300.0"
        );
        let places: Vec<f64> = axis.ticks.iter().map(|at| axis.position(*at)).collect();
        assert!(places.is_sorted() && places[0] == STRIP_SHARE / 2.0 && places[1] > STRIP_SHARE);
        assert_eq!(axis.position(-1.0), 0.0);
        assert_eq!(axis.position(f64::MIN_POSITIVE), STRIP_SHARE + GAP_SHARE);
    }
}
