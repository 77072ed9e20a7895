//! [`ErrorCounter`]: counts bad turns among the ended ones. A turn is bad if one of its results is an error.

use crate::settings::param::DECIMAL;
use crate::stream::{Calls, Turns};

/// A counter of bad turns.
#[derive(Default)]
pub(crate) struct ErrorCounter {
    bad: u64,
    /// Whether the current turn is bad.
    now: bool,
    /// Number of calls issued before the current turn.
    began: Calls,
    /// Number of calls issued before the second bad turn, or before the first if there is no second.
    second: Calls,
}

impl ErrorCounter {
    /// Records a result.
    pub(crate) fn result(&mut self, error: bool) {
        self.now |= error;
    }

    /// Records the start of a turn after `calls` calls. The previous turn ends.
    pub(crate) fn turn(&mut self, calls: Calls) {
        if std::mem::take(&mut self.now) {
            self.bad += 1;
            if self.bad <= 2 {
                self.second = self.began;
            }
        }
        self.began = calls;
    }

    /// Returns the number of bad turns that have ended.
    pub(crate) fn bad(&self) -> u64 {
        self.bad
    }

    /// Returns the number of calls issued before the second bad turn, or before the first if there is no second.
    pub(crate) fn second(&self) -> Calls {
        self.second
    }

    /// Returns the highest rate, in millionths, below the share of bad turns among `turns`.
    pub(crate) fn rate(&self, turns: Turns) -> Option<i64> {
        share(self.bad, turns.0)
    }
}

/// Returns the highest rate, in millionths, below the ratio `part` / `whole`. `None` if the ratio exceeds no rate.
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
