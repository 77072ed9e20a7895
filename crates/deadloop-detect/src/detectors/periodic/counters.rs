//! [`Counters`]: tails whose numbers are no counters. Numbers are folded, so a table and a loop that counts
//! have the same symbols. Of a loop each number is the one of the copy before plus a constant, which may
//! be 0; data is not so regular.
//!
//! A tail of period p is cut where a symbol, the one p before it and the one 2p before it are in it and their
//! values are not evenly apart: it goes on from the symbol after the earliest of them. What is left has two copies.

use super::runs::Run;

/// What the kept symbols are worth, and how far tails have been looked through.
#[derive(Debug, Default)]
pub(super) struct Counters {
    values: Vec<u64>,
    tails: Vec<Tail>,
}

/// A tail of folded symbols.
#[derive(Clone, Copy, Debug)]
struct Tail {
    run: Run,
    /// Where what is left of it begins.
    from: u64,
    /// Symbols until which that is known.
    until: u64,
}

impl Counters {
    /// Adds what the next symbol is worth: 0 where it has no number.
    #[inline]
    pub(super) fn add(&mut self, value: u64) {
        self.values.push(value);
    }

    /// Drops old symbols, and tails that have ended.
    pub(super) fn forget(&mut self, old: usize, going_on: &[Run]) {
        self.values.drain(..old);
        self.tails
            .retain(|tail| going_on.iter().any(|run| same(*run, tail.run)));
    }

    /// The parts of a tail that are left where it is cut, each with the symbols until which it goes on, as far
    /// as they were not told; the last one goes on to `until`. The values from symbol number `base` on are kept.
    pub(super) fn parts(&mut self, run: Run, base: u64, until: u64) -> Vec<(Run, u64)> {
        let known = self.tails.iter().position(|tail| same(tail.run, run));
        let index = known.unwrap_or_else(|| {
            self.tails.push(Tail {
                run,
                from: run.start,
                until: run.start,
            });
            self.tails.len() - 1
        });
        let mut tail = self.tails[index];
        let lag = u64::from(run.lag);
        let mut parts = Vec::new();
        for last in tail.until.max(base + 2 * lag)..until {
            if last >= tail.from + 2 * lag && !self.is_even(last - base, lag) {
                parts.push((run.starting(tail.from), last));
                tail.from = last + 1 - 2 * lag;
            }
        }
        tail.until = until.max(tail.until);
        self.tails[index] = tail;
        parts.push((run.starting(tail.from), until));
        parts
    }

    /// What is left of a tail, as far as it was looked through.
    pub(super) fn left(&self, run: Run) -> Run {
        let known = self.tails.iter().find(|tail| same(tail.run, run));
        run.starting(known.map_or(run.start, |tail| tail.from))
    }

    /// Whether the value of a kept symbol is as far from the one a lag before as that from its own.
    fn is_even(&self, index: u64, lag: u64) -> bool {
        let at = |back: u64| {
            let index = usize::try_from(index - back).unwrap_or(usize::MAX);
            self.values.get(index).copied().unwrap_or(0)
        };
        let (last, middle, first) = (at(0), at(lag), at(2 * lag));
        last.wrapping_sub(middle) == middle.wrapping_sub(first)
    }
}

fn same(a: Run, b: Run) -> bool {
    (a.lag, a.start) == (b.lag, b.start)
}
