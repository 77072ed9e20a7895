//! [`Formula`]: the value of a measure, from counts.

use serde::{Deserialize, Serialize};

use super::entry::{Measure, UncertaintyMethod};
use crate::intervals::{Interval, PoissonCache, wilson};
use crate::tally::{Count, Tally};

/// A formula: one ratio, or several joined ratios.
#[derive(Clone, Copy, Debug)]
pub struct Formula {
    /// The ratios.
    pub ratios: &'static [Ratio],
    /// The rule that joins the ratios.
    pub joined: RatioRule,
}

/// A ratio: `scale` times a sum of counts over a sum of counts.
#[derive(Clone, Copy, Debug)]
pub struct Ratio {
    /// The factor.
    pub scale: f64,
    /// The terms of the numerator.
    pub num: &'static [Term],
    /// The terms of the denominator.
    pub den: &'static [Term],
}

/// A count and its factor.
#[derive(Clone, Copy, Debug)]
pub struct Term(pub Count, pub Times);

/// The factor of a count.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Times {
    /// A number.
    Number(f64),
    /// A number times [`Stakes::response`].
    Responses(f64),
}

deadloop_replay::detect::words! {
    /// The rule that joins ratios to one score. The script of the report's page implements both rules too.
    pub enum RatioRule {
        /// The value of the only ratio.
        Alone = "alone",
        /// The share of loops from which the guard pays: b / (a + b). It is n/a if a is not above 0.
        BreakEven = "break-even",
    }
}

/// The cost of a wrong alarm, and the share of production's responses that loop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Stakes {
    /// The share of production's responses that loop, between 0 and 1, if given. No measure depends on it.
    #[serde(default)]
    pub loop_rate: Option<f64>,
    /// The length of a mean clean response, in units. A wrong alarm generates that much again, beyond the text thrown
    /// away.
    #[serde(default)]
    pub response: f64,
}

/// Returns a count with factor 1.
pub(super) const fn one(count: Count) -> Term {
    Term(count, Times::Number(1.0))
}

/// Returns a count with factor `x`.
pub(super) const fn times(x: f64, count: Count) -> Term {
    Term(count, Times::Number(x))
}

/// Transcripts with a loop.
const LOOPS: &[Term] = &[
    one(Count::Hit),
    one(Count::Premature),
    one(Count::Stale),
    one(Count::Miss),
    one(Count::Earlier),
];

/// Transcripts without a loop.
const CLEAN: &[Term] = &[one(Count::FalseAlarm), one(Count::Quiet)];

/// Returns the ratio `num` / loops.
pub(super) const fn of_loops(num: &'static [Term]) -> Ratio {
    ratio(1.0, num, LOOPS)
}

/// Returns the ratio `scale` `num` / `den`.
pub(super) const fn ratio(scale: f64, num: &'static [Term], den: &'static [Term]) -> Ratio {
    Ratio { scale, num, den }
}

/// Returns the ratio `num` / clean transcripts.
pub(super) const fn of_clean(num: &'static [Term]) -> Ratio {
    ratio(1.0, num, CLEAN)
}

/// Returns the formula of one ratio. `ratio` has exactly one.
pub(super) const fn of_one(ratio: &'static [Ratio]) -> Formula {
    Formula {
        ratios: ratio,
        joined: RatioRule::Alone,
    }
}

impl Ratio {
    /// Returns the numerator, without the scale, and the denominator.
    pub(super) fn parts(&self, tally: &Tally, worth: &Stakes) -> (f64, f64) {
        let sum = |terms: &[Term]| {
            let term = |Term(count, times): &Term| match times {
                Times::Number(x) => x * tally[*count] as f64,
                Times::Responses(x) => x * worth.response * tally[*count] as f64,
            };
            terms.iter().map(term).sum::<f64>()
        };
        (sum(self.num), sum(self.den))
    }

    /// Returns the value of the ratio. `None` if the denominator is 0.
    pub(super) fn value(&self, tally: &Tally, worth: &Stakes) -> Option<f64> {
        self.quotient(self.parts(tally, worth))
    }

    /// Returns the scaled quotient of two sums. `None` if the second is not above 0.
    pub(super) fn quotient(&self, (n, d): (f64, f64)) -> Option<f64> {
        (d > 0.0).then(|| self.scale * (n / d))
    }
}

impl RatioRule {
    /// Joins the values of the ratios to a score. `None` if the score is n/a.
    pub(super) fn join(self, values: &[f64]) -> Option<f64> {
        match (self, values) {
            (Self::Alone, [only]) => Some(*only),
            (Self::BreakEven, [s, w]) => (*s > 0.0).then(|| w / (s + w)),
            _ => None,
        }
    }
}

impl Formula {
    /// Computes the score from the values of its ratios. `None` if a ratio or the score is n/a.
    pub(super) fn value(&self, of: impl Fn(&Ratio) -> Option<f64>) -> Option<f64> {
        let mut values = [0.0; 2];
        for (value, ratio) in values.iter_mut().zip(self.ratios) {
            *value = of(ratio)?;
        }
        self.joined.join(&values[..self.ratios.len()])
    }
}

impl Measure {
    /// Returns the value for a tally. `None` if it is n/a.
    pub fn value(&self, tally: &Tally, worth: &Stakes) -> Option<f64> {
        self.formula.value(|ratio| ratio.value(tally, worth))
    }

    /// Returns the 95 % interval in closed form: Wilson for a share, exact Poisson for a rate.
    pub fn interval(&self, tally: &Tally, cache: &mut PoissonCache) -> Option<Interval> {
        let (k, n) = self.counts(tally)?;
        self.interval_of(k, n, cache)
    }

    /// Returns the interval of `k` of `n`, or of `k` events in `n` units.
    pub fn interval_of(&self, k: u64, n: u64, cache: &mut PoissonCache) -> Option<Interval> {
        match self.certainty {
            UncertaintyMethod::Share => wilson(k, n),
            UncertaintyMethod::Rate => {
                let Interval { lo, hi } = cache.get(k);
                let per = |events: f64| self.scale() * events / n as f64;
                (n > 0).then(|| Interval {
                    lo: per(lo),
                    hi: per(hi),
                })
            }
            UncertaintyMethod::Resampled => None,
        }
    }

    /// Returns `k` of `n` for a share, or `k` events in `n` units for a rate. `None` for other measures.
    pub fn counts(&self, tally: &Tally) -> Option<(u64, u64)> {
        if self.certainty == UncertaintyMethod::Resampled {
            return None;
        }
        let sum = |terms: &[Term]| terms.iter().map(|Term(count, _)| tally.get(*count)).sum();
        let ratio = self.formula.ratios.first()?;
        Some((sum(ratio.num), sum(ratio.den)))
    }

    /// Iterates over the counts in the formula, with repetitions.
    pub(crate) fn counted(&self) -> impl Iterator<Item = Count> + use<> {
        let ratios = self.formula.ratios.iter();
        let terms = ratios.flat_map(|ratio| ratio.num.iter().chain(ratio.den));
        terms.map(|term| term.0)
    }

    /// Returns the scale of the first ratio.
    pub fn scale(&self) -> f64 {
        self.formula.ratios.first().map_or(1.0, |ratio| ratio.scale)
    }
}
