//! Counts n-grams in a sliding window, in O(1) for each symbol and O(1) for each earlier occurrence that is
//! asked for. It takes at most 150 bytes a symbol of the window.
//!
//! The hash of a text is a polynomial over its symbols, modulo the prime 2^61 - 1, so the hash of any stretch
//! follows from the hashes of all text before its start and of all text before its end. A table of chains, like
//! those of compressors, finds the previous occurrence of an n-gram. A chain leads from newer to older n-grams
//! and ends at the first one that has left the window, so n-grams need not be removed from it.

use super::prime::{BASE, add, below_prime, mul, power, sub};
use super::symbols::Symbol;

/// How far back occurrences count, in symbols or in chars.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Window {
    Symbols(usize),
    Chars(u64),
}

/// The n-grams of a window. Symbols are numbered from 0.
pub(super) struct Grams {
    n: u64,
    /// [`BASE`] to the power n.
    shift: u64,
    window: Window,
    /// The symbols of the window, each at its number modulo the length, which is a power of two.
    ring: Vec<Slot>,
    /// The first one in the window.
    first: u64,
    /// How many there were so far.
    count: u64,
    /// The hash of all symbols so far.
    prefix: u64,
    /// For each value of the low bits of a hash, the newest n-gram that has it: its symbol's number and 1; 0: none.
    chains: Vec<u64>,
    /// The last distance and [`BASE`] to its power, kept because all of a loop asks for the same one.
    power: (u64, u64),
}

/// A symbol of the window and the n-gram that begins with it.
#[derive(Clone, Copy, Default)]
struct Slot {
    /// The hash of all symbols before it.
    prefix: u64,
    /// The chars before it.
    start: u64,
    /// The hash of the n-gram, once it is complete.
    gram: u64,
    /// How far back the next older n-gram of the chain is, the newest one of another hash; 0 without one.
    next: u32,
    /// How many there were in a row, each in the window of the next.
    times: u32,
    /// From the n-gram before it of this hash.
    back: Back,
    /// How many of its gaps in a row, from itself on, the symbol before it has too.
    shifted: u32,
}

