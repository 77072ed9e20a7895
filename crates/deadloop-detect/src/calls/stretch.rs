//! [`PeriodStretches`]: the length of the current repetition, for each period.

use std::collections::VecDeque;

use super::number;
use crate::stream::Calls;

/// The current stretch of each period, over a sequence of hashes.
pub(crate) struct PeriodStretches {
    /// The latest items, as many as the longest period, newest first.
    last: VecDeque<u128>,
    /// The stretch of each period, from 1 on.
    periods: Vec<PeriodStretch>,
    items: u64,
}

#[derive(Clone, Copy, Default)]
struct PeriodStretch {
    /// The number of consecutive items that equal the item one period earlier.
    equal: u64,
    /// The position of the first of these items, at which the second copy begins.
    second: Calls,
}

impl PeriodStretches {
    /// Returns empty stretches for the periods from 1 to `longest`.
    pub(crate) fn new(longest: u64) -> Self {
        let longest = usize::try_from(longest).unwrap_or(0);
        Self {
            last: VecDeque::with_capacity(longest),
            periods: vec![PeriodStretch::default(); longest],
            items: 0,
        }
    }

    /// Adds the next item: its hash and its position.
    pub(crate) fn push(&mut self, hash: u128, place: Calls) {
        for (period, repeating) in self.periods.iter_mut().enumerate() {
            match self.last.get(period) == Some(&hash) {
                true if repeating.equal == 0 => {
                    *repeating = PeriodStretch {
                        equal: 1,
                        second: place,
                    }
                }
                true => repeating.equal += 1,
                false => repeating.equal = 0,
            }
        }
        if self.last.len() == self.periods.len() {
            self.last.pop_back();
        }
        self.last.push_front(hash);
        self.items += 1;
    }

    /// Returns the length of the stretch with a period, including the first copy. 0 if there are fewer items than the
    /// period.
    pub(crate) fn length(&self, period: u64) -> u64 {
        match self.find_period(period) {
            Some(repeating) if self.items >= period => repeating.equal + period,
            _ => 0,
        }
    }

    /// Returns the number of complete copies in the stretch with this period, as a bound.
    pub(crate) fn copies(&self, period: u64) -> i64 {
        number(self.length(period) / period.max(1))
    }

    /// Returns the position at which the second copy of the stretch with this period begins.
    pub(crate) fn second(&self, period: u64) -> Calls {
        self.find_period(period)
            .map_or(Calls(0), |repeating| repeating.second)
    }

    /// Resets all periods.
    pub(crate) fn clear(&mut self) {
        self.last.clear();
        self.periods.fill(PeriodStretch::default());
        self.items = 0;
    }

    fn find_period(&self, period: u64) -> Option<&PeriodStretch> {
        let index = usize::try_from(period).ok()?.checked_sub(1)?;
        self.periods.get(index)
    }
}
