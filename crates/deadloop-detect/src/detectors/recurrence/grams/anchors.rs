//! [`Anchors`]: finds n-grams that may recur, by a few short k-grams.
//!
//! Only n-grams that may have another occurrence in the window are stored.
//!
//! Some k-grams are marked, depending on their hash. The **anchor** of an n-gram is the last marked k-gram inside it.
//! So equal n-grams have equal anchors at equal offsets. An n-gram whose anchor is new in the window has no earlier
//! occurrence there. All n-grams of one anchor end at consecutive symbols, from the end of the anchor on.
//!
//! A table holds the newest anchor for each value of some bits of the hash. If a new anchor has the bits of a stored
//! one whose n-grams may still be in the window, the n-grams of both may repeat. Then those of the stored anchor are
//! entered at once, and those of the new one as they are read. If two anchors share these bits by chance, only time is
//! lost. An n-gram without an anchor is entered at once.

use std::ops::Range;

/// The number of symbols of a k-gram.
const K: u32 = 16;
/// The number of bits by which the hash is shifted at each symbol. After [`K`] shifts, a symbol has left the 64 bits.
const SHIFT: u32 = 64 / K;
/// The number of marked k-grams among 256.
const MARKED: u64 = 24;
/// The minimum number of symbols of an n-gram. Many shorter ones would have no anchor.
const MIN_N: usize = 40;
/// The maximum size of the table.
const MAX_TABLE: usize = 1 << 12;
/// The multiplier of hashes: an odd number with well-mixed bits.
const FACTOR: u64 = 0xD6E8_FEB8_6659_FD93;

/// The anchors of one stream.
pub(super) struct Anchors {
    /// The hash of the last k-gram.
    hash: u64,
    /// The maximum number of n-grams that share an anchor.
    reach: u32,
    /// The newest anchor for each value of the bits.
    table: Vec<GramAnchor>,
    bits: u32,
    /// The index of the newest anchor.
    newest: usize,
}

/// A marked k-gram.
#[derive(Clone, Copy, Default)]
struct GramAnchor {
    /// The number of the k-gram's last symbol, counted from 1. 0 if there is no k-gram.
    end: u64,
    /// The number of symbols that end an n-gram of this anchor. The first is the anchor's own last symbol.
    ends: u32,
    /// Whether the anchor's n-grams are entered.
    entered: bool,
}

/// The time at which the n-gram up to a symbol is entered.
pub(super) enum EntryTime {
    /// On the next occurrence of the anchor.
    Later,
    Now,
    /// Now, after the n-grams that end with these symbols.
    NowAnd(Range<u64>),
}

impl Anchors {
    /// Returns the anchors for n-grams of `n` symbols in a window of at most `window` symbols. `None` if the n-grams
    /// are too short.
    pub(super) fn new(n: usize, window: usize) -> Option<Self> {
        let places = window.clamp(64, MAX_TABLE).next_power_of_two();
        (n >= MIN_N).then(|| Self {
            hash: 0,
            reach: u32::try_from(n + 1).unwrap_or(u32::MAX) - K,
            table: vec![GramAnchor::default(); places],
            bits: places.ilog2(),
            newest: 0,
        })
    }

    /// Reads symbol number `number`. The window begins with symbol `first`.
    #[inline]
    pub(super) fn read(&mut self, value: u64, number: u64, first: u64) -> EntryTime {
        let mixed = value.wrapping_mul(FACTOR);
        self.hash = (self.hash << SHIFT).wrapping_add(mixed ^ mixed >> 32);
        if self.hash >> 56 < MARKED {
            return self.mark(number, first);
        }
        let newest = &self.table[self.newest];
        if number - newest.end < u64::from(self.reach) - 1 && !newest.entered {
            EntryTime::Later
        } else {
            EntryTime::Now
        }
    }

    /// Stores an anchor that ends with this symbol.
    fn mark(&mut self, number: u64, first: u64) -> EntryTime {
        let before = &mut self.table[self.newest];
        let until_now = number.saturating_sub(before.end) + 1;
        before.ends = before
            .ends
            .min(u32::try_from(until_now).unwrap_or(u32::MAX));
        let place = (self.hash.wrapping_mul(FACTOR) >> (64 - self.bits)) as usize;
        let there = self.table[place];
        // An anchor that begins before the window is in no n-gram of the window.
        let is_in_window = there.end >= first + u64::from(K);
        self.newest = place;
        self.table[place] = GramAnchor {
            end: number + 1,
            ends: self.reach,
            entered: is_in_window,
        };
        match (is_in_window, there.entered) {
            (false, _) => EntryTime::Later,
            (true, true) => EntryTime::Now,
            (true, false) => {
                EntryTime::NowAnd(there.end - 1..there.end - 1 + u64::from(there.ends))
            }
        }
    }
}
