//! Scales and their ticks, as plotters' `Ranged` so that plotters maps data to pixels.

use plotters::coord::ranged1d::{DefaultFormatting, KeyPointHint, Ranged};
use std::ops::Range;

/// How values become places.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Scale {
    /// Evenly.
    Linear,
    /// By their logarithm; from the lowest value up.
    Log,
    /// Evenly up to the given value, by the logarithm above: shows 0 and thousands on one axis.
    Symlog(f64),
}

/// One axis: a scale, its ends and its ticks.
#[derive(Debug, Clone)]
pub(crate) struct Axis {
    scale: Scale,
    low: f64,
    high: f64,
    ticks: Vec<(f64, String)>,
}

impl Axis {
    /// Shares from 0 to 1 with a tick at each of `parts` equal parts.
    pub(crate) fn share(parts: u32) -> Self {
        let ticks = (0..=parts)
            .map(|n| {
                (
                    f64::from(n) / f64::from(parts),
                    format!("{} %", n * 100 / parts),
                )
            })
            .collect();
        Self {
            scale: Scale::Linear,
            low: 0.0,
            high: 1.0,
            ticks,
        }
    }

    /// Rates from 0 past the largest; the even part ends at the power of ten below the smallest that is not 0.
    pub(crate) fn rates(rates: impl Iterator<Item = f64>) -> Self {
        let positive: Vec<f64> = rates.filter(|&rate| rate > 0.0).collect();
        let least = positive.iter().copied().fold(1.0, f64::min);
        let most = positive.iter().copied().fold(1.0, f64::max);
        let linear = 10f64.powf(least.log10().floor()).clamp(0.1, 1.0);
        Self::symlog(linear, most * 1.3)
    }

    /// Logarithmic, with a tick at each of `ticks` inside.
    pub(crate) fn log(low: f64, high: f64, ticks: &[f64]) -> Self {
        let inside = ticks.iter().filter(|&&at| at >= low && at <= high);
        let ticks = inside.map(|&at| (at, plain(at))).collect();
        Self {
            scale: Scale::Log,
            low,
            high,
            ticks,
        }
    }

    /// From 0, even up to `linear`, logarithmic above; ticks at 0 and at 1, 3, 10, … times a power of ten.
    pub(crate) fn symlog(linear: f64, high: f64) -> Self {
        let mut ticks = vec![(0.0, "0".to_owned())];
        let (mut at, mut three) = (linear, false);
        let high = high.max(linear * 10.0);
        while at <= high * 1.0001 {
            ticks.push((at, plain(at)));
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

    /// The ticks: their places and their labels.
    pub(crate) fn ticks(&self) -> &[(f64, String)] {
        &self.ticks
    }

    /// The lowest value.
    pub(crate) fn low(&self) -> f64 {
        self.low
    }

    /// Where `value` lies, 0 at the low end and 1 at the high end; values outside are moved to the end.
    pub(crate) fn place(&self, value: f64) -> f64 {
        let bend = |v: f64| match self.scale {
            Scale::Linear => v,
            Scale::Log => v.max(self.low).ln(),
            Scale::Symlog(linear) => symlog(v, linear),
        };
        let (low, high) = (bend(self.low), bend(self.high));
        ((bend(value) - low) / (high - low)).clamp(0.0, 1.0)
    }
}

fn symlog(value: f64, linear: f64) -> f64 {
    if value <= linear {
        value / linear
    } else {
        1.0 + (value / linear).log10() * 1.6
    }
}

/// A tick's number: no exponent, no needless digits.
fn plain(value: f64) -> String {
    crate::numbers::plain(value, 3)
}

impl Ranged for Axis {
    type FormatOption = DefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, limit: (i32, i32)) -> i32 {
        let length = f64::from(limit.1 - limit.0);
        limit.0 + (self.place(*value) * length).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, _hint: Hint) -> Vec<f64> {
        self.ticks.iter().map(|tick| tick.0).collect()
    }

    fn range(&self) -> Range<f64> {
        self.low..self.high
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(axis: &Axis) -> Vec<&str> {
        axis.ticks().iter().map(|tick| tick.1.as_str()).collect()
    }

    #[test]
    fn symlog_shows_zero_and_large_values() {
        let axis = Axis::symlog(0.1, 1000.0);
        assert_eq!(
            labels(&axis),
            [
                "0",
                "0.1",
                "0.3",
                "1",
                "3",
                "10",
                "30",
                "100",
                "300",
                "1\u{202f}000"
            ]
        );
        let places: Vec<f64> = axis.ticks().iter().map(|tick| axis.place(tick.0)).collect();
        assert!(places.is_sorted() && places[0] == 0.0);
    }
}
