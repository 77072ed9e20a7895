//! [`GrowingLimit`]: a limit that the user may raise each time it is reached.

use crate::calls::number;
use crate::settings::param::{DECIMAL, Param};
use crate::settings::params::Params;

pub(super) const GROW: Param = Param::number("grow", 1.0, 1.0..=100.0)
    .unit("of the limit")
    .doc("the limit that follows when the user lets it go on; 1 with grow_by 0: it never grows");
pub(super) const GROW_BY: Param = Param::count("grow_by", 0, 0..=super::MOST)
    .unit("of the unit")
    .doc("how much more than that the next limit is");
pub(super) const HARD: Param = Param::count("hard", 0, 0..=super::MOST)
    .unit("of the unit")
    .doc("where a limit that grows ends; 0: nowhere");
pub(super) const CANCEL_AFTER: Param = Param::count("cancel_after", 0, 0..=1000)
    .unit("times")
    .doc("how often the user lets it go on before saying no; 0: always");

/// Returns whether a reached limit may be raised.
pub(super) fn grows(params: &Params) -> bool {
    params.float(GROW.name) > 1.0 || params.int(GROW_BY.name) > 0
}

/// The limits that one run has reached.
///
/// A higher limit has higher successors, so the reached limits are those up to a maximum.
#[derive(Clone)]
pub(super) struct GrowingLimit {
    /// The factor from a limit to the next one.
    factor: f64,
    /// The amount that is added after the factor.
    by: i64,
    /// The limit without a successor. 0 if every limit has one.
    hard: i64,
    /// The number of times that the user agrees. 0 for always.
    yes: u64,
    /// The highest reached limit.
    highest: i64,
}

impl GrowingLimit {
    /// Returns the growing limit of a setting. `None` if the limit does not grow.
    pub(super) fn new(params: &Params) -> Option<Self> {
        grows(params).then(|| Self {
            factor: params.float(GROW.name),
            by: params.int(GROW_BY.name),
            hard: params.int(HARD.name),
            yes: params.count(CANCEL_AFTER.name),
            highest: 0,
        })
    }

    /// Returns the highest initial limit with which the run would be stopped after `used` turns, calls or supersteps.
    /// `None` if it is unchanged since the last call.
    pub(super) fn used_up(&mut self, used: u64) -> Option<i64> {
        let used = number(used);
        let before = self.highest;
        if self.hard != 0 && used >= self.hard {
            // The hard limit is the highest.
            self.highest = i64::MAX;
        }
        while self.yes > 0 && self.highest < super::MOST && self.last(self.highest + 1) <= used {
            self.highest += 1;
        }
        (self.highest > before).then_some(self.highest)
    }

    /// Returns the limit at which the user refuses.
    fn last(&self, limit: i64) -> i64 {
        let mut limit = limit;
        for _ in 0..self.yes {
            if limit > super::MOST || limit == self.hard {
                break;
            }
            limit = self.next(limit);
        }
        limit
    }

    fn next(&self, limit: i64) -> i64 {
        let grown = grown(limit, self.factor).saturating_add(self.by);
        let next = grown.max(limit.saturating_add(1));
        match self.hard {
            0 => next,
            hard => next.min(hard),
        }
    }
}

/// Returns the limit after a growth by `factor`, rounded to the nearest whole number, with halves to even. The factor
/// is rounded to millionths, so that 1.15 times 50 is exactly 57.5.
pub fn grown(limit: i64, factor: f64) -> i64 {
    let factor = (factor * DECIMAL as f64).round() as i64;
    round_half_even(i128::from(limit) * i128::from(factor))
}

/// Rounds millionths to the nearest whole number, with halves to even.
fn round_half_even(millionths: i128) -> i64 {
    let one = i128::from(DECIMAL);
    let (whole, rest) = (millionths.div_euclid(one), millionths.rem_euclid(one));
    let up = 2 * rest > one || (2 * rest == one && whole % 2 == 1);
    i64::try_from(whole + i128::from(up)).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_half_goes_to_the_even_number() {
        let halves = [1, 3, 5, 7].map(|n| round_half_even(n * 500_000));
        assert_eq!(halves, [0, 2, 2, 4]);
        assert_eq!(round_half_even(1_500_001), 2);
        assert_eq!(round_half_even(1_499_999), 1);
        assert_eq!(grown(50, 1.15), 58);
    }
}
