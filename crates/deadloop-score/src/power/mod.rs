//! How much data a claim or a difference takes. Everything is exact: binomial and Poisson bounds as
//! constraints use them (one-sided, 95 %), exact McNemar (two-sided) for differences.

use statrs::function::beta::checked_beta_reg;
use statrs::function::erf::erfc_inv;
use statrs::function::gamma::checked_gamma_ur;

use crate::intervals::{poisson_upper, proportion_lower};

/// Every number of errors up to this one is tried.
const FEW_ERRORS: u64 = 50;

/// The chance with which a claim may be wrong, and the size of a test.
pub const ALPHA: f64 = 0.05;

/// Beyond this nobody labels.
const MOST: u64 = 1_000_000_000;

/// Errors, or discordant pairs, up to which sizes are worked out exactly. Beyond, the sums take minutes
/// and the series of the beta function is cut off before it has converged; and there a normal
/// approximation is right to four digits.
pub const MOST_ERRORS: u64 = 10_000;

/// The data and the errors in them with which a claim is supported.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Need {
    /// Errors that may be seen: wrong alarms, or misses.
    pub errors: u64,
    /// Clean chars, or transcripts.
    pub size: u64,
    /// The probability that no more errors are seen, where the truth is given.
    pub power: Option<f64>,
}

/// What is claimed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Claim {
    /// There are at most this many wrong alarms per million clean chars.
    Rate(f64),
    /// At most this share are errors. A recall of at least R is a share of misses of at most 1 - R.
    Share(f64),
}

impl Claim {
    /// Returns the least data that support the claim with that many errors; `None`: more than a
    /// billion.
    ///
    /// `Rate(1.0)`, no error: 2 995 733 chars. `Share(0.1)`, no error: 29.
    pub fn need(self, errors: u64) -> Option<u64> {
        match self {
            Self::Rate(bound) => {
                let size = (1e6 * poisson_upper(errors, ALPHA) / bound).ceil();
                (size <= 1e15).then_some(size as u64)
            }
            Self::Share(bound) => least(errors + 1, MOST, |n| {
                // The right ones: their lower bound is one minus the errors' upper.
                proportion_lower(n - errors, n, ALPHA).is_some_and(|lo| lo >= 1.0 - bound)
            }),
        }
    }

    /// The least data that support the claim with probability `power` if errors truly are as
    /// frequent as `truth` (in the claim's own units); `None`: the truth is not below the claim, or
    /// it takes more than [`MOST_ERRORS`] errors, for which see [`about`](Self::about).
    ///
    /// Power saws up and down a little as errors grow by one; this is where it first stays up, to within
    /// that.
    pub fn need_for(self, truth: f64, power: f64) -> Option<Need> {
        // What is sought is found by halves: far beyond what is exact nothing has to be tried.
        if self.about_errors(truth, power)? > 2.0 * MOST_ERRORS as f64 {
            return None;
        }
        // What is supported changes only where one more error is allowed.
        let with = |errors: u64| {
            let size = self.need(errors)?;
            let reached = match self {
                Self::Rate(_) => poisson_at_most(errors, truth * size as f64 / 1e6),
                Self::Share(_) => binomial_at_most(errors, size, truth),
            };
            (reached >= power).then_some(Need {
                errors,
                size,
                power: Some(reached),
            })
        };
        // The first few one by one, where the saw is coarse.
        if let Some(need) = (0..=FEW_ERRORS).find_map(with) {
            return Some(need);
        }
        let beyond = least(1, MOST_ERRORS, |more| with(FEW_ERRORS + more).is_some())?;
        with(FEW_ERRORS + beyond).filter(|need| need.errors <= MOST_ERRORS)
    }

