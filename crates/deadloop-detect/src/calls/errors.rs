//! [`ErrorCounter`]: counts the turns in which a result is an error.

use crate::settings::param::DECIMAL;
use crate::stream::{Calls, Turns};

/// A counter of bad turns: turns in which a result is an error.
#[derive(Default)]
pub(crate) struct ErrorCounter {
    bad: u64,
    /// Whether the current turn is bad.
    is_bad: bool,
    /// The number of calls before the current turn.
    calls_before: Calls,
    /// The number of calls before the second bad turn, or before the first if there is no second.
    second: Calls,
}

impl ErrorCounter {
    /// Records a result.
    pub(crate) fn result(&mut self, error: bool) {
        self.is_bad |= error;
    }

    /// Begins a turn after `calls` calls, and ends the previous one.
    pub(crate) fn turn(&mut self, calls: Calls) {
        if std::mem::take(&mut self.is_bad) {
            self.bad += 1;
            if self.bad <= 2 {
                self.second = self.calls_before;
            }
        }
        self.calls_before = calls;
    }

    /// Returns the number of bad turns that have ended.
    pub(crate) fn bad(&self) -> u64 {
        self.bad
    }

    /// Returns the number of calls before the second bad turn, or before the first if there is no second.
    pub(crate) fn second(&self) -> Calls {
        self.second
    }

    /// Returns the highest rate, in millionths, that the share of bad turns among `turns` exceeds.
    pub(crate) fn rate(&self, turns: Turns) -> Option<i64> {
        share(self.bad, turns.0)
    }
}

/// Returns the highest rate, in millionths, that the ratio `part` / `whole` exceeds. `None` if the ratio is 0.
pub(crate) fn share(part: u64, whole: u64) -> Option<i64> {
    let millionths = u128::from(part) * u128::from(DECIMAL.unsigned_abs());
    let below = millionths.checked_sub(1)?;
    let most = below.checked_div(u128::from(whole))?;
    Some(i64::try_from(most).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_above_every_rate_below_it() {
        for whole in 1..30 {
            for part in 0..=whole {
                let most = share(part, whole);
                for rate in (0..=DECIMAL).step_by(62_500) {
                    let above = i128::from(part) * i128::from(DECIMAL)
                        > i128::from(rate) * i128::from(whole);
                    assert_eq!(most.is_some_and(|most| rate <= most), above);
                }
            }
        }
        assert_eq!(share(1, 0), None);
    }
}
