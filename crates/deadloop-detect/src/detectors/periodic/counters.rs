//! [`Counters`]: which part of a tail holds up where its numbers are compared too. Numbers are folded, so a
//! table and a loop that counts have the same symbols. Of a loop each number is the one of the copy before
//! plus a constant; data is not so regular.
//!
//! A tail of period p is cut where a symbol, the one p before it and the one 2p before are in it and their
//! values are not evenly apart: it goes on from the symbol after the earliest of them. What is left has two copies.
//! Another cut asks for equal values: from the symbol after the one p before.

use super::runs::Run;

/// What the kept symbols are worth, and how far tails have been looked through.
#[derive(Debug, Default)]
pub(super) struct Counters {
    values: Vec<u64>,
    tails: Vec<Tail>,
}

/// The conditions on the numbers of a tail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// Nothing: this is the whole tail.
    Any,
    /// That they count on evenly.
    Even,
    /// They equal the numbers of the copy before.
    Equal,
}

/// A tail of folded symbols.
#[derive(Clone, Copy, Debug)]
struct Tail {
    run: Run,
    /// Where what is left of it begins.
    even: u64,
    equal: u64,
    /// Symbols until which that is known.
    until: u64,
}

/// A part of a tail, and the symbols until which it goes on.
pub(super) type Left = (Part, Run, u64);

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

    /// The parts of a tail, as far as they were not told; the last ones go on to `until`. The values from
    /// symbol number `base` on are kept.
    pub(super) fn parts(&mut self, run: Run, base: u64, until: u64) -> Vec<Left> {
        let mut tail = self.tail(run);
        let lag = u64::from(run.lag);
        let mut parts = Vec::new();
        // Of two copies at least.
        let mut cut = |part, from: &mut u64, (last, to): (u64, u64)| {
            if last - *from >= 2 * lag {
                parts.push((part, run.starting(*from), last));
            }
            *from = to;
        };
        for last in tail.until.max(base + lag)..until {
            let value = |copies: u64| self.value(last - base - copies * lag);
            let after = |copies: u64| last + 1 - copies * lag;
            if last >= tail.equal + lag && value(0) != value(1) {
                cut(Part::Equal, &mut tail.equal, (last, after(1)));
            }
            if last >= (tail.even + 2 * lag).max(base + 2 * lag)
                && value(0).wrapping_sub(value(1)) != value(1).wrapping_sub(value(2))
            {
                cut(Part::Even, &mut tail.even, (last, after(2)));
            }
        }
        tail.until = until.max(tail.until);
        self.keep(tail);
        parts.push((Part::Equal, run.starting(tail.equal), until));
        parts.push((Part::Even, run.starting(tail.even), until));
        parts.push((Part::Any, run, until));
        parts
    }

    /// What is left of a tail, as far as it was looked through.
    pub(super) fn left(&self, run: Run) -> [Run; 3] {
        let tail = self.tail(run);
        [run, run.starting(tail.even), run.starting(tail.equal)]
    }

    fn tail(&self, run: Run) -> Tail {
        let known = self.tails.iter().find(|tail| same(tail.run, run));
        known.copied().unwrap_or(Tail {
            run,
            even: run.start,
            equal: run.start,
            until: run.start,
        })
    }

    fn keep(&mut self, tail: Tail) {
        match self.tails.iter_mut().find(|old| same(old.run, tail.run)) {
            Some(old) => *old = tail,
            None => self.tails.push(tail),
        }
    }

    /// What a kept symbol is worth.
    fn value(&self, index: u64) -> u64 {
        let index = usize::try_from(index).unwrap_or(usize::MAX);
        self.values.get(index).copied().unwrap_or(0)
    }
}

fn same(a: Run, b: Run) -> bool {
    (a.lag, a.start) == (b.lag, b.start)
}
