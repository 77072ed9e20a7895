//! Counts n-grams in a sliding window, in O(1) for each symbol and O(1) for each earlier occurrence that is
//! asked for. It takes at most 150 bytes a symbol of the window.
//!
//! The hash of a text is a polynomial over its symbols, modulo the prime 2^61 - 1, so the hash of any stretch
//! follows from the hashes of all text before its start and of all text before its end. A table of chains, like
//! those of compressors, finds the previous occurrence of an n-gram. A chain leads from newer to older n-grams
//! and ends at the first one that has left the window, so n-grams need not be removed from it.

use std::collections::VecDeque;

use super::symbols::Symbol;

/// How far back occurrences count, in symbols or in chars.
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
    /// How many symbols came before those of `slots`.
    first: u64,
    /// The hash of all symbols so far.
    prefix: u64,
    /// For each value of the low bits of a hash, the newest n-gram that has it, as a [link](Slot).
    chains: Vec<u64>,
    /// The last distance and [`BASE`] to its power, kept because all of a loop asks for the same one.
    power: (u64, u64),
}

/// A symbol of the window and the n-gram that begins with it. A link is the number of a symbol, counted
/// from 1; 0 links to nothing.
struct Slot {
    /// The hash of all symbols before it.
    prefix: u64,
    /// The chars before it.
    start: u64,
    /// The hash of the n-gram, once it is complete.
    gram: u64,
    /// A link to the next older n-gram of the chain: the newest one with another hash.
    next: u64,
    /// The way back to the previous occurrence of the n-gram.
    back: Back,
    /// How many occurrences there are up to this one, each in the window of the next.
    times: u32,
}

/// The way from an n-gram back to its previous occurrence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Back {
    /// Symbols from the beginning of one to the beginning of the other; 0 without a previous occurrence.
    gap: u64,
    /// The hash of those symbols.
    between: u64,
    /// How many such steps in a row, this one included, have the same gap and the same symbols.
    run: u32,
}

/// A gap: the distance from an occurrence of an n-gram back to the previous one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Gap {
    /// Symbols from the beginning of one to the beginning of the other.
    pub(super) symbols: u64,
    /// The hash of those symbols.
    pub(super) between: u64,
    /// The chars before the earlier occurrence.
    pub(super) start: u64,
}

impl Grams {
    /// Counts n-grams of `n` symbols; `n` is at least 1.
    pub(super) fn new(n: usize, window: Window) -> Self {
        let most = match window {
            Window::Symbols(symbols) => symbols,
            // A symbol has at least one char.
            Window::Chars(chars) => usize::try_from(chars).unwrap_or(FIRST_CHAINS),
        };
        Self {
            n,
            shift: power(n as u64),
            window,
            slots: VecDeque::new(),
            first: 0,
            prefix: 0,
            chains: vec![0; most.min(FIRST_CHAINS).next_power_of_two()],
            power: (0, 1),
        }
    }

    /// Reads a symbol that is complete after `read` chars. Returns an upper bound of how often the n-gram
    /// that it ends occurs in the window; 0 if it ends no n-gram.
    pub(super) fn push(&mut self, symbol: Symbol, read: u64) -> u32 {
        self.slots.push_back(Slot {
            prefix: self.prefix,
            start: symbol.start,
            gram: 0,
            next: 0,
            back: Back::default(),
            times: 0,
        });
        self.prefix = add(mul(self.prefix, BASE), symbol.value % PRIME);
        while self.is_past(read) {
            self.slots.pop_front();
            self.first += 1;
        }
        let Some(i) = self.last() else { return 0 };
        if self.slots.len() > self.chains.len() {
            self.grow(i);
        }
        self.count(i)
    }

    /// Makes four times as many chains, so that there are at least as many as symbols in the window, and links the
    /// complete n-grams, those before slot `i`, again.
    fn grow(&mut self, i: usize) {
        self.chains = vec![0; 4 * self.chains.len()];
        for earlier in 0..i {
            self.chain(earlier, self.slots[earlier].gram);
        }
    }

    /// Forgets all symbols.
    pub(super) fn reset(&mut self) {
        self.first += self.slots.len() as u64;
        self.slots.clear();
    }

    /// The chars before the last n-gram.
    pub(super) fn last_start(&self) -> u64 {
        let last = self.last().and_then(|i| self.slots.get(i));
        last.map_or(0, |slot| slot.start)
    }

