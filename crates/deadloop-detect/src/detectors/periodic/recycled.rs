//! [`Recycled`]: elements that come back in no order. A templated loop draws its sentences anew each
//! time: no copy follows another, and yet nothing is said that was not said before.
//!
//! An element is recycled if equal ones stood [`BEFORE`] times at least among the `max_period` before
//! it. A stretch is recycled if all its elements are; those without a letter or number (rulers, braces)
//! neither begin nor end one. So a tail that repeats with a period is recycled from its third copy
//! on, and a recycled one need not have a period. Once before is not enough: a draft that is
//! written again, or code that is given whole after a change, says everything twice.

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

use super::elements::NAMED;

/// How often a recycled element stood before.
const BEFORE: usize = 2;

/// What stood when, and the stretch that goes on.
#[derive(Default)]
pub(super) struct Recycled {
    /// For each element how many had been read with it the last times, the last one last; 0: never.
    /// Old ones are dropped now and then.
    last: HashTable<(u32, [u64; BEFORE])>,
    /// Elements read.
    seen: u64,
    going_on: Option<Stretch>,
    ended: Vec<(Stretch, u64)>,
}

/// A stretch of which nothing is new.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stretch {
    /// How many elements were before it.
    pub(super) first: u64,
    /// How many were before those that equal its first one, and the chars before them; then the chars
    /// before it.
    pub(super) before: [u64; BEFORE],
    pub(super) at: [u64; BEFORE + 1],
}

impl Recycled {
    /// Takes the next element. `start`: the chars before an element, which is this one or one of the
    /// `max_period` before it.
    #[inline]
    pub(super) fn add(&mut self, symbol: u32, max_period: u64, start: impl Fn(u64) -> u64) {
        let number = self.seen;
        self.seen += 1;
        if symbol & NAMED == 0 {
            return;
        }
        let since = number.saturating_sub(max_period);
        let last = self.replace(symbol);
        if last[0] <= since {
            let ended = self.going_on.take().map(|stretch| (stretch, number));
            self.ended.extend(ended);
        } else if self.going_on.is_none() {
            let before = last.map(|seen| seen - 1);
            self.going_on = Some(Stretch {
                first: number,
                before,
                at: [start(before[0]), start(before[1]), start(number)],
            });
        }
        if self.last.len() as u64 > 2 * max_period {
            self.last.retain(|(_, last)| last[BEFORE - 1] > since);
        }
    }

    /// Notes when an element is read; when it was the last times.
    fn replace(&mut self, symbol: u32) -> [u64; BEFORE] {
        let seen = self.seen;
        let hash = |symbol: u32| u64::from(symbol).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let same = |(other, _): &(u32, _)| *other == symbol;
        match self
            .last
            .entry(hash(symbol), same, |(other, _)| hash(*other))
        {
            Entry::Occupied(mut entry) => {
                let last = &mut entry.get_mut().1;
                std::mem::replace(last, [last[1], seen])
            }
            Entry::Vacant(entry) => {
                entry.insert((symbol, [0, seen]));
                [0; BEFORE]
            }
        }
    }

    /// The stretch that goes on.
    pub(super) fn going_on(&self) -> Option<Stretch> {
        self.going_on
    }

    /// Those that have ended, each with how many elements there were until then.
    pub(super) fn take_ended(&mut self) -> Vec<(Stretch, u64)> {
        std::mem::take(&mut self.ended)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// By the definition: for each element, the first of the stretch that it ends, if it ends one.
    fn slow(symbols: &[u32], max_period: usize) -> Vec<Option<usize>> {
        let named = |i: usize| symbols[i] & NAMED != 0;
        let recycled = |i: usize| {
            let before = symbols[i.saturating_sub(max_period)..i].iter();
            before.filter(|symbol| **symbol == symbols[i]).count() >= BEFORE
        };
        let first = |last: usize| {
            let stretch = (0..=last).rev().take_while(|i| !named(*i) || recycled(*i));
            stretch.filter(|i| named(*i)).last()
        };
        (0..symbols.len()).map(first).collect()
    }

    proptest! {
        #[test]
        fn every_stretch_and_no_other(
            symbols in prop::collection::vec(0..16_u32, 0..200),
            max_period in 1..30_usize,
        ) {
            let slow = slow(&symbols, max_period);
            let mut recycled = Recycled::default();
            for (i, symbol) in symbols.iter().enumerate() {
                let before = recycled.going_on();
                recycled.add(*symbol, max_period as u64, |number| 10 * number);
                let now = recycled.going_on();
                prop_assert_eq!(now.map(|stretch| stretch.first as usize), slow[i]);
                if let Some(Stretch { first, before, at }) = now {
                    prop_assert_eq!(at, [before[0], before[1], first].map(|number| 10 * number));
                    let same = before.map(|number| symbols[number as usize]);
                    prop_assert_eq!(same, [symbols[first as usize]; BEFORE]);
                }
                let ended = before.filter(|_| now.is_none()).map(|stretch| (stretch, i as u64));
                prop_assert_eq!(recycled.take_ended(), Vec::from_iter(ended));
                prop_assert!(recycled.last.len() <= 2 * max_period + 1);
            }
        }
    }
}
