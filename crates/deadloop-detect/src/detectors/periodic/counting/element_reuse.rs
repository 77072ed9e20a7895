//! [`ElementReuse`]: finds elements that recur in any order.
//!
//! In a templated loop, sentences recur in random order: it has no period, but every sentence occurred before.
//!
//! An element is recycled if equal ones occurred at least [`BEFORE`] times among the `max_period` elements before it. A
//! stretch is recycled if all of its elements are, and if its first element has a letter, or a number that is not
//! compared. Rulers, braces and rows of grids recur in any text. A periodic tail is recycled from its third copy on.
//! One earlier occurrence is not enough, since rewritten drafts and changed code repeat everything once.

use super::super::symbols::elements::NAMED;
use crate::text::hash::spread;

/// The minimum number of earlier occurrences of a recycled element.
const BEFORE: usize = 2;

/// The last occurrence of each element, and the current stretch.
pub(in super::super) struct ElementReuse {
    max_period: u64,
    /// The number of the last element of each hash, from 1. 0 if there is none.
    last: Vec<u64>,
    /// The symbol of each recent element, with the number of the previous element of its hash, from 1.
    kept: Vec<(u64, u32)>,
    /// The number of elements read.
    seen: u64,
    going_on: Option<ReuseStretch>,
    ended: Vec<(ReuseStretch, u64)>,
}

/// A stretch of recycled elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) struct ReuseStretch {
    /// The number of elements before the stretch.
    pub(in super::super) first: u64,
    /// The number of elements before each earlier occurrence of the first element.
    pub(in super::super) before: [u64; BEFORE],
    /// The characters before each of these occurrences, then before the stretch.
    pub(in super::super) at: [u64; BEFORE + 1],
}

impl ElementReuse {
    /// Returns an empty search.
    pub(in super::super) fn new(max_period: u32) -> Self {
        let kept = (max_period as usize + 1).next_power_of_two();
        Self {
            max_period: u64::from(max_period),
            last: vec![0; (2 * kept).clamp(1 << 8, 1 << 16)],
            kept: vec![(0, 0); kept],
            seen: 0,
            going_on: None,
            ended: Vec::new(),
        }
    }

    /// Adds the next element, with the sum of its numbers. Recycled elements also have equal sums. `start` returns the
    /// number of characters before this element, or before one of the `max_period` elements before it.
    #[inline]
    pub(in super::super) fn add(&mut self, symbol: u32, value: u64, start: impl Fn(u64) -> u64) {
        let number = self.seen;
        let symbol = symbol ^ (spread(value) >> 32) as u32 & !NAMED;
        let last = self.enter(symbol);
        if last[0] == 0 {
            let ended = self.going_on.take().map(|stretch| (stretch, number));
            self.ended.extend(ended);
        } else if self.going_on.is_none() && symbol & NAMED != 0 {
            let before = last.map(|seen| seen - 1);
            self.going_on = Some(ReuseStretch {
                first: number,
                before,
                at: [start(before[0]), start(before[1]), start(number)],
            });
        }
    }

    /// Enters an element. Returns the numbers of its last equal elements, from 1, the latest last. 0 for an occurrence
    /// that is missing or too far away.
    #[inline]
    fn enter(&mut self, symbol: u32) -> [u64; BEFORE] {
        let index = |number: u64| number as usize & (self.kept.len() - 1);
        // The high bits of a symbol are those of its hash.
        let slot = (symbol >> 16) as usize & (self.last.len() - 1);
        let since = self.seen.saturating_sub(self.max_period);
        let nearest = self.last[slot];
        let mut found = [0; BEFORE];
        let mut missing = BEFORE;
        let mut seen = nearest;
        while seen > since && missing > 0 {
            let (before, other) = self.kept[index(seen - 1)];
            if other == symbol {
                missing -= 1;
                found[missing] = seen;
            }
            seen = before;
        }
        let here = index(self.seen);
        self.seen += 1;
        self.kept[here] = (nearest, symbol);
        self.last[slot] = self.seen;
        found
    }

    /// Returns the current stretch.
    pub(in super::super) fn current_stretch(&self) -> Option<ReuseStretch> {
        self.going_on
    }

    /// Removes and returns the ended stretches, each with the number of elements at its end.
    pub(in super::super) fn take_ended(&mut self) -> Vec<(ReuseStretch, u64)> {
        std::mem::take(&mut self.ended)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Returns, for each element, the first of the stretch that it ends, if it ends one, by the definition.
    fn slow(symbols: &[u32], max_period: usize) -> Vec<Option<usize>> {
        let named = |i: usize| symbols[i] & NAMED != 0;
        let recycled = |i: usize| {
            let before = symbols[i.saturating_sub(max_period)..i].iter();
            before.filter(|symbol| **symbol == symbols[i]).count() >= BEFORE
        };
        let first = |last: usize| {
            let stretch = (0..=last).rev().take_while(|i| recycled(*i));
            stretch.filter(|i| named(*i)).last()
        };
        (0..symbols.len()).map(first).collect()
    }

    /// Generates a few symbols, some of which share a hash.
    fn symbol() -> impl Strategy<Value = u32> {
        (0..3_u32, 0..6_u32).prop_map(|(high, low)| high << 30 | low)
    }

    proptest! {
        #[test]
        fn every_stretch_and_no_other(
            symbols in prop::collection::vec(symbol(), 0..200),
            max_period in 1..30_usize,
        ) {
            let slow = slow(&symbols, max_period);
            let mut recycled = ElementReuse::new(max_period as u32);
            for (i, symbol) in symbols.iter().enumerate() {
                let before = recycled.current_stretch();
                recycled.add(*symbol, 0, |number| 10 * number);
                let now = recycled.current_stretch();
                prop_assert_eq!(now.map(|stretch| stretch.first as usize), slow[i]);
                if let Some(ReuseStretch { first, before, at }) = now {
                    prop_assert_eq!(at, [before[0], before[1], first].map(|number| 10 * number));
                    let same = before.map(|number| symbols[number as usize]);
                    prop_assert_eq!(same, [symbols[first as usize]; BEFORE]);
                }
                let ended = before.filter(|_| now.is_none()).map(|stretch| (stretch, i as u64));
                prop_assert_eq!(recycled.take_ended(), Vec::from_iter(ended));
            }
        }
    }
}