    /// About how much data supports the claim with probability `power`, by a normal approximation, as
    /// near to the claim as the truth may be; `None`: the truth is not below the claim.
    pub fn about(self, truth: f64, power: f64) -> Option<f64> {
        let (bound, unit) = match self {
            Self::Rate(bound) => (bound, 1e6),
            Self::Share(bound) => (bound, 1.0),
        };
        let below = bound - truth;
        if truth.is_nan() || below <= 0.0 {
            return None;
        }
        let variance = |p: f64| match self {
            Self::Rate(_) => p.max(0.0),
            Self::Share(_) => p.max(0.0) * (1.0 - p),
        };
        let apart =
            normal(1.0 - ALPHA) * variance(bound).sqrt() + normal(power) * variance(truth).sqrt();
        Some(unit * (apart / below).powi(2))
    }

    /// About how many errors are among them.
    fn about_errors(self, truth: f64, power: f64) -> Option<f64> {
        let unit = match self {
            Self::Rate(_) => 1e6,
            Self::Share(_) => 1.0,
        };
        Some(self.about(truth, power)? * truth.max(0.0) / unit)
    }
}

/// How often two settings differ on the same transcripts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Discordant {
    /// The share (or rate per million chars) on which only the new one is right.
    pub gained: f64,
    /// On which only the old one is.
    pub lost: f64,
}

impl Discordant {
    /// The new setting is right wherever the old one is, and more: the least data that can do.
    /// `from`, `to`: shares of right answers.
    pub fn nested(from: f64, to: f64) -> Self {
        Self {
            gained: (to - from).max(0.0),
            lost: (from - to).max(0.0),
        }
    }

    /// The two are right independently of each other: more than it usually takes.
    pub fn independent(from: f64, to: f64) -> Self {
        Self {
            gained: to * (1.0 - from),
            lost: from * (1.0 - to),
        }
    }

    /// The probability that exact McNemar (two-sided, 5 %) finds the new setting better on `n`
    /// pairs. Sums over the number of discordant pairs, which is binomial, and over how they fall.
    pub fn power(self, n: u64) -> f64 {
        let any = self.gained + self.lost;
        if any <= 0.0 {
            return 0.0;
        }
        let pairs = |d: u64| binomial_at_most(d, n, any);
        self.found(pairs, any * n as f64, n)
    }

    /// The same on `mchars` million chars of clean text. There the differences are events (Poisson).
    pub fn rate_power(self, mchars: f64) -> f64 {
        let mean = (self.gained + self.lost) * mchars;
        if mean <= 0.0 {
            return 0.0;
        }
        self.found(|d| poisson_at_most(d, mean), mean, u64::MAX)
    }

    /// The fewest pairs at which the power reaches `power`. As sizes grow by one, power goes up and down
    /// by a few hundredths; this is where it first stays up, to within that. `None` if the new one is not
    /// better, or if the two would differ on more than [`MOST_ERRORS`] pairs; for those, see
    /// [`about_pairs`](Self::about_pairs).
    pub fn pairs(self, power: f64) -> Option<u64> {
        self.is_exact(self.about_pairs(power)?)
            .then(|| least(1, MOST, |n| self.power(n) >= power))?
    }

    /// The fewest chars of clean text, in steps of 1000; see [`pairs`](Self::pairs).
    pub fn chars(self, power: f64) -> Option<u64> {
        let mchars = self.about_chars(power)? / 1e6;
        let enough = |n: u64| self.rate_power(n as f64 / 1e3) >= power;
        let thousands = self.is_exact(mchars).then(|| least(1, MOST, enough))?;
        thousands.map(|n| n * 1000)
    }

    /// About how many pairs it takes, by a normal approximation; `None`: the new one is not better.
    pub fn about_pairs(self, power: f64) -> Option<f64> {
        let better = self.gained - self.lost;
        let any = self.gained + self.lost;
        self.about(power, (any - better * better).max(0.0))
    }

    /// See [`about_pairs`](Self::about_pairs); chars.
    pub fn about_chars(self, power: f64) -> Option<f64> {
        let mchars = self.about(power, self.gained + self.lost)?;
        Some(1e6 * mchars)
    }

