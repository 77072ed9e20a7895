//! [`Anchors`]: finds n-grams that may recur, by a few short k-grams.
//!
//! An n-gram is worth entering only if the window may hold another occurrence of it.
//!
//! Of all k-grams some are marked, by their hash alone. The **anchor** of an n-gram is the last marked k-gram inside it. So equal
//! n-grams have equal anchors, at the same place inside; and an n-gram whose anchor was seen for the first time in the window
//! has no earlier occurrence there. All n-grams of one anchor end in a row, from the anchor's end on.
//!
//! A table has the newest anchor for some bits of its hash. When another with these bits comes while n-grams of the one there can
//! be in the window, both can repeat: those of the former are entered then, and those of the new one as they come. Two
//! anchors that share these bits by chance cost time, and nothing else. An n-gram without an anchor is entered at once.

use std::ops::Range;

/// The number of symbols of a k-gram.
const K: u32 = 16;
/// The hash is shifted by this many bits at each symbol. After [`K`] shifts a symbol has left its 64 bits.
const SHIFT: u32 = 64 / K;
/// The number of marked k-grams among 256.
const MARKED: u64 = 24;
/// The minimum number of symbols of an n-gram. Many shorter ones would have no anchor.
const SHORTEST: usize = 40;
/// The most places of the table.
const MOST: usize = 1 << 12;
/// Odd, with bits everywhere.
const FACTOR: u64 = 0xD6E8_FEB8_6659_FD93;

/// The anchors of one stream.
pub(super) struct Anchors {
    /// The hash of the last k-gram.
    hash: u64,
    /// The most n-grams that have one anchor.
    reach: u32,
    /// The newest anchor of each place.
    table: Vec<Anchor>,
    bits: u32,
    /// The place of the newest anchor.
    newest: usize,
}

/// A marked k-gram.
#[derive(Clone, Copy, Default)]
struct Anchor {
    /// The number of the k-gram's last symbol, plus 1; 0 if there is no k-gram.
    end: u64,
    /// The number of symbols that end an n-gram of this anchor. The first is the anchor's own last symbol.
    ends: u32,
    /// Whether the anchor's n-grams are entered.
    entered: bool,
}

/// The time at which the n-gram that a symbol ends is entered.
pub(super) enum Entering {
    /// On the next occurrence of the anchor.
    Later,
    Now,
    /// Now, after the n-grams that end with these symbols.
    NowAnd(Range<u64>),
}

impl Anchors {
    /// Creates the anchors for n-grams of `n` symbols in a window of at most `window`; `None` if the n-grams are too
    /// short.
    pub(super) fn new(n: usize, window: usize) -> Option<Self> {
        let places = window.clamp(64, MOST).next_power_of_two();
        (n >= SHORTEST).then(|| Self {
            hash: 0,
            reach: u32::try_from(n + 1).unwrap_or(u32::MAX) - K,
            table: vec![Anchor::default(); places],
            bits: places.ilog2(),
            newest: 0,
        })
    }

    /// Reads symbol number `number`; the window begins with symbol `first`.
    #[inline]
    pub(super) fn read(&mut self, value: u64, number: u64, first: u64) -> Entering {
        let mixed = value.wrapping_mul(FACTOR);
        self.hash = (self.hash << SHIFT).wrapping_add(mixed ^ mixed >> 32);
        if self.hash >> 56 < MARKED {
            return self.mark(number, first);
        }
        let newest = &self.table[self.newest];
        if number - newest.end < u64::from(self.reach) - 1 && !newest.entered {
            Entering::Later
        } else {
            Entering::Now
        }
    }

    /// Notes an anchor that ends with this symbol.
    fn mark(&mut self, number: u64, first: u64) -> Entering {
        let before = &mut self.table[self.newest];
        let until_now = number.saturating_sub(before.end) + 1;
        before.ends = before
            .ends
            .min(u32::try_from(until_now).unwrap_or(u32::MAX));
        let place = (self.hash.wrapping_mul(FACTOR) >> (64 - self.bits)) as usize;
        let there = self.table[place];
        // What begins before the window is in no n-gram of it.
        let lives = there.end >= first + u64::from(K);
        self.newest = place;
        self.table[place] = Anchor {
            end: number + 1,
            ends: self.reach,
            entered: lives,
        };
        match (lives, there.entered) {
            (false, _) => Entering::Later,
            (true, true) => Entering::Now,
            (true, false) => Entering::NowAnd(there.end - 1..there.end - 1 + u64::from(there.ends)),
        }
    }
}
