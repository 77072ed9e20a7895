//! [`NumberReuse`]: finds numbers that return, as in a loop. In a table, most numbers are new.

use std::collections::VecDeque;

use crate::text::hash::spread;

/// The number of preceding numbers that are searched for an equal one.
const BEFORE: usize = 30;

/// The length of the window in which numbers are counted, in characters.
const WINDOW: u64 = 4000;

/// A counter of all numbers, and of the returning ones, in the last [`WINDOW`] characters.
pub(in super::super) struct NumberReuse {
    /// The minimum percentage of returning numbers.
    least: usize,
    /// The last values, as a ring buffer.
    last: [u64; BEFORE],
    /// The count of all numbers.
    numbers: usize,
    /// For each number of the window, twice the number of characters up to its end, plus 1 if it returns.
    window: VecDeque<u64>,
    returned: usize,
    /// For each kept symbol, whether enough numbers returned at its end.
    enough: Vec<bool>,
}

impl NumberReuse {
    /// Returns an empty counter.
    pub(in super::super) fn new(least: u64) -> Self {
        Self {
            least: usize::try_from(least).unwrap_or(100),
            last: [0; BEFORE],
            numbers: 0,
            window: VecDeque::new(),
            returned: 0,
            enough: Vec::new(),
        }
    }

    /// Adds a number that ends with the `at`-th char. In a time such as `12:30`, it is joined with the number before.
    pub(in super::super) fn number(&mut self, value: u64, at: u64, in_time: bool) {
        let value = if in_time { self.join(value) } else { value };
        // Comparing all values is faster than stopping at the first equal one.
        let returns = if self.numbers < BEFORE {
            self.last[..self.numbers].contains(&value)
        } else {
            self.last
                .iter()
                .fold(false, |any, last| any | (*last == value))
        };
        self.last[self.numbers % BEFORE] = value;
        self.numbers += 1;
        self.window.push_back(2 * at + u64::from(returns));
        self.returned += usize::from(returns);
        self.drop_until(at);
    }

    /// Removes the last number. Returns the value of this number joined with the following one.
    fn join(&mut self, value: u64) -> u64 {
        let Some(last) = self.window.pop_back() else {
            return value;
        };
        self.returned -= usize::from(last % 2 == 1);
        self.numbers -= 1;
        // `0:1` is not the number 1, so that a zero is mixed, too.
        spread(self.last[self.numbers % BEFORE].wrapping_add(1)).wrapping_add(value)
    }

    /// Adds a symbol that is complete with the `at`-th char.
    pub(in super::super) fn symbol(&mut self, at: u64) {
        self.drop_until(at);
        let enough = 100 * self.returned >= self.least * self.window.len();
        self.enough.push(enough && !self.window.is_empty());
    }

    /// Drops the numbers that end more than [`WINDOW`] chars before the `at`-th.
    fn drop_until(&mut self, at: u64) {
        while let Some(first) = self.window.front().filter(|n| **n / 2 + WINDOW < at) {
            self.returned -= usize::from(first % 2 == 1);
            self.window.pop_front();
        }
    }

    /// Drops old symbols.
    pub(in super::super) fn forget(&mut self, old: usize) {
        self.enough.drain(..old);
    }

    /// Returns the stretches within the range `steps`, first to last, with enough returning numbers. Symbols before number
    /// `base` are not kept.
    pub(in super::super) fn stretches(&self, base: u64, steps: (u64, u64)) -> Vec<(u64, u64)> {
        let mut stretches: Vec<(u64, u64)> = Vec::new();
        for step in steps.0..=steps.1 {
            // Step n is complete with symbol number n-1.
            let index = usize::try_from(step.saturating_sub(base + 1)).unwrap_or(usize::MAX);
            if !self.enough.get(index).copied().unwrap_or(false) {
                continue;
            }
            match stretches.last_mut() {
                Some((_, last)) if *last + 1 == step => *last = step,
                _ => stretches.push((step, step)),
            }
        }
        stretches
    }
}
