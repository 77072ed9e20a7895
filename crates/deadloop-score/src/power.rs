//! How much data a claim or a difference takes. Everything is exact: binomial and Poisson bounds as
//! constraints use them (one-sided, 95 %), exact McNemar (two-sided) for differences.

use statrs::function::beta::checked_beta_reg;
use statrs::function::gamma::checked_gamma_ur;

use crate::intervals::{poisson_upper, proportion_lower};

/// The chance with which a claim may be wrong, and the size of a test.
pub const ALPHA: f64 = 0.05;

/// Beyond this nobody labels.
const MOST: u64 = 1_000_000_000;

/// So much data, so many errors in it, and the claim is supported.
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
    /// At most so many wrong alarms per million clean chars.
    Rate(f64),
    /// At most this share of errors: of misses, for a recall of at least one minus it.
    Share(f64),
}

impl Claim {
    /// The least data that support the claim with so many errors in it; `None`: more than a billion.
    ///
    /// `Rate(1.0)`, no error: 2 995 733 chars. `Share(0.1)`, no error: 29.
    pub fn need(self, errors: u64) -> Option<u64> {
        match self {
            Self::Rate(bound) => {
                let size = (1e6 * poisson_upper(errors, ALPHA) / bound).ceil();
                (size <= 1e15).then_some(size as u64)
            }
            Self::Share(bound) => least(errors + 1, |n| {
                // The right ones: their lower bound is one minus the errors' upper.
                proportion_lower(n - errors, n, ALPHA).is_some_and(|lo| lo >= 1.0 - bound)
            }),
        }
    }

    /// The least data that support the claim with probability `power` if errors truly are as
    /// frequent as `truth` (in the claim's own units); `None`: the truth is not below the claim, or
    /// it takes too much.
    pub fn need_for(self, truth: f64, power: f64) -> Option<Need> {
        let bound = match self {
            Self::Rate(bound) | Self::Share(bound) => bound,
        };
        if truth.is_nan() || truth >= bound {
            return None;
        }
        // What is supported changes only where one more error is allowed.
        (0..100_000).find_map(|errors| {
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
        })
    }
}

