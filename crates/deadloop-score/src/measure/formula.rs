//! [`Formula`]: a measure from counts, and its value.

use serde::{Deserialize, Serialize};

use super::entry::{Certainty, Measure};
use crate::intervals::{Interval, PoissonCache, wilson};
use crate::tally::{Count, Tally};

/// A formula: one ratio, or some that are joined.
#[derive(Clone, Copy, Debug)]
pub struct Formula {
    /// The ratios.
    pub ratios: &'static [Ratio],
    /// How they are joined.
    pub joined: Joined,
}

/// `scale` times a sum of counts over a sum of counts.
#[derive(Clone, Copy, Debug)]
pub struct Ratio {
    /// The factor.
    pub scale: f64,
    /// What is summed above the line.
    pub num: &'static [Term],
    /// What is summed below it.
    pub den: &'static [Term],
}

/// A count and what it is multiplied with.
#[derive(Clone, Copy, Debug)]
pub struct Term(pub Count, pub Times);

/// What a count is multiplied with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Times {
    /// A number.
    Number(f64),
    /// A number times [`Worth::response`].
    Responses(f64),
}

deadloop_replay::detect::words! {
    /// How several ratios make one score. The page's script has the same two.
    pub enum Joined {
        /// The only one.
        Alone = "alone",
        /// The share of loops from which on the guard pays: b / (a + b), n/a where a is not above 0.
        BreakEven = "break-even",
    }
}

/// What a wrong alarm costs, and how often production loops where somebody said so.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Worth {
    /// The share of production's responses that loop, above 0 and below 1, where it was given. No measure depends on it.
    #[serde(default)]
    pub loop_rate: Option<f64>,
    /// What a wrong alarm makes generated again besides what it threw away: the units of one mean clean response.
    #[serde(default)]
    pub response: f64,
}

/// A count, once.
pub(super) const fn one(count: Count) -> Term {
    Term(count, Times::Number(1.0))
}

/// `x` times a count.
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

/// Of loops: `num` / loops.
pub(super) const fn of_loops(num: &'static [Term]) -> Ratio {
    Ratio {
        scale: 1.0,
        num,
        den: LOOPS,
    }
}

/// Of clean transcripts: `num` / clean.
pub(super) const fn of_clean(num: &'static [Term]) -> Ratio {
    Ratio {
        scale: 1.0,
        num,
        den: CLEAN,
    }
}

/// The formula of one ratio: `ratio` has exactly one.
pub(super) const fn alone(ratio: &'static [Ratio]) -> Formula {
    Formula {
        ratios: ratio,
        joined: Joined::Alone,
    }
}

impl Ratio {
    /// The numerator, without the scale, and the denominator.
    pub(super) fn parts(&self, tally: &Tally, worth: &Worth) -> (f64, f64) {
        let sum = |terms: &[Term]| {
            let term = |Term(count, times): &Term| match times {
                Times::Number(x) => x * tally[*count] as f64,
                Times::Responses(x) => x * worth.response * tally[*count] as f64,
            };
            terms.iter().map(term).sum::<f64>()
        };
        (sum(self.num), sum(self.den))
    }

    /// Its value; `None` where the denominator is 0.
    pub(super) fn value(&self, tally: &Tally, worth: &Worth) -> Option<f64> {
        self.divided(self.parts(tally, worth))
    }

    /// The scaled quotient of two sums; `None` where the second is not above 0.
    pub(super) fn divided(&self, (n, d): (f64, f64)) -> Option<f64> {
        (d > 0.0).then(|| self.scale * (n / d))
    }
}

impl Joined {
    /// The score from the values of its ratios; `None` where it is n/a.
    pub(super) fn join(self, values: &[f64]) -> Option<f64> {
        match (self, values) {
            (Self::Alone, [only]) => Some(*only),
            (Self::BreakEven, [s, w]) => (*s > 0.0).then(|| w / (s + w)),
            _ => None,
        }
    }
}

impl Formula {
    /// Its value from those of its ratios; `None` where it, or one of them, is n/a.
    pub(super) fn value(&self, of: impl Fn(&Ratio) -> Option<f64>) -> Option<f64> {
        let mut values = [0.0; 2];
        for (value, ratio) in values.iter_mut().zip(self.ratios) {
            *value = of(ratio)?;
        }
        self.joined.join(&values[..self.ratios.len()])
    }
}

impl Measure {
    /// Its value; `None` where it is n/a.
    pub fn value(&self, tally: &Tally, worth: &Worth) -> Option<f64> {
        self.formula.value(|ratio| ratio.value(tally, worth))
    }

    /// Its 95 % interval where that has a closed form: Wilson for shares, exact Poisson for rates.
    pub fn interval(&self, tally: &Tally, cache: &mut PoissonCache) -> Option<Interval> {
        let (k, n) = self.counts(tally)?;
        match self.certainty {
            Certainty::Share => wilson(k, n),
            Certainty::Rate => {
                let Interval { lo, hi } = cache.get(k);
                let per = |events: f64| self.scale() * events / n as f64;
                (n > 0).then(|| Interval {
                    lo: per(lo),
                    hi: per(hi),
                })
            }
            Certainty::Resampled => None,
        }
    }

    /// `k` of `n` for a share, `k` events in `n` units for a rate; `None` for other measures.
    pub fn counts(&self, tally: &Tally) -> Option<(u64, u64)> {
        if self.certainty == Certainty::Resampled {
            return None;
        }
        let sum = |terms: &[Term]| terms.iter().map(|Term(count, _)| tally.get(*count)).sum();
        let ratio = self.formula.ratios.first()?;
        Some((sum(ratio.num), sum(ratio.den)))
    }

    /// The counts that it is computed from, some of them more than once.
    pub(crate) fn counted(&self) -> impl Iterator<Item = Count> + use<> {
        let ratios = self.formula.ratios.iter();
        let terms = ratios.flat_map(|ratio| ratio.num.iter().chain(ratio.den));
        terms.map(|term| term.0)
    }

    /// The scale of its first ratio.
    pub fn scale(&self) -> f64 {
        self.formula.ratios.first().map_or(1.0, |ratio| ratio.scale)
    }
}
