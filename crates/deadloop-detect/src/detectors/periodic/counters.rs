//! [`Counters`]: whether the numbers of a tail count on from copy to copy.
//!
//! Where numbers are folded, a table and a loop that counts have the same symbols. Of a loop each number is the one of the copy before
//! plus a constant; data is not so regular.
//!
//! A tail of period p is cut where a symbol, the one p before it and the one 2p before are in it and their
//! values are not evenly apart: it goes on from the symbol after the earliest of them. What is left has two copies.
//! Another cut asks for equal values: from the symbol after the one p before. Numbers that go round are equal to those
//! some units before: the same cut with a few multiples of p.

use super::runs::{Run, grow};

/// The most units after which numbers that go round come back.
const ROUND: u32 = 6;

/// What the kept symbols are worth, and how far tails have been looked through.
#[derive(Debug)]
pub(super) struct Counters {
    values: Vec<u64>,
    /// How many symbols came before the last one that is worth something, itself included; 0 if none is.
    number: u64,
    /// The symbols that were dropped.
    gone: u64,
    tails: Vec<Tail>,
    max_lag: u32,
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
    /// They equal those some copies before: all of these are one copy.
    Round,
}

/// A tail of folded symbols.
#[derive(Clone, Copy, Debug)]
struct Tail {
    run: Run,
    /// Where what is left of it begins.
    even: u64,
    equal: u64,
    /// The same where numbers equal those 2, 3 and more copies before.
    rounds: [u64; ROUND as usize - 1],
    /// Symbols until which that is known.
    until: u64,
}

/// A part of a tail, and the symbols until which it goes on.
pub(super) type Left = (Part, Run, u64);

impl Counters {
    /// None yet. `max_lag`: the longest period that is looked for.
    pub(super) fn new(max_lag: u32) -> Self {
        Self {
            values: Vec::new(),
            number: 0,
            gone: 0,
            tails: Vec::new(),
            max_lag,
        }
    }

    /// Adds what the next symbol is worth: 0 where it has no number.
    #[inline]
    pub(super) fn add(&mut self, value: u64) {
        self.values.push(value);
        if value != 0 {
            self.number = self.gone + self.values.len() as u64;
        }
    }

    /// Makes room for `more` symbols; no more than `most` are ever kept.
    pub(super) fn reserve(&mut self, more: usize, most: usize) {
        grow(&mut self.values, more, most);
    }

    /// Adds this many symbols without a number.
    #[inline]
    pub(super) fn add_worthless(&mut self, count: usize) {
        self.values.resize(self.values.len() + count, 0);
    }

    /// Drops old symbols, and tails that have ended.
    pub(super) fn forget(&mut self, old: usize, going_on: &[Run]) {
        self.values.drain(..old);
        self.gone += old as u64;
        self.tails
            .retain(|tail| going_on.iter().any(|run| same(*run, tail.run)));
    }

    /// The parts of a tail, as far as they were not told; the last ones go on to `until`. The values from
    /// symbol number `base` on are kept.
    pub(super) fn parts(&mut self, run: Run, base: u64, until: u64) -> Vec<Left> {
        let mut tail = self.tail(run);
        let lag = u64::from(run.lag);
        let mut parts = Vec::new();
        // Where nothing in it is worth anything, all is equal.
        let from = if self.number > run.start {
            tail.until.max(base + lag)
        } else {
            until
        };
        for last in from..until {
            let value = |copies: u64| self.value(last - base - copies * lag);
            let (now, before) = (value(0), value(1));
            if last >= tail.equal + lag && now != before {
                cut(&mut parts, (Part::Equal, run, 1), (&mut tail.equal, last));
            }
            if last >= (tail.even + 2 * lag).max(base + 2 * lag)
                && now.wrapping_sub(before) != before.wrapping_sub(value(2))
            {
                cut(&mut parts, (Part::Even, run, 2), (&mut tail.even, last));
            }
            for (units, from) in rounds(run, self.max_lag).zip(&mut tail.rounds) {
                let whole = u64::from(units) * lag;
                if last >= (*from).max(base) + whole && now != value(units.into()) {
                    let round = run.round(units, run.start);
                    cut(&mut parts, (Part::Round, round, 1), (from, last));
                }
            }
        }
        tail.until = until.max(tail.until);
        self.keep(tail);
        parts.extend(
            tail.left(self.max_lag)
                .map(|(part, run)| (part, run, until)),
        );
        parts
    }

    /// What is left of a tail, as far as it was looked through.
    pub(super) fn left(&self, run: Run) -> Vec<Run> {
        let tail = self.tail(run);
        tail.left(self.max_lag).map(|(_, run)| run).collect()
    }

    fn tail(&self, run: Run) -> Tail {
        let known = self.tails.iter().find(|tail| same(tail.run, run));
        known.copied().unwrap_or(Tail {
            run,
            even: run.start,
            equal: run.start,
            rounds: [run.start; _],
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

impl Tail {
    /// What is left of it under each condition. Numbers that are equal from copy to copy do not go round.
    fn left(&self, max_lag: u32) -> impl Iterator<Item = (Part, Run)> {
        let (run, equal, until) = (self.run, self.equal, self.until);
        let round = move |(units, from): (u32, u64)| {
            let copies = (until - from) / (u64::from(units) * u64::from(run.lag));
            (from < equal && copies >= 2).then(|| (Part::Round, run.round(units, from)))
        };
        let parts = [
            (Part::Equal, run.starting(equal)),
            (Part::Even, run.starting(self.even)),
            (Part::Any, run),
        ];
        let rounds = rounds(run, max_lag).zip(self.rounds);
        parts.into_iter().chain(rounds.filter_map(round))
    }
}

/// After how many units of a tail numbers that go round can come back.
fn rounds(run: Run, max_lag: u32) -> impl Iterator<Item = u32> {
    (2..=ROUND).take_while(move |units| run.lag.saturating_mul(*units) <= max_lag)
}

/// Ends the part of a run that begins at `from` before symbol `last`: what is left goes on from the symbol after the one
/// `copies` before. A part has two copies at least.
fn cut(
    parts: &mut Vec<Left>,
    (part, run, copies): (Part, Run, u64),
    (from, last): (&mut u64, u64),
) {
    let lag = u64::from(run.lag);
    if last - *from >= 2 * lag {
        parts.push((part, run.starting(*from), last));
    }
    *from = last + 1 - copies * lag;
}

fn same(a: Run, b: Run) -> bool {
    (a.lag, a.start) == (b.lag, b.start)
}