/// The way from an n-gram back to its previous occurrence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Back {
    /// The hash of the symbols that stand there.
    between: u64,
    /// Symbols from the beginning of one to the beginning of the other; 0 without one.
    gap: u32,
    /// How many in a row, this one included, are the same.
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
        let first = most.clamp(1, FIRST_CHAINS).next_power_of_two();
        Self {
            n: n as u64,
            shift: power(n as u64),
            window,
            ring: vec![Slot::default(); first],
            first: 0,
            count: 0,
            prefix: 0,
            chains: vec![0; first],
            power: (0, 1),
        }
    }

    /// Reads a symbol that is complete after `read` chars. Returns an upper bound of how often the n-gram
    /// that it ends occurs in the window; 0 if it ends no n-gram.
    pub(super) fn push(&mut self, symbol: Symbol, read: u64) -> u32 {
        if self.count - self.first == self.ring.len() as u64 {
            self.widen();
        }
        let prefix = self.prefix;
        *self.slot_mut(self.count) = Slot {
            prefix,
            start: symbol.start,
            ..Slot::default()
        };
        self.count += 1;
        self.prefix = add(mul(prefix, BASE), below_prime(symbol.value));
        while self.is_past(read) {
            self.first += 1;
        }
        let Some(last) = self.last() else { return 0 };
        if self.count - self.first > self.chains.len() as u64 {
            self.grow(last);
        }
        self.complete(last)
    }

    fn slot(&self, number: u64) -> &Slot {
        &self.ring[place(number, self.ring.len())]
    }

    fn slot_mut(&mut self, number: u64) -> &mut Slot {
        let length = self.ring.len();
        &mut self.ring[place(number, length)]
    }

    /// Makes room for twice as many symbols.
    fn widen(&mut self) {
        let mut ring = vec![Slot::default(); 2 * self.ring.len()];
        for number in self.first..self.count {
            ring[place(number, 2 * self.ring.len())] = *self.slot(number);
        }
        self.ring = ring;
    }

    /// Makes four times as many chains, so that there are as many as symbols in the window, and links the complete
    /// n-grams, those before `last`, anew.
    fn grow(&mut self, last: u64) {
        self.chains = vec![0; 4 * self.chains.len()];
        for earlier in self.first..last {
            self.chain(earlier, self.slot(earlier).gram);
        }
    }

    /// Forgets all symbols.
    pub(super) fn reset(&mut self) {
        self.first = self.count;
    }

    /// The chars before the last n-gram.
    pub(super) fn last_start(&self) -> u64 {
        self.last().map_or(0, |last| self.slot(last).start)
    }

    /// The gaps between the occurrences of the last n-gram, from the last one back, as far as the window
    /// reaches.
    pub(super) fn gaps(&self) -> impl Iterator<Item = Gap> {
        let mut at = self.last();
        std::iter::from_fn(move || {
            let Back { gap, between, .. } = self.slot(at?).back;
            let symbols = u64::from(gap);
            // Nothing lies 0 symbols back.
            let back = at?.checked_sub(symbols).filter(|at| *at >= self.first);
            at = back.filter(|_| gap > 0);
            Some(Gap {
                symbols,
                between,
                start: self.slot(at?).start,
            })
        })
    }

    /// If the last `most` gaps, or all gaps in the window, are the same: their length in symbols, and how
    /// many they are.
    pub(super) fn even(&self, most: u32) -> Option<(u64, u32)> {
        let last = self.last()?;
        let slot = self.slot(last);
        let Back { gap, run, .. } = slot.back;
        let gap = u64::from(gap);
        let inside = (last - self.first).checked_div(gap)?.min(u64::from(most));
        let inside = u32::try_from(inside).unwrap_or(most);
        // `inside` counts gaps of this length. A shorter gap before them might still be in the window; these
        // conditions rule it out.
        let all = run > inside || run >= most || run + 1 == slot.times;
        (run >= inside && all).then_some((gap, inside))
    }

    /// Whether the last `most` gaps, or all in the window, are those of the symbol before, which had as many: the text
    /// has gone on as it did after each earlier occurrence. Then what stands between has as many different texts as it
    /// had there, since each of them is the one there, turned by a symbol that all of them begin with.
    ///
    /// In a window of chars the symbol before may have had fewer: it can have had the same window.
    pub(super) fn goes_on(&self, most: u32) -> bool {
        let counts = matches!(self.window, Window::Symbols(_));
        let last = self.last().filter(|_| counts).map(|last| self.slot(last));
        last.is_some_and(|slot| slot.shifted >= (slot.times - 1).min(most))
    }

    /// The last complete n-gram.
    fn last(&self) -> Option<u64> {
        let last = self.count.checked_sub(self.n)?;
        (last >= self.first).then_some(last)
    }

    /// Whether the first symbol has left the window.
    fn is_past(&self, read: u64) -> bool {
        match self.window {
            Window::Symbols(window) => self.count - self.first > window as u64,
            Window::Chars(window) => {
                let starts = self.first < self.count;
                starts && self.slot(self.first).start.saturating_add(window) < read
            }
        }
    }

    /// Counts the n-gram that begins with this symbol and has just been completed.
    fn complete(&mut self, number: u64) -> u32 {
        let gram = sub(self.prefix, mul(self.slot(number).prefix, self.shift));
        let (mut back, mut times, mut shifted) = (Back::default(), 1, 0);
        if let Some(earlier) = self.chain(number, gram) {
            back = self.back(number, earlier);
            let before = number.checked_sub(1).filter(|before| *before >= self.first);
            let slot = self.slot(earlier);
            times = slot.times.saturating_add(1);
            if before.is_some_and(|before| self.slot(before).back.gap == back.gap) {
                shifted = slot.shifted.saturating_add(1);
            }
        }
        let slot = self.slot_mut(number);
        (slot.gram, slot.back) = (gram, back);
        (slot.times, slot.shifted) = (times, shifted);
        times
    }

    /// Puts a symbol's n-gram at the head of its chain, in the place of the newest one of the same hash,
    /// and returns that one.
    fn chain(&mut self, number: u64, gram: u64) -> Option<u64> {
        let chain = place(gram, self.chains.len());
        let head = std::mem::replace(&mut self.chains[chain], number + 1);
        let (mut link, mut newer) = (head, None);
        while link > self.first {
            let at = link - 1;
            let slot = self.slot(at);
            let next = match slot.next {
                0 => 0,
                back => link.saturating_sub(u64::from(back)),
            };
            if slot.gram != gram {
                (link, newer) = (next, Some(at));
                continue;
            }
            match newer {
                None => self.link(number, next),
                Some(newer) => {
                    self.link(newer, next);
                    self.link(number, head);
                }
            }
            return Some(at);
        }
        self.link(number, head);
        None
    }

    /// Says which n-gram of its chain is the next older one; not one that has left the window.
    fn link(&mut self, number: u64, next: u64) {
        let back = if next > self.first {
            number + 1 - next
        } else {
            0
        };
        self.slot_mut(number).next = narrow(back);
    }

    /// From a symbol's n-gram to the `earlier` one of the same hash.
    fn back(&mut self, number: u64, earlier: u64) -> Back {
        let gap = number - earlier;
        if self.power.0 != gap {
            self.power = (gap, power(gap));
        }
        let Slot { prefix, back, .. } = *self.slot(earlier);
        let between = sub(self.slot(number).prefix, mul(prefix, self.power.1));
        let gap = narrow(gap);
        let same = (back.gap, back.between) == (gap, between);
        Back {
            gap,
            between,
            run: if same { back.run.saturating_add(1) } else { 1 },
        }
    }
}

/// A number modulo a length that is a power of two.
#[inline]
fn place(number: u64, length: usize) -> usize {
    // The length is no larger than fits.
    #[allow(clippy::cast_possible_truncation)]
    let place = number as usize & (length - 1);
    place
}

/// A distance inside a window, which has at most a million symbols.
fn narrow(distance: u64) -> u32 {
    u32::try_from(distance).unwrap_or(u32::MAX)
}

/// Chains and symbols at first, at most; a power of two. A long window costs a short text no more.
const FIRST_CHAINS: usize = 512;

#[cfg(test)]
mod tests;
