//! Counts of n-grams in a sliding window.
//!
//! Work is O(1) for each symbol and O(1) for each earlier occurrence that is requested. Memory is at most 150 bytes for
//! each symbol of the window.
//!
//! The hash of a text is a polynomial over its symbols, modulo the prime 2^61 - 1, so the hash of any stretch
//! follows from the hashes of all text before its start and of all text before its end. A table of chains, like
//! those of compressors, finds the previous occurrence of an n-gram. A chain leads from newer to older n-grams
//! and ends at the first one that has left the window, so n-grams need not be removed from it.
//!
//! N-grams without another occurrence in the window are not entered. [`anchors`] finds them, and enters them once
//! another occurrence is possible.

use std::ops::Range;

use anchors::{Anchors, EntryTime};

use super::prime::{BASE, add, below_prime, mul, power, sub};
use super::symbols::Symbol;
use crate::text::ring::{narrow, place};

/// The n-grams of a window. Symbols are numbered from 0.
pub(super) struct GramWindow {
    n: u64,
    /// [`BASE`] to the power n.
    shift: u64,
    /// The number of symbols within which occurrences count.
    window: usize,
    /// The symbols of the window, at their numbers modulo `length`. The vector grows up to `length`.
    ring: Vec<WindowSymbol>,
    /// The n-grams that begin with these symbols, at the same indices.
    slots: Vec<GramSlot>,
    /// The capacity of the ring, a power of two.
    length: usize,
    /// The number of the first symbol in the window.
    first: u64,
    /// The number of symbols so far.
    count: u64,
    /// The hash of all symbols so far.
    prefix: u64,
    /// The newest n-gram for each value of a hash's low bits: one plus the number of its first symbol. 0 if there is
    /// none.
    chains: Vec<u64>,
    /// The last distance, and [`BASE`] to this power, cached for loops.
    power: (u64, u64),
    /// The finder of n-grams that need not be entered yet. `None` if n-grams are too short.
    anchors: Option<Anchors>,
}

/// A symbol of the window.
#[derive(Clone, Copy, Default)]
struct WindowSymbol {
    /// The hash of all symbols before this one.
    prefix: u64,
    /// The number of chars before the symbol.
    start: u64,
}

/// An n-gram that was entered.
#[derive(Clone, Copy, Default)]
struct GramSlot {
    /// The number of the n-gram's first symbol, counted from 1. 0 before the first n-gram.
    entered: u64,
    /// The n-gram's hash.
    gram: u64,
    /// The distance to the next older n-gram of the chain, the newest one with a different hash. 0 if there is none.
    next: u32,
    /// The number of consecutive occurrences that each lie in the window of the next one.
    times: u32,
    /// The link to the previous n-gram with this hash.
    back: GramLink,
    /// The number of consecutive gaps, from this n-gram back, that equal those of the n-gram one symbol earlier.
    shifted: u32,
}

/// A link from an n-gram to its previous occurrence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct GramLink {
    /// The hash of the symbols from the previous start to this one.
    between: u64,
    /// The number of symbols from the previous start to this one. 0 without a previous occurrence.
    gap: u32,
    /// The number of consecutive equal gaps, including this one.
    run: u32,
}

/// A row of equal gaps. Each is the distance from an occurrence of an n-gram back to the previous one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Gaps {
    /// The number of the first symbol of the last occurrence.
    newest: u64,
    /// The number of symbols from the start of one occurrence to the start of the next.
    pub(super) symbols: u64,
    /// The hash of the symbols of one gap.
    pub(super) between: u64,
    /// The number of gaps, at least one.
    pub(super) count: u64,
}

impl Gaps {
    /// Returns the number of the first symbol of the occurrence that lies `back` gaps before the newest.
    pub(super) fn occurrence(&self, back: u64) -> u64 {
        self.newest - back * self.symbols
    }
}

impl GramWindow {
    /// Creates a counter of n-grams of `n` symbols. `n` is at least 1.
    pub(super) fn new(n: usize, window: usize) -> Self {
        let first = window.clamp(1, FIRST_CHAINS).next_power_of_two();
        Self {
            n: n as u64,
            shift: power(n as u64),
            window,
            ring: Vec::with_capacity(first),
            slots: vec![GramSlot::default(); first],
            length: first,
            first: 0,
            count: 0,
            prefix: 0,
            chains: vec![0; first],
            power: (0, 1),
            anchors: Anchors::new(n, window),
        }
    }

