//! [`Counters`]: finds the parts of a tail whose numbers count evenly.
//!
//! If numbers are folded, a table and a counting loop have the same symbols. In a loop, each number is that of the copy
//! before plus a constant. Data is not so regular.
//!
//! A tail of period p is cut where the values of a symbol, of the one p before and of the one 2p before are not evenly
//! spaced. The rest begins after the earliest of the three symbols, with two copies. Another cut requires equal values:
//! its rest begins after the symbol p before. Numbers that cycle equal those some units before: the same cut with a few
//! multiples of p.

use super::super::runs::Tail;

/// The maximum number of units in a cycle of numbers.
const ROUND: u32 = 6;

/// Values of the kept symbols, and the examined parts of tails.
#[derive(Debug)]
pub(in super::super) struct Counters {
    values: Vec<u64>,
    /// The number of symbols up to the last one with a value, inclusive. 0 if no symbol has a value.
    number: u64,
    /// The number of dropped symbols.
    gone: u64,
    tails: Vec<FoldedTail>,
    max_lag: u32,
}

/// A condition on the numbers of a tail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Pattern {
    /// No condition: the whole tail.
    Any,
    /// Numbers count evenly.
    Even,
    /// Numbers equal those of the copy before.
    Equal,
    /// Numbers equal those some copies before. These copies together count as one copy.
    Round,
}

/// A tail of folded symbols.
#[derive(Clone, Copy, Debug)]
struct FoldedTail {
    run: Tail,
    /// The beginning of the rest whose numbers count evenly.
    even: u64,
    /// The beginning of the rest whose numbers are equal.
    equal: u64,
    /// The beginnings of the rests whose numbers equal those 2, 3 and more copies before.
    rounds: [u64; ROUND as usize - 1],
    /// The symbol count up to which the tail was examined.
    until: u64,
}

/// A part of a tail, and the symbol count up to which it continues.
pub(in super::super) type TailPart = (Pattern, Tail, u64);

impl Counters {
    /// Returns empty counters. `max_lag` is the longest period that is searched.
    pub(in super::super) fn new(max_lag: u32) -> Self {
        Self {
            values: Vec::new(),
            number: 0,
            gone: 0,
            tails: Vec::new(),
            max_lag,
        }
    }

    /// Adds the value of the next symbol. 0 if the symbol has no number.
    #[inline]
    pub(in super::super) fn add(&mut self, value: u64) {
        self.values.push(value);
        if value != 0 {
            self.number = self.gone + self.values.len() as u64;
        }
    }

    /// Adds `count` symbols without a number.
    #[inline]
    pub(in super::super) fn add_worthless(&mut self, count: usize) {
        self.values.resize(self.values.len() + count, 0);
    }

    /// Drops old symbols, and tails that have ended.
    pub(in super::super) fn forget(&mut self, old: usize, going_on: &[Tail]) {
        self.values.drain(..old);
        self.gone += old as u64;
        self.tails
            .retain(|tail| going_on.iter().any(|run| is_same(*run, tail.run)));
    }

    /// Returns the parts of a tail that were not returned before. The last parts continue to `until`. The values from
    /// symbol number `base` on are kept.
    pub(in super::super) fn parts(&mut self, run: Tail, base: u64, until: u64) -> Vec<TailPart> {
        let mut tail = self.tail(run);
        let lag = u64::from(run.lag);
        let mut parts = Vec::new();
        // If no symbol of the tail has a value, all values are equal.
        let from = if self.number > run.start {
            tail.until.max(base + lag)
        } else {
            until
        };
        for last in from..until {
            let value = |copies: u64| self.value(last - base - copies * lag);
            let (now, before) = (value(0), value(1));
            if last >= tail.equal + lag && now != before {
                end_part(
                    &mut parts,
                    (Pattern::Equal, run, 1),
                    (&mut tail.equal, last),
                );
            }
            if last >= (tail.even + 2 * lag).max(base + 2 * lag)
                && now.wrapping_sub(before) != before.wrapping_sub(value(2))
            {
                end_part(&mut parts, (Pattern::Even, run, 2), (&mut tail.even, last));
            }
            for (units, from) in rounds(run, self.max_lag).zip(&mut tail.rounds) {
                let whole = u64::from(units) * lag;
                if last >= (*from).max(base) + whole && now != value(units.into()) {
                    let round = run.round(units, run.start);
                    end_part(&mut parts, (Pattern::Round, round, 1), (from, last));
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

    /// Returns the rests of a tail, as far as it was examined.
    pub(in super::super) fn left(&self, run: Tail) -> Vec<Tail> {
        let tail = self.tail(run);
        tail.left(self.max_lag).map(|(_, run)| run).collect()
    }

    fn tail(&self, run: Tail) -> FoldedTail {
        let known = self.tails.iter().find(|tail| is_same(tail.run, run));
        known.copied().unwrap_or(FoldedTail {
            run,
            even: run.start,
            equal: run.start,
            rounds: [run.start; _],
            until: run.start,
        })
    }

    fn keep(&mut self, tail: FoldedTail) {
        match self.tails.iter_mut().find(|old| is_same(old.run, tail.run)) {
            Some(old) => *old = tail,
            None => self.tails.push(tail),
        }
    }

    /// Returns the value of a kept symbol.
    fn value(&self, index: u64) -> u64 {
        let index = usize::try_from(index).unwrap_or(usize::MAX);
        self.values.get(index).copied().unwrap_or(0)
    }
}

impl FoldedTail {
    /// Returns the rest of the tail under each condition. Numbers that are equal from copy to copy do not cycle.
    fn left(&self, max_lag: u32) -> impl Iterator<Item = (Pattern, Tail)> {
        let (run, equal, until) = (self.run, self.equal, self.until);
        let round = move |(units, from): (u32, u64)| {
            let copies = (until - from) / (u64::from(units) * u64::from(run.lag));
            (from < equal && copies >= 2).then(|| (Pattern::Round, run.round(units, from)))
        };
        let parts = [
            (Pattern::Equal, run.cut_to_start(equal)),
            (Pattern::Even, run.cut_to_start(self.even)),
            (Pattern::Any, run),
        ];
        let rounds = rounds(run, max_lag).zip(self.rounds);
        parts.into_iter().chain(rounds.filter_map(round))
    }
}

/// Returns the possible lengths of a cycle of numbers, in units.
fn rounds(run: Tail, max_lag: u32) -> impl Iterator<Item = u32> {
    (2..=ROUND).take_while(move |units| run.lag.saturating_mul(*units) <= max_lag)
}

/// Ends the part of a run that begins at `from` and ends before symbol `last`. The rest begins after the symbol
/// `copies` copies before. Only a part with at least two copies is added.
fn end_part(
    parts: &mut Vec<TailPart>,
    (part, run, copies): (Pattern, Tail, u64),
    (from, last): (&mut u64, u64),
) {
    let lag = u64::from(run.lag);
    if last - *from >= 2 * lag {
        parts.push((part, run.cut_to_start(*from), last));
    }
    *from = last + 1 - copies * lag;
}

fn is_same(a: Tail, b: Tail) -> bool {
    (a.lag, a.start) == (b.lag, b.start)
}
