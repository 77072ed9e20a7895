//! [`Recent`]: the things of the window and of the history before it, counted as they come and go.
//!
//! Each thing knows how far before and after it the same thing stands, so that one look-up when it
//! comes and one at most when it goes are all that counting costs, whatever window and stride are.

use std::collections::VecDeque;

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

use super::tokens::Token;

/// A thing that stands in the window or in the history.
#[derive(Debug)]
struct Item {
    hash: u64,
    /// Chars before it.
    start: u64,
    /// How many things before this one the same stood last; 0: not among those kept.
    back: u32,
    /// How many things after this one the same stands next; 0: it does not.
    on: u32,
}

/// Tokens or n-grams in the order of the text: those of the history, then those of the window. One
/// belongs to the part that its first char is in.
#[derive(Debug, Default)]
pub(super) struct Recent {
    items: VecDeque<Item>,
    /// The number of the first of `items`; numbers go round.
    first: u32,
    /// How many of `items` belong to the history.
    history: usize,
    /// The number of the last one with each hash, which stands in `items`: a quarter of what a map
    /// that holds the hashes too would take. Hashes are well spread, and are taken as they are.
    latest: HashTable<u32>,
    /// Different ones in the window.
    in_window: u64,
    /// Those of them that the history does not hold.
    new: u64,
}

impl Recent {
    /// Adds a thing to the window.
    pub(super) fn push(&mut self, Token { hash, start }: Token) {
        let number = self.number(self.items.len());
        let (items, first) = (&self.items, self.first);
        let hash_of = |n: &u32| items[n.wrapping_sub(first) as usize].hash;
        let same = |n: &u32| hash_of(n) == hash;
        let before = match self.latest.entry(hash, same, hash_of) {
            Entry::Occupied(mut latest) => Some(std::mem::replace(latest.get_mut(), number)),
            Entry::Vacant(none) => {
                none.insert(number);
                None
            }
        };
        let before = before.map(|n| n.wrapping_sub(first) as usize);
        let back = match before {
            Some(i) => number.wrapping_sub(self.number(i)),
            None => 0,
        };
        if let Some(i) = before {
            self.items[i].on = back;
        }
        self.in_window += u64::from(before.is_none_or(|i| i < self.history));
        self.new += u64::from(before.is_none());
        self.items.push_back(Item {
            hash,
            start,
            back,
            on: 0,
        });
    }

    /// Moves the window's begin to `window` and the history's to `history`, in chars.
    pub(super) fn advance(&mut self, window: u64, history: u64) {
        while let Some(item) = self.items.get(self.history).filter(|i| i.start < window) {
            // It was the first of its kind in the window.
            let known = item.back > 0 && item.back as usize <= self.history;
            self.new -= u64::from(!known);
            self.in_window -= u64::from(item.on == 0);
            self.history += 1;
        }
        while self.items.front().is_some_and(|i| i.start < history) {
            self.forget();
        }
    }

    fn forget(&mut self) {
        let Some(item) = self.items.pop_front() else {
            return;
        };
        if item.on == 0
            && let Ok(latest) = self.latest.find_entry(item.hash, |n| *n == self.first)
        {
            latest.remove();
        }
        self.new += u64::from(item.on as usize >= self.history && item.on > 0);
        self.first = self.first.wrapping_add(1);
        self.history -= 1;
    }

    fn number(&self, index: usize) -> u32 {
        // Counts of things kept are far below the point where numbers go round.
        self.first
            .wrapping_add(u32::try_from(index).unwrap_or(u32::MAX))
    }

    /// How many of the different ones in the window the history does not hold, and how many
    /// different ones there are.
    pub(super) fn new_in_window(&self) -> (u64, u64) {
        (self.new, self.in_window)
    }

    /// How many different ones there are in window and history together, and how many in all.
    pub(super) fn distinct(&self) -> (u64, u64) {
        (self.latest.len() as u64, self.items.len() as u64)
    }

    /// The middle one of the distances, in chars, from the last things to where each stood before;
    /// 0 where none did.
    pub(super) fn distance(&self) -> u64 {
        const LAST: usize = 15;
        let from = self.items.len().saturating_sub(LAST);
        let distance = |(i, item): (usize, &Item)| {
            let before = i.checked_sub(item.back as usize)?;
            (item.back > 0).then(|| item.start - self.items[before].start)
        };
        let last = self.items.iter().enumerate().skip(from);
        let mut all: Vec<u64> = last.filter_map(distance).collect();
        all.sort_unstable();
        all.get(all.len() / 2).copied().unwrap_or(0)
    }
}