    /// The gaps between the occurrences of the last n-gram, from the last one back, as far as the window
    /// reaches.
    pub(super) fn gaps(&self) -> impl Iterator<Item = Gap> {
        let mut at = self.last();
        std::iter::from_fn(move || {
            let Back { gap, between, .. } = self.slots.get(at?)?.back;
            // A gap of 0 means that there is no previous occurrence.
            let back = usize::try_from(gap).ok().filter(|gap| *gap > 0)?;
            at = at?.checked_sub(back);
            Some(Gap {
                symbols: gap,
                between,
                start: self.slots.get(at?)?.start,
            })
        })
    }

    /// If the last `most` gaps, or all gaps in the window, are the same: their length in symbols, and how
    /// many they are.
    pub(super) fn even(&self, most: u32) -> Option<(u64, u32)> {
        let last = self.last()?;
        let slot = self.slots.get(last)?;
        let Back { gap, run, .. } = slot.back;
        let inside = (last as u64).checked_div(gap)?.min(u64::from(most));
        let inside = u32::try_from(inside).unwrap_or(most);
        // `inside` counts gaps of this length. A shorter gap before them might still be in the window; these
        // conditions rule it out.
        let all = run > inside || run >= most || run + 1 == slot.times;
        (run >= inside && all).then_some((gap, inside))
    }

    /// The slot of the last complete n-gram.
    fn last(&self) -> Option<usize> {
        self.slots.len().checked_sub(self.n)
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

    /// Counts the n-gram that begins at slot `i` and has just been completed.
    fn count(&mut self, i: usize) -> u32 {
        let gram = sub(self.prefix, mul(self.slots[i].prefix, self.shift));
        let (mut back, mut times) = (Back::default(), 1);
        if let Some(earlier) = self.chain(i, gram) {
            back = self.back(i, earlier);
            times = self.slots[earlier].times.saturating_add(1);
        }
        let slot = &mut self.slots[i];
        (slot.gram, slot.back, slot.times) = (gram, back, times);
        times
    }

    /// Puts slot `i` at the head of its chain. It replaces the newest slot with the same hash; returns that
    /// slot.
    fn chain(&mut self, i: usize, gram: u64) -> Option<usize> {
        // The length is a power of two that fits.
        #[allow(clippy::cast_possible_truncation)]
        let chain = gram as usize & (self.chains.len() - 1);
        let head = std::mem::replace(&mut self.chains[chain], self.first + i as u64 + 1);
        let (mut link, mut newer) = (head, None);
        while link > self.first {
            let at = usize::try_from(link - 1 - self.first).ok()?;
            let next = self.slots[at].next;
            if self.slots[at].gram != gram {
                (link, newer) = (next, Some(at));
                continue;
            }
            self.slots[i].next = match newer {
                None => next,
                Some(newer) => {
                    self.slots[newer].next = next;
                    head
                }
            };
            return Some(at);
        }
        self.slots[i].next = head;
        None
    }

    /// The way from slot `i` back to the `earlier` one with the same hash.
    fn back(&mut self, i: usize, earlier: usize) -> Back {
        let gap = (i - earlier) as u64;
        if self.power.0 != gap {
            self.power = (gap, power(gap));
        }
        let Slot { prefix, back, .. } = self.slots[earlier];
        let between = sub(self.slots[i].prefix, mul(prefix, self.power.1));
        let same = (back.gap, back.between) == (gap, between);
        Back {
            gap,
            between,
            run: if same { back.run.saturating_add(1) } else { 1 },
        }
    }
}

/// The most chains at the start, a power of two. Few windows are longer, and so a long window costs a short text no
/// more than a short window does.
const FIRST_CHAINS: usize = 8192;

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

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts as the definition has it: every trigram of the window is compared.
    #[test]
    fn counts_are_right_where_chains_grow() {
        let symbols: Vec<u64> = (0..3 * FIRST_CHAINS as u64)
            .map(|i| power(i) % 40)
            .collect();
        let mut grams = Grams::new(3, Window::Symbols(100_000));
        let mut known = std::collections::HashMap::new();
        for (i, value) in symbols.iter().enumerate() {
            let (value, start) = (*value, i as u64);
            let times = grams.push(Symbol { value, start }, start + 1);
            let Some(first) = i.checked_sub(2) else {
                continue;
            };
            let count: &mut u32 = known.entry(&symbols[first..=i]).or_default();
            *count += 1;
            assert_eq!(times, *count, "symbol {i}");
        }
        assert!(grams.chains.len() > FIRST_CHAINS);
    }
}
