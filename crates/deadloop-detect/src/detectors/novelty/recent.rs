//! [`NoveltyWindow`]: counts of the tokens or n-grams in the window and the history.
//!
//! Each item has the distances to its previous and next occurrence. A table of chains, as in `recurrence`, finds the
//! previous occurrence. A chain leads from newer to older items, and ends at the first dropped item, so items need not
//! be removed. An item costs one look-up when it enters and none when it leaves.

use super::tokens::NoveltyToken;
use crate::text::ring::{narrow, place};

/// A token or n-gram in the window or the history.
#[derive(Clone, Copy, Debug, Default)]
struct NoveltyItem {
    hash: u64,
    /// The number of chars before the item. The number wraps around, and only differences are used.
    start: u32,
    /// The distance to the previous occurrence, in items. 0 if none is kept.
    back: u32,
    /// The distance to the next occurrence, in items. 0 if there is none.
    on: u32,
    /// The distance to the next older item of the chain, the newest one with a different hash. 0 if there is none.
    older: u32,
}

impl NoveltyItem {
    /// Returns whether the item starts before a position at a distance of less than 2^31 chars.
    fn starts_before(&self, position: u64) -> bool {
        self.start.wrapping_sub(low(position)).cast_signed() < 0
    }
}

/// Tokens or n-grams in the order of the text: those of the history, then those of the window. The first char of an
/// item decides its part. Items are numbered from 0.
#[derive(Debug)]
pub(super) struct NoveltyWindow {
    /// The kept items, each at its number modulo `length`. It grows up to `length`.
    ring: Vec<NoveltyItem>,
    /// The capacity of the ring, a power of two.
    length: usize,
    /// For each value of the low bits of a hash, one plus the number of the newest item with this value. The number
    /// wraps around: an outdated entry leads into another chain, which has no item with the hash.
    chains: Vec<u32>,
    /// The number of the first kept item.
    first: u64,
    /// The number of the first item of the window.
    window: u64,
    /// The number of items so far.
    count: u64,
    /// The number of different kept items.
    different: u64,
    /// The number of different items in the window.
    in_window: u64,
    /// The number of different items in the window but not in the history.
    new: u64,
}

/// The first capacity in items, a power of two.
const FIRST: usize = 512;
/// The capacity above which the ring grows only by doubling, in items.
const LONG: usize = 8192;
/// The number of chains per item.
const CHAINS: usize = 2;

impl Default for NoveltyWindow {
    fn default() -> Self {
        Self {
            ring: Vec::with_capacity(FIRST),
            length: FIRST,
            chains: vec![0; CHAINS * FIRST],
            first: 0,
            window: 0,
            count: 0,
            different: 0,
            in_window: 0,
            new: 0,
        }
    }
}

impl NoveltyWindow {
    /// Adds an item to the window.
    pub(super) fn push(&mut self, NoveltyToken { hash, start }: NoveltyToken) {
        if self.count - self.first == self.length as u64 {
            self.grow();
        }
        let number = self.count;
        self.count += 1;
        let (before, older) = self.chain(number, hash);
        let mut back = 0;
        if let Some(before) = before {
            back = narrow(number - before);
            self.item(before).on = back;
        }
        self.in_window += u64::from(before.is_none_or(|before| before < self.window));
        self.new += u64::from(before.is_none());
        self.different += u64::from(before.is_none());
        let item = NoveltyItem {
            hash,
            start: low(start),
            back,
            on: 0,
            older,
        };
        if self.ring.len() < self.length {
            self.ring.push(item)
        } else {
            *self.item(number) = item
        }
    }

    /// Moves the start of the window to `window` and that of the history to `history`, in chars.
    pub(super) fn advance(&mut self, window: u64, history: u64) {
        while self.window < self.count {
            let (number, first) = (self.window, self.first);
            let item = *self.item(number);
            if !item.starts_before(window) {
                break;
            }
            // Items leave from the front, so it was the first equal item in the window.
            let known = item.back > 0 && number - u64::from(item.back) >= first;
            self.new -= u64::from(!known);
            self.in_window -= u64::from(item.on == 0);
            self.window += 1;
        }
        while self.first < self.window {
            let item = *self.item(self.first);
            if !item.starts_before(history) {
                break;
            }
            let next = self.first + u64::from(item.on);
            self.different -= u64::from(item.on == 0);
            self.new += u64::from(item.on > 0 && next >= self.window);
            self.first += 1;
        }
    }

