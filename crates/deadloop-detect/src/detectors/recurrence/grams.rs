//! Counting n-grams in a sliding window: O(1) for each symbol, O(1) for each earlier occurrence that
//! is asked for, 64 bytes a symbol of the window.
//!
//! A text is a polynomial over the symbols, modulo the prime 2^61 - 1, so that the hash of any
//! stretch comes from the hashes of the two texts before its ends. Each n-gram knows how far back
//! the one like it is, and the hash of what lies between.

use std::collections::{HashMap, VecDeque};

use foldhash::fast::RandomState;

use super::symbols::Symbol;

/// How far back occurrences count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Window {
    Symbols(usize),
    Chars(u64),
}

/// The n-grams of a window.
pub(super) struct Grams {
    n: usize,
    /// [`BASE`] to the power n.
    shift: u64,
    window: Window,
    /// The symbols of the window, oldest first.
    slots: VecDeque<Slot>,
    /// How many symbols came before them.
    first: u64,
    /// The hash of all symbols so far.
    prefix: u64,
    counts: HashMap<u64, Count, RandomState>,
}

/// A symbol of the window and the n-gram that begins with it.
struct Slot {
    /// The hash of all symbols before it.
    prefix: u64,
    /// The chars before it.
    start: u64,
    /// The n-gram's hash; [`NONE`] before it is complete.
    gram: u64,
    /// Symbols back to where the n-gram before it of this hash begins.
    gap: u64,
    /// The hash of the symbols from there to here.
    between: u64,
}

/// An n-gram of the window.
struct Count {
    /// How often it stands there.
    times: u32,
    /// The number of the symbol that it began with last.
    last: u64,
}

/// From an occurrence of an n-gram to the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Gap {
    /// From the beginning of one to the beginning of the other, symbols.
    pub(super) symbols: u64,
    /// What stands there, as a hash.
    pub(super) between: u64,
    /// The chars before the earlier one.
    pub(super) start: u64,
}

/// No hash is that large.
const NONE: u64 = u64::MAX;

impl Grams {
    /// N-grams of `n` symbols, at least 1.
    pub(super) fn new(n: usize, window: Window) -> Self {
        Self {
            n,
            shift: power(n as u64),
            window,
            slots: VecDeque::new(),
            first: 0,
            prefix: 0,
            counts: HashMap::default(),
        }
    }

    /// Reads a symbol that is complete with `read` chars. How often the n-gram that it ends now
    /// stands in the window; 0: it ends none.
    pub(super) fn push(&mut self, symbol: Symbol, read: u64) -> u32 {
        self.slots.push_back(Slot {
            prefix: self.prefix,
            start: symbol.start,
            gram: NONE,
            gap: 0,
            between: 0,
        });
        self.prefix = add(mul(self.prefix, BASE), symbol.value % PRIME);
        while self.is_past(read) {
            self.forget_first();
        }
        match self.slots.len().checked_sub(self.n) {
            Some(i) => self.count(i),
            None => 0,
        }
    }

    /// Forgets all.
    pub(super) fn reset(&mut self) {
        while !self.slots.is_empty() {
            self.forget_first();
        }
    }

    /// The chars before the last n-gram.
    pub(super) fn last_start(&self) -> u64 {
        let last = self.slots.len().checked_sub(self.n);
        last.and_then(|i| self.slots.get(i))
            .map_or(0, |slot| slot.start)
    }

    /// From the last n-gram to the one before of its kind, from there to the next, and so on; as
    /// many as stand in the window.
    pub(super) fn gaps(&self) -> impl Iterator<Item = Gap> {
        let mut at = self.slots.len().checked_sub(self.n);
        std::iter::from_fn(move || {
            let slot = self.slots.get(at?)?;
            // Nothing lies 0 symbols back.
            let back = usize::try_from(slot.gap).ok().filter(|gap| *gap > 0)?;
            at = at?.checked_sub(back);
            Some(Gap {
                symbols: slot.gap,
                between: slot.between,
                start: self.slots.get(at?)?.start,
            })
        })
    }

    /// Whether the first symbol has left the window.
    fn is_past(&self, read: u64) -> bool {
        match self.window {
            Window::Symbols(window) => self.slots.len() > window,
            Window::Chars(window) => {
                let first = self.slots.front();
                first.is_some_and(|slot| slot.start.saturating_add(window) < read)
            }
        }
    }

    fn forget_first(&mut self) {
        let Some(slot) = self.slots.pop_front() else {
            return;
        };
        self.first += 1;
        if let Some(count) = self.counts.get_mut(&slot.gram) {
            count.times -= 1;
            if count.times == 0 {
                self.counts.remove(&slot.gram);
            }
        }
    }

    /// Counts the n-gram that begins at slot `i` and has just been completed.
    fn count(&mut self, i: usize) -> u32 {
        let (here, before) = (self.first + i as u64, self.slots[i].prefix);
        let gram = sub(self.prefix, mul(before, self.shift));
        let count = self.counts.entry(gram).or_insert(Count {
            times: 0,
            last: here,
        });
        count.times += 1;
        let gap = here - std::mem::replace(&mut count.last, here);
        let times = count.times;
        let mut between = 0;
        if gap > 0 {
            let earlier = i - usize::try_from(gap).unwrap_or(i);
            between = sub(before, mul(self.slots[earlier].prefix, power(gap)));
        }
        let slot = &mut self.slots[i];
        (slot.gram, slot.gap, slot.between) = (gram, gap, between);
        times
    }
}

/// A Mersenne prime: reduction is a shift and an addition.
const PRIME: u64 = (1 << 61) - 1;
/// A random number below it.
const BASE: u64 = 0x0B1A_6F3D_92C4_58E7;

fn add(a: u64, b: u64) -> u64 {
    let sum = a + b;
    if sum >= PRIME { sum - PRIME } else { sum }
}

fn sub(a: u64, b: u64) -> u64 {
    add(a, PRIME - b)
}

fn mul(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    // Both halves are below 2^61, so their sum fits.
    #[allow(clippy::cast_possible_truncation)]
    let (low, high) = (product as u64 & PRIME, (product >> 61) as u64);
    add(low, high)
}

/// [`BASE`] to a power.
fn power(mut exponent: u64) -> u64 {
    let (mut result, mut square) = (1, BASE);
    while exponent > 0 {
        if exponent & 1 == 1 {
            result = mul(result, square);
        }
        square = mul(square, square);
        exponent >>= 1;
    }
    result
}
