//! [`Formula`]: the computation of a measure from counts.

use serde::{Deserialize, Serialize};

use super::entry::{Measure, UncertaintyMethod};
use crate::intervals::{Interval, PoissonCache, wilson};
use crate::tally::{Count, Tally};

/// The formula by which a measure is computed from counts.
#[derive(Clone, Copy, Debug)]
pub enum Formula {
    /// A ratio of sums of counts.
    Ratio(Ratio),
    /// The share of looping responses at which a guard pays: W / (S + W). It is n/a if S is not above 0.
    BreakEven {
        /// S, the number of units that a guard spares per loop.
        spared: Ratio,
        /// W, the number of units that a guard costs per clean transcript.
        wasted: Ratio,
    },
}

/// A ratio of two sums of counts, times a factor.
#[derive(Clone, Copy, Debug)]
pub struct Ratio {
    /// The factor of the ratio.
    pub scale: f64,
    /// The terms of the numerator.
    pub num: &'static [Term],
    /// The terms of the denominator.
    pub den: &'static [Term],
}

/// A count with its factor.
#[derive(Clone, Copy, Debug)]
pub struct Term(pub Count, pub Times);

/// The factor of a count.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Times {
    /// A constant factor.
    Number(f64),
    /// A constant factor times [`Stakes::response`].
    Responses(f64),
}

/// The cost of a wrong alarm, and the share of production responses that loop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Stakes {
    /// The share of production responses that loop, from 0 to 1. `None` if it is unknown. No measure depends on it.
    #[serde(default)]
    pub loop_rate: Option<f64>,
    /// The length of a mean clean response, in units. A wrong alarm costs this length, beyond the text thrown away,
    /// since the response is generated again.
    #[serde(default)]
    pub response: f64,
}

/// Returns the term of a count with factor 1.
pub(super) const fn term(count: Count) -> Term {
    Term(count, Times::Number(1.0))
}

/// Returns the term of a count with a factor.
pub(super) const fn scaled(factor: f64, count: Count) -> Term {
    Term(count, Times::Number(factor))
}

/// The counts of transcripts with a loop.
const LOOP_COUNTS: &[Term] = &[
    term(Count::Hit),
    term(Count::Premature),
    term(Count::Stale),
    term(Count::Miss),
    term(Count::Earlier),
];

/// The counts of transcripts without a loop.
const CLEAN_COUNTS: &[Term] = &[term(Count::FalseAlarm), term(Count::Quiet)];

/// Returns the ratio of `num` to the number of loops.
pub(super) const fn per_loop(num: &'static [Term]) -> Ratio {
    ratio(1.0, num, LOOP_COUNTS)
}

/// Returns the ratio of `num` to `den`, times `scale`.
pub(super) const fn ratio(scale: f64, num: &'static [Term], den: &'static [Term]) -> Ratio {
    Ratio { scale, num, den }
}

/// Returns the ratio of `num` to the number of clean transcripts.
pub(super) const fn per_clean(num: &'static [Term]) -> Ratio {
    ratio(1.0, num, CLEAN_COUNTS)
}

impl Ratio {
    /// Returns the value of the ratio. `None` if the denominator is not above 0.
    pub(super) fn value(&self, tally: &Tally, worth: &Stakes) -> Option<f64> {
        let sum = |terms: &[Term]| {
            let term = |Term(count, times): &Term| match times {
                Times::Number(x) => x * tally[*count] as f64,
                Times::Responses(x) => x * worth.response * tally[*count] as f64,
            };
            terms.iter().map(term).sum::<f64>()
        };
        let (n, d) = (sum(self.num), sum(self.den));
        (d > 0.0).then(|| self.scale * (n / d))
    }
}

impl Formula {
    /// Returns the first ratio of the formula.
    fn first_ratio(&self) -> &Ratio {
        match self {
            Self::Ratio(first) | Self::BreakEven { spared: first, .. } => first,
        }
    }

    /// Iterates over the ratios of the formula.
    pub(crate) fn ratios(&self) -> impl Iterator<Item = &Ratio> {
        let second = match self {
            Self::Ratio(_) => None,
            Self::BreakEven { wasted, .. } => Some(wasted),
        };
        std::iter::once(self.first_ratio()).chain(second)
    }
}

impl Measure {
    /// Returns the value of the measure for a tally. `None` if it is n/a.
    pub fn value(&self, tally: &Tally, worth: &Stakes) -> Option<f64> {
        match &self.formula {
            Formula::Ratio(ratio) => ratio.value(tally, worth),
            Formula::BreakEven { spared, wasted } => {
                let (s, w) = (spared.value(tally, worth)?, wasted.value(tally, worth)?);
                (s > 0.0).then(|| w / (s + w))
            }
        }
    }

    /// Returns the 95 % interval of the measure in closed form. `None` for a measure that is resampled.
    pub fn interval(&self, tally: &Tally, cache: &mut PoissonCache) -> Option<Interval> {
        let (k, n) = self.counts(tally)?;
        self.interval_of(k, n, cache)
    }

    /// Returns the interval of `k` of `n` for a share, or of `k` events in `n` units for a rate.
    pub fn interval_of(&self, k: u64, n: u64, cache: &mut PoissonCache) -> Option<Interval> {
        match self.certainty {
            UncertaintyMethod::Share => wilson(k, n),
            UncertaintyMethod::Rate => {
                let rate = |events: f64| self.scale() * events / n as f64;
                (n > 0).then(|| cache.get(k).map(rate))
            }
            UncertaintyMethod::Resampled => None,
        }
    }

    /// Returns the counts behind the interval: `k` of `n` for a share, or `k` events in `n` units for a rate. `None`
    /// for other measures.
    pub fn counts(&self, tally: &Tally) -> Option<(u64, u64)> {
        if self.certainty == UncertaintyMethod::Resampled {
            return None;
        }
        let sum = |terms: &[Term]| terms.iter().map(|Term(count, _)| tally.get(*count)).sum();
        let ratio = self.formula.first_ratio();
        Some((sum(ratio.num), sum(ratio.den)))
    }

    /// Iterates over the counts in the formula. A count may occur more than once.
    pub(crate) fn counts_used(&self) -> impl Iterator<Item = Count> {
        let ratios = self.formula.ratios();
        let terms = ratios.flat_map(|ratio| ratio.num.iter().chain(ratio.den));
        terms.map(|term| term.0)
    }

    /// Returns the factor of the formula's first ratio.
    pub fn scale(&self) -> f64 {
        self.formula.first_ratio().scale
    }
}