    /// Reads a symbol. Returns an upper bound on the number of occurrences, in the window, of the n-gram that ends with
    /// the symbol. 0 if no n-gram ends there.
    #[inline]
    pub(super) fn push(&mut self, symbol: Symbol) -> u32 {
        if self.count - self.first == self.length as u64 {
            self.widen();
        }
        let (number, prefix) = (self.count, self.prefix);
        let start = symbol.start;
        if self.ring.len() < self.length {
            self.ring.push(WindowSymbol { prefix, start });
        } else {
            self.ring[place(number, self.length)] = WindowSymbol { prefix, start };
        }
        self.count += 1;
        self.prefix = add(mul(prefix, BASE), below_prime(symbol.value));
        self.first = self
            .first
            .max(self.count.saturating_sub(self.window as u64));
        let entering = match &mut self.anchors {
            Some(anchors) => anchors.read(symbol.value, number, self.first),
            None => EntryTime::Now,
        };
        match entering {
            EntryTime::Later => u32::from(self.last().is_some()),
            EntryTime::Now => self.enter_last(),
            EntryTime::NowAnd(late) => {
                self.enter_late(late);
                self.enter_last()
            }
        }
    }

    /// Enters the last n-gram, if one is complete.
    fn enter_last(&mut self) -> u32 {
        let Some(last) = self.last() else { return 0 };
        if self.count - self.first > self.chains.len() as u64 {
            self.grow(last);
        }
        self.complete(last)
    }

    /// Enters n-grams that have no other occurrence in the window, by the numbers of their last symbols.
    #[cold]
    fn enter_late(&mut self, ends: Range<u64>) {
        for end in ends {
            let number = (end + 1).checked_sub(self.n);
            if let Some(number) = number.filter(|number| *number >= self.first) {
                let gram = self.gram(number, self.at(end + 1).prefix);
                *self.slot_mut(number) = GramSlot {
                    entered: number + 1,
                    gram,
                    times: 1,
                    ..GramSlot::default()
                };
                self.chain_late(number, gram);
            }
        }
    }

    /// Puts a symbol's n-gram, the only one of its hash, at its place in a chain from newer to older ones.
    fn chain_late(&mut self, number: u64, gram: u64) {
        let chain = place(gram, self.chains.len());
        let (mut link, mut newer) = (self.chains[chain], None);
        while link > self.first && link > number {
            newer = Some(link - 1);
            link = self.older(link - 1);
        }
        self.link(number, link);
        match newer {
            None => self.chains[chain] = number + 1,
            Some(newer) => self.link(newer, number + 1),
        }
    }

    #[inline]
    fn at(&self, number: u64) -> &WindowSymbol {
        &self.ring[place(number, self.length)]
    }

    #[inline]
    fn slot(&self, number: u64) -> &GramSlot {
        &self.slots[place(number, self.length)]
    }

    #[inline]
    fn slot_mut(&mut self, number: u64) -> &mut GramSlot {
        &mut self.slots[place(number, self.length)]
    }

    /// Doubles the capacity of the ring.
    #[cold]
    fn widen(&mut self) {
        let length = 2 * self.length;
        if self.first == 0 {
            self.ring.reserve_exact(self.length);
            self.slots.resize(length, GramSlot::default());
        } else {
            let mut ring = vec![WindowSymbol::default(); length];
            let mut slots = vec![GramSlot::default(); length];
            for number in self.first..self.count {
                ring[place(number, length)] = *self.at(number);
                slots[place(number, length)] = *self.slot(number);
            }
            (self.ring, self.slots) = (ring, slots);
        }
        self.length = length;
    }

    /// Makes four times as many chains, at most one per symbol of the window, and links the complete n-grams before
    /// `last` again.
    fn grow(&mut self, last: u64) {
        self.chains = vec![0; 4 * self.chains.len()];
        for earlier in self.first..last {
            if let Some(GramSlot { gram, .. }) = self.entered_slot(earlier).copied() {
                self.chain(earlier, gram);
            }
        }
    }

    /// Drops all symbols.
    pub(super) fn reset(&mut self) {
        self.first = self.count;
    }

    /// Returns the number of chars before the last n-gram.
    pub(super) fn last_start(&self) -> u64 {
        self.last().map_or(0, |last| self.at(last).start)
    }

    /// Returns the gaps between the occurrences of the last n-gram in the window, newest first. Consecutive equal gaps
    /// are one item.
    pub(super) fn gaps(&self) -> impl Iterator<Item = Gaps> {
        let mut at = self.last();
        std::iter::from_fn(move || {
            let GramLink { gap, between, run } = self.slot(at?).back;
            let symbols = u64::from(gap);
            // A gap of 0 is the end of the chain.
            let inside = (at? - self.first).checked_div(symbols)?;
            let gaps = Gaps {
                newest: at?,
                symbols,
                between,
                count: inside.min(u64::from(run)),
            };
            at = Some(gaps.occurrence(gaps.count));
            (gaps.count > 0).then_some(gaps)
        })
    }

    /// Returns the number of chars before a symbol of the window.
    pub(super) fn start(&self, number: u64) -> u64 {
        self.at(number).start
    }

