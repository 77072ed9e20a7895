//! Scales that plotters lacks: one with 0 and many powers, one with ticks of its own.

use plotters::coord::ranged1d::{DefaultFormatting, KeyPointHint, Ranged};
use std::ops::Range;

/// The mapping from values to places.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Scale {
    /// Logarithmic.
    Log,
    /// Linear up to this value and logarithmic above it, for rates that include 0.
    Symlog(f64),
}

/// A scale with its ends and ticks.
#[derive(Debug, Clone)]
pub(crate) struct Axis {
    scale: Scale,
    low: f64,
    high: f64,
    ticks: Vec<f64>,
}

impl Axis {
    /// Returns a scale for rates that can include 0.
    pub(crate) fn rates(rates: impl Iterator<Item = f64>) -> Self {
        let positive: Vec<f64> = rates.filter(|&rate| rate > 0.0).collect();
        let least = positive.iter().copied().fold(1.0, f64::min);
        let most = positive.iter().copied().fold(1.0, f64::max);
        let linear = 10f64.powf(least.log10().floor()).clamp(0.1, 1.0);
        Self::symlog(linear, most * 1.3)
    }

    /// Returns a logarithmic scale with the ticks inside its ends.
    pub(crate) fn log(low: f64, high: f64, ticks: &[f64]) -> Self {
        let inside = ticks.iter().filter(|&&at| at >= low && at <= high);
        Self {
            scale: Scale::Log,
            low,
            high,
            ticks: inside.copied().collect(),
        }
    }

    /// Returns a scale from 0, linear up to `linear`.
    fn symlog(linear: f64, high: f64) -> Self {
        let mut ticks = vec![0.0];
        let (mut at, mut three) = (linear, false);
        let high = high.max(linear * 10.0);
        while at <= high * 1.0001 {
            ticks.push(at);
            at *= if three { 10.0 / 3.0 } else { 3.0 };
            three = !three;
        }
        Self {
            scale: Scale::Symlog(linear),
            low: 0.0,
            high,
            ticks,
        }
    }

    /// Returns the place of a value between the ends, 0 to 1.
    fn place(&self, value: f64) -> f64 {
        let bend = |v: f64| match self.scale {
            Scale::Log => v.max(self.low).ln(),
            Scale::Symlog(linear) if v <= linear => v / linear,
            Scale::Symlog(linear) => 1.0 + (v / linear).log10() * 1.6,
        };
        let (low, high) = (bend(self.low), bend(self.high));
        ((bend(value) - low) / (high - low)).clamp(0.0, 1.0)
    }
}

impl Ranged for Axis {
    type FormatOption = DefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, limit: (i32, i32)) -> i32 {
        let length = f64::from(limit.1 - limit.0);
        limit.0 + (self.place(*value) * length).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, _hint: Hint) -> Vec<f64> {
        self.ticks.clone()
    }

    fn range(&self) -> Range<f64> {
        self.low..self.high
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symlog_shows_zero_and_large_values() {
        let axis = Axis::symlog(0.1, 1000.0);
        let ticks = axis.ticks.iter().map(|at| format!("{at:.1}"));
        assert_eq!(
            ticks.collect::<Vec<_>>().join(" "),
            "0.0 0.1 0.3 1.0 3.0 10.0 30.0 100.0 300.0 1000.0"
        );
        let places: Vec<f64> = axis.ticks.iter().map(|at| axis.place(*at)).collect();
        assert!(places.is_sorted() && places[0] == 0.0);
    }
}
