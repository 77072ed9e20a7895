//! The value of a measure where a model's own transcripts count in full and those of other models less.

use super::entry::Measure;
use super::formula::{Ratio, Worth};
use crate::choose::blend::{Blend, Weights};
use crate::tally::Tally;

impl Measure {
    /// Its value from smoothed counts; `None` where it is n/a.
    pub(crate) fn smoothed(&self, blend: &Blend, worth: &Worth) -> Option<f64> {
        let value = |ratio: &Ratio| ratio.divided(blended(ratio, blend, worth));
        self.formula.value(value)
    }

    /// [`counts`](Self::counts) from smoothed counts.
    pub(crate) fn smoothed_counts(&self, blend: &Blend) -> Option<(f64, f64)> {
        let ((a, b), (c, d)) = (self.counts(&blend.own)?, self.counts(&blend.rest)?);
        let weight = self.formula.ratios.first()?.of.weight(blend.weights);
        Some((a as f64 + weight * c as f64, b as f64 + weight * d as f64))
    }

    /// Its smoothed value, negated where less is better; n/a is the worst.
    pub(crate) fn merit(&self, blend: &Blend, worth: &Worth) -> f64 {
        self.smoothed(blend, worth)
            .map_or(f64::NEG_INFINITY, |value| self.sign() * value)
    }

    /// What a transcript of another model counts. `quiet` is its tally under a setting that never alarms.
    pub(crate) fn weight(&self, quiet: &Tally, weights: Weights) -> f64 {
        match self.formula.ratios {
            [only] => only.of.weight(weights),
            _ if quiet.loops() > 0 => weights.loops,
            _ => weights.clean,
        }
    }
}

/// The numerator and the denominator of a ratio from smoothed counts.
pub(super) fn blended(ratio: &Ratio, blend: &Blend, worth: &Worth) -> (f64, f64) {
    let own = ratio.parts(&blend.own, worth);
    if blend.is_whole() {
        return own;
    }
    let rest = ratio.parts(&blend.rest, worth);
    let weight = ratio.of.weight(blend.weights);
    (own.0 + weight * rest.0, own.1 + weight * rest.1)
}
