//! [`PeriodStretches`]: the length of the current repetition, for each period.

use std::collections::VecDeque;

use super::number;
use crate::stream::Calls;

/// The current stretch of each period, over a sequence of hashes.
pub(crate) struct PeriodStretches {
    /// The latest items, as many as the longest period, newest first.
    last: VecDeque<u128>,
    /// The state of each period, from 1 on.
    periods: Vec<PeriodStretch>,
    seen: u64,
}

#[derive(Clone, Copy, Default)]
struct PeriodStretch {
    /// The number of consecutive items that equal the item one period earlier.
    again: u64,
    /// The place of the first of these items, where the second copy begins.
    second: Calls,
}

impl PeriodStretches {
    /// Returns an empty stretch for periods from 1 to `longest`.
    pub(crate) fn new(longest: u64) -> Self {
        let longest = usize::try_from(longest).unwrap_or(0);
        Self {
            last: VecDeque::with_capacity(longest),
            periods: vec![PeriodStretch::default(); longest],
            seen: 0,
        }
    }

    /// Adds the next item, by its hash and its place.
    pub(crate) fn push(&mut self, hash: u128, place: Calls) {
        for (period, repeating) in self.periods.iter_mut().enumerate() {
            match self.last.get(period) == Some(&hash) {
                true if repeating.again == 0 => {
                    *repeating = PeriodStretch {
                        again: 1,
                        second: place,
                    }
                }
                true => repeating.again += 1,
                false => repeating.again = 0,
            }
        }
        if self.last.len() == self.periods.len() {
            self.last.pop_back();
        }
        self.last.push_front(hash);
        self.seen += 1;
    }

    /// Returns the length of the stretch with a period, its first copy included. 0 if there were fewer items than the
    /// period.
    pub(crate) fn length(&self, period: u64) -> u64 {
        match self.find_period(period) {
            Some(repeating) if self.seen >= period => repeating.again + period,
            _ => 0,
        }
    }

    /// Returns the number of whole copies of a period, as a bound.
    pub(crate) fn copies(&self, period: u64) -> i64 {
        number(self.length(period) / period.max(1))
    }

    /// Returns the place at which the second copy of the stretch with this period begins.
    pub(crate) fn second(&self, period: u64) -> Calls {
        self.find_period(period)
            .map_or(Calls(0), |repeating| repeating.second)
    }

    /// Resets all periods.
    pub(crate) fn clear(&mut self) {
        self.last.clear();
        self.periods.fill(PeriodStretch::default());
        self.seen = 0;
    }

    fn find_period(&self, period: u64) -> Option<&PeriodStretch> {
        let index = usize::try_from(period).ok()?.checked_sub(1)?;
        self.periods.get(index)
    }
}