/// How two settings differ on the same transcripts.
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

    /// The same on so many million chars of clean text, where what differs are events (Poisson).
    pub fn rate_power(self, mchars: f64) -> f64 {
        let mean = (self.gained + self.lost) * mchars;
        if mean <= 0.0 {
            return 0.0;
        }
        self.found(|d| poisson_at_most(d, mean), mean, u64::MAX)
    }

    /// The fewest pairs, or million chars in steps of 1000 chars, at which the power reaches
    /// `power`. Power saws up and down by a few hundredths as sizes grow by one; this is where it
    /// first stays up, to within that.
    pub fn pairs(self, power: f64) -> Option<u64> {
        least(1, |n| self.power(n) >= power)
    }

    /// See [`pairs`](Self::pairs); chars.
    pub fn chars(self, power: f64) -> Option<u64> {
        let thousands = least(1, |n| self.rate_power(n as f64 / 1e3) >= power);
        thousands.map(|n| n * 1000)
    }

    /// Over the numbers d of discordant pairs: P(d) x P(those that are gained are enough | d).
    fn found(self, at_most: impl Fn(u64) -> f64, mean: f64, n: u64) -> f64 {
        let spread = 9.0 * mean.sqrt() + 20.0;
        let (from, to) = ((mean - spread).max(0.0) as u64, (mean + spread) as u64);
        let share = self.gained / (self.gained + self.lost);
        let mut below = from.checked_sub(1).map_or(0.0, &at_most);
        let mut sum = 0.0;
        for d in from..=to.min(n) {
            let upto = at_most(d);
            if let Some(most) = most_lost(d) {
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
    let significant = |lost: u64| 2.0 * binomial_at_most(lost, d, 0.5) <= ALPHA;
    if !significant(0) {
        return None;
    }
    // The first that is not, minus one: significance falls as more are lost.
    let (mut yes, mut no) = (0, d / 2 + 1);
    while no - yes > 1 {
        let mid = yes + (no - yes) / 2;
        if significant(mid) {
            yes = mid
        } else {
            no = mid
        }
    }
    Some(yes)
}

/// The least number from `from` on that is enough, if more always is.
fn least(from: u64, enough: impl Fn(u64) -> bool) -> Option<u64> {
    let mut hi = from;
    while !enough(hi) {
        hi = hi.checked_mul(2).filter(|n| *n <= MOST)?;
    }
    let mut lo = if hi == from { from } else { hi / 2 };
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
mod tests {
    use super::*;

    #[test]
    fn the_well_known_sizes() {
        assert_eq!(
            Claim::Rate(1.0).need(0),
            Some(2_995_733),
            "the rule of three"
        );
        assert_eq!(Claim::Rate(1.0).need(1), Some(4_743_865));
        assert_eq!(Claim::Share(0.1).need(0), Some(29), "0.9^29 = 0.047");
        assert_eq!(Claim::Share(0.1).need(1), Some(46));
        assert_eq!(Claim::Share(0.05).need(0), Some(59));
    }

    #[test]
    fn a_size_is_enough_and_one_less_is_not() {
        for errors in 0..8 {
            let n = Claim::Share(0.2).need(errors).unwrap();
            let lower = |n| proportion_lower(n - errors, n, ALPHA).unwrap();
            assert!(lower(n) >= 0.8 && lower(n - 1) < 0.8);
        }
    }

    #[test]
    fn what_is_not_true_cannot_be_shown() {
        assert_eq!(Claim::Rate(1.0).need_for(1.0, 0.8), None);
        let need = Claim::Rate(1.0).need_for(0.25, 0.8).unwrap();
        assert!(need.power.unwrap() >= 0.8 && need.errors > 0);
        // Nothing ever goes wrong: the least that supports the claim.
        let sure = Claim::Rate(1.0).need_for(0.0, 0.8).unwrap();
        assert_eq!((sure.errors, sure.size), (0, 2_995_733));
    }

    /// The slow twin: every way in which n pairs can fall.
    fn slow(d: Discordant, n: u64) -> f64 {
        let choose = |n: u64, k: u64| (0..k).fold(1.0, |c, i| c * (n - i) as f64 / (i + 1) as f64);
        let mut sum = 0.0;
        for gained in 0..=n {
            for lost in 0..=n - gained {
                let same = n - gained - lost;
                let p = choose(n, gained)
                    * choose(n - gained, lost)
                    * d.gained.powi(gained as i32)
                    * d.lost.powi(lost as i32)
                    * (1.0 - d.gained - d.lost).powi(same as i32);
                let both: f64 = (0..=lost.min(gained))
                    .map(|k| choose(gained + lost, k))
                    .sum();
                let p_value = 2.0 * both / 2.0_f64.powi((gained + lost) as i32);
                if gained > lost && p_value <= ALPHA {
                    sum += p;
                }
            }
        }
        sum
    }

    #[test]
    fn the_power_of_mcnemar_is_the_sum_over_all_outcomes() {
        for (gained, lost) in [(0.3, 0.1), (0.2, 0.0), (0.1, 0.1)] {
            let d = Discordant { gained, lost };
            for n in [5, 6, 13, 40] {
                assert!((d.power(n) - slow(d, n)).abs() < 1e-9, "{d:?} {n}");
            }
        }
    }

    #[test]
    fn fewer_than_six_flips_tell_nothing() {
        assert_eq!(
            (most_lost(5), most_lost(6), most_lost(9)),
            (None, Some(0), Some(1))
        );
        let nested = Discordant::nested(0.8, 0.9);
        let n = nested.pairs(0.8).unwrap();
        assert!(nested.power(n) >= 0.8 && nested.power(n / 2) < 0.8);
        assert!(Discordant::independent(0.8, 0.9).pairs(0.8).unwrap() > n);
        assert_eq!(Discordant::nested(0.9, 0.9).pairs(0.8), None);
    }
}