    /// If the last `most` gaps, or all in the window, are equal, returns their length in symbols and their number.
    pub(super) fn equal_gaps(&self, most: u32) -> Option<(u64, u32)> {
        let last = self.last()?;
        let slot = self.slot(last);
        let GramLink { gap, run, .. } = slot.back;
        let gap = u64::from(gap);
        let inside = (last - self.first).checked_div(gap)?.min(u64::from(most));
        let inside = u32::try_from(inside).unwrap_or(most);
        // `inside` counts gaps of this length. A shorter gap before them might still be in the window; these
        // conditions rule it out.
        let all = run > inside || run >= most || run + 1 == slot.times;
        (run >= inside && all).then_some((gap, inside))
    }

    /// Returns whether the last `most` gaps, or all in the window, equal those of the previous symbol's n-gram, which
    /// had as many. Then the text has continued as after each earlier occurrence. The number of distinct texts between
    /// occurrences is unchanged, since each is the previous one rotated by a symbol that all of them begin with.
    pub(super) fn continues(&self, most: u32) -> bool {
        let last = self.last().map(|last| self.slot(last));
        last.is_some_and(|slot| slot.shifted >= (slot.times - 1).min(most))
    }

    /// Returns the last complete n-gram.
    fn last(&self) -> Option<u64> {
        let last = self.count.checked_sub(self.n)?;
        (last >= self.first).then_some(last)
    }

    /// Counts the n-gram that begins with this symbol and has just been completed.
    fn complete(&mut self, number: u64) -> u32 {
        let gram = self.gram(number, self.prefix);
        let (mut back, mut times, mut shifted) = (GramLink::default(), 1, 0);
        if let Some(earlier) = self.chain(number, gram) {
            back = self.back(number, earlier);
            let before = number.checked_sub(1).filter(|before| *before >= self.first);
            let slot = self.slot(earlier);
            times = slot.times.saturating_add(1);
            if before.is_some_and(|before| {
                self.entered_slot(before).map_or(0, |slot| slot.back.gap) == back.gap
            }) {
                shifted = slot.shifted.saturating_add(1);
            }
        }
        let slot = self.slot_mut(number);
        (slot.entered, slot.gram, slot.back) = (number + 1, gram, back);
        (slot.times, slot.shifted) = (times, shifted);
        times
    }

    /// Returns the hash of the n-gram that begins with this symbol. `until` is the hash of all symbols up to the
    /// n-gram's end.
    #[inline]
    fn gram(&self, number: u64, until: u64) -> u64 {
        sub(until, mul(self.at(number).prefix, self.shift))
    }

    /// Returns the n-gram that begins with a symbol, if it was entered.
    fn entered_slot(&self, number: u64) -> Option<&GramSlot> {
        Some(self.slot(number)).filter(|slot| slot.entered == number + 1)
    }

    /// Returns one plus the number of the next older n-gram of a chain. 0 if there is none.
    fn older(&self, number: u64) -> u64 {
        match self.slot(number).next {
            0 => 0,
            back => (number + 1).saturating_sub(u64::from(back)),
        }
    }

    /// Puts a symbol's n-gram at the head of its chain, in place of the newest n-gram with the same hash. Returns that
    /// n-gram.
    fn chain(&mut self, number: u64, gram: u64) -> Option<u64> {
        let chain = place(gram, self.chains.len());
        let head = std::mem::replace(&mut self.chains[chain], number + 1);
        let (mut link, mut newer) = (head, None);
        while link > self.first {
            let at = link - 1;
            let next = self.older(at);
            if self.slot(at).gram != gram {
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

    /// Links an n-gram to the next older one of its chain, unless that one has left the window.
    fn link(&mut self, number: u64, next: u64) {
        let back = if next > self.first {
            number + 1 - next
        } else {
            0
        };
        self.slot_mut(number).next = narrow(back);
    }

    /// Returns the link from the n-gram of a symbol to the `earlier` one with the same hash.
    fn back(&mut self, number: u64, earlier: u64) -> GramLink {
        let gap = number - earlier;
        if self.power.0 != gap {
            self.power = (gap, power(gap));
        }
        let back = self.slot(earlier).back;
        let before = mul(self.at(earlier).prefix, self.power.1);
        let between = sub(self.at(number).prefix, before);
        let gap = narrow(gap);
        let same = (back.gap, back.between) == (gap, between);
        GramLink {
            gap,
            between,
            run: if same { back.run.saturating_add(1) } else { 1 },
        }
    }
}

/// The maximum number of chains and symbols at the start, a power of two. So a short text needs little memory, even
/// with a long window.
const FIRST_CHAINS: usize = 512;

mod anchors;
#[cfg(test)]
mod tests;