    /// Puts an item at the head of its chain, in place of the newest item with the same hash. Returns that item, and
    /// the distance to the next older item of the chain.
    fn chain(&mut self, number: u64, hash: u64) -> (Option<u64>, u32) {
        let chain = place(hash, self.chains.len());
        let head = std::mem::replace(&mut self.chains[chain], low(number + 1));
        // The head of an empty chain is far outside the window, and so dropped.
        let head = number.saturating_sub(u64::from(low(number).wrapping_sub(head)));
        let (mut link, mut newer) = (head, None);
        while link > self.first {
            let at = link - 1;
            let item = *self.item(at);
            let next = match item.older {
                0 => 0,
                older => link.saturating_sub(u64::from(older)),
            };
            if item.hash == hash {
                let Some(newer) = newer else {
                    return (Some(at), self.distance_to(number, next));
                };
                self.item(newer).older = self.distance_to(newer, next);
                return (Some(at), self.distance_to(number, head));
            }
            (link, newer) = (next, Some(at));
        }
        (None, self.distance_to(number, head))
    }

    /// Returns the distance from an item to an older one in a chain. 0 if the older one was dropped.
    fn distance_to(&self, number: u64, link: u64) -> u32 {
        if link > self.first {
            narrow(number + 1 - link)
        } else {
            0
        }
    }

    #[inline]
    fn item(&mut self, number: u64) -> &mut NoveltyItem {
        &mut self.ring[place(number, self.length)]
    }

    /// Makes room for more items, and rebuilds the chains.
    #[cold]
    fn grow(&mut self) {
        let length = self.length * if self.length < LONG { 4 } else { 2 };
        if self.first == 0 {
            self.ring.reserve_exact(length - self.length);
        } else {
            let mut ring = vec![NoveltyItem::default(); length];
            for number in self.first..self.count {
                ring[place(number, length)] = *self.item(number);
            }
            self.ring = ring;
        }
        self.length = length;
        self.chains = vec![0; CHAINS * length];
        for number in self.first..self.count {
            let hash = self.item(number).hash;
            let (_, older) = self.chain(number, hash);
            self.item(number).older = older;
        }
    }

    /// Returns the number of different items in the window but not in the history, and of all different items in the
    /// window.
    pub(super) fn new_in_window(&self) -> (u64, u64) {
        (self.new, self.in_window)
    }

    /// Returns the number of different items, and of all items, in window and history together.
    pub(super) fn distinct(&self) -> (u64, u64) {
        (self.different, self.count - self.first)
    }

    /// Returns the median distance, in chars, from the last items to their previous occurrences. 0 if they have none.
    pub(super) fn distance(&mut self) -> u64 {
        const LAST: u64 = 15;
        let last = self.count.saturating_sub(LAST).max(self.first)..self.count;
        let mut all = Vec::new();
        for number in last {
            let NoveltyItem { start, back, .. } = *self.item(number);
            let before = number.checked_sub(back.into());
            if let Some(before) = before.filter(|at| back > 0 && *at >= self.first) {
                all.push(u64::from(start.wrapping_sub(self.item(before).start)));
            }
        }
        all.sort_unstable();
        all.get(all.len() / 2).copied().unwrap_or(0)
    }
}

/// Returns the low bits of a number.
fn low(number: u64) -> u32 {
    (number & u64::from(u32::MAX)) as u32
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;
    use crate::text::hash::spread;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        /// Compares the counts with the definition, also after growth.
        #[test]
        fn counts_are_those_of_the_definition(
            parts in prop::collection::vec((1_u64..400, 1_usize..900, 1_u64..4), 1..7),
            (window, history) in (1_u64..900, 0_u64..1500),
        ) {
            let (mut recent, mut all) = (NoveltyWindow::default(), Vec::<NoveltyToken>::new());
            let mut read = 0;
            for (kinds, times, chars) in parts {
                for i in 0..times as u64 {
                    let token = NoveltyToken { hash: spread(spread(i) % kinds), start: read };
                    recent.push(token);
                    all.push(token);
                    read += chars;
                    if i % 7 != 0 {
                        continue;
                    }
                    let from = read.saturating_sub(window);
                    let before = from.saturating_sub(history);
                    recent.advance(from, before);
                    let of = |from: u64, to: u64| -> Vec<u64> {
                        let inside = all.iter().filter(|t| (from..to).contains(&t.start));
                        inside.map(|token| token.hash).collect()
                    };
                    let (old, now) = (of(before, from), of(from, u64::MAX));
                    let (known, different): (HashSet<_>, HashSet<_>) =
                        (old.iter().collect(), now.iter().collect());
                    let new = different.difference(&known).count() as u64;
                    prop_assert_eq!(recent.new_in_window(), (new, different.len() as u64));
                    let kept = (old.len() + now.len()) as u64;
                    let distinct = different.union(&known).count() as u64;
                    prop_assert_eq!(recent.distinct(), (distinct, kept));
                }
            }
        }
    }
}