    /// `variance`: of the difference on one pair, where the new one is better.
    fn about(self, power: f64, variance: f64) -> Option<f64> {
        let better = self.gained - self.lost;
        let apart = normal(1.0 - ALPHA / 2.0) * (self.gained + self.lost).sqrt()
            + normal(power) * variance.sqrt();
        (better > 0.0).then(|| (apart / better).powi(2))
    }

    /// Whether few enough of `size` pairs, or million chars, are discordant to compute the sums.
    fn is_exact(self, size: f64) -> bool {
        size * (self.gained + self.lost) <= MOST_ERRORS as f64
    }

    /// Over the numbers d of discordant pairs: P(d) x P(those that are gained are enough | d).
    fn found(self, at_most: impl Fn(u64) -> f64, mean: f64, n: u64) -> f64 {
        let spread = 9.0 * mean.sqrt() + 20.0;
        let (from, to) = ((mean - spread).max(0.0) as u64, (mean + spread) as u64);
        let share = self.gained / (self.gained + self.lost);
        let mut below = from.checked_sub(1).map_or(0.0, &at_most);
        let mut sum = 0.0;
        let mut most = None;
        for d in from..=to.min(n) {
            let upto = at_most(d);
            most = match most {
                // With one pair more, at most one more may be lost.
                Some(before) if is_significant(before + 1, d) => Some(before + 1),
                Some(before) => Some(before),
                None => most_lost(d),
            };
            if let Some(most) = most {
                sum += (upto - below) * binomial_at_most(most, d, 1.0 - share);
            }
            below = upto;
        }
        sum
    }
}

/// Of `d` discordant pairs, how many may be lost so that the gain is significant; `None`: `d` is too
/// few (below 6).
fn most_lost(d: u64) -> Option<u64> {
    if !is_significant(0, d) {
        return None;
    }
    // The first that is not, minus one: significance falls as more are lost.
    let (mut yes, mut no) = (0, d / 2 + 1);
    while no - yes > 1 {
        let mid = yes + (no - yes) / 2;
        if is_significant(mid, d) {
            yes = mid
        } else {
            no = mid
        }
    }
    Some(yes)
}

/// Whether so few are lost of `d` discordant pairs that exact McNemar finds the new setting better.
fn is_significant(lost: u64, d: u64) -> bool {
    2.0 * binomial_at_most(lost, d, 0.5) <= ALPHA
}

/// The quantile of the normal distribution.
fn normal(p: f64) -> f64 {
    -std::f64::consts::SQRT_2 * erfc_inv(2.0 * p)
}

/// The least number from `from` to `most` that is enough, if more always is.
fn least(from: u64, most: u64, enough: impl Fn(u64) -> bool) -> Option<u64> {
    let (mut lo, mut hi) = (from, from);
    while !enough(hi) {
        if hi >= most {
            return None;
        }
        (lo, hi) = (hi + 1, hi.saturating_mul(2).min(most));
    }
    while lo < hi {
        let mid = lo + (hi - lo) / 2;
        if enough(mid) { hi = mid } else { lo = mid + 1 }
    }
    Some(hi)
}

/// P(X <= k) of a binomial: a regularised beta function.
pub fn binomial_at_most(k: u64, n: u64, p: f64) -> f64 {
    match k >= n {
        true => 1.0,
        false if p <= 0.0 => 1.0,
        false if p >= 1.0 => 0.0,
        false => checked_beta_reg((n - k) as f64, k as f64 + 1.0, 1.0 - p).unwrap_or(f64::NAN),
    }
}

/// P(X <= k) of a Poisson: an upper regularised gamma function.
pub fn poisson_at_most(k: u64, mean: f64) -> f64 {
    if mean <= 0.0 {
        return 1.0;
    }
    checked_gamma_ur(k as f64 + 1.0, mean).unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests;
