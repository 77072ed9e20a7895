//! [`Recent`]: the tokens or n-grams of the window and of the history before it, counted as they enter
//! and leave.
//!
//! Each item knows the distance to its previous and next occurrence. So counting costs one look-up when
//! an item enters and at most one when it leaves, whatever window and stride are.

use std::collections::VecDeque;

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

use super::tokens::Token;

/// A token or n-gram in the window or the history.
#[derive(Debug)]
struct Item {
    hash: u64,
    /// The chars before it.
    start: u64,
    /// The distance to its previous occurrence, in items; 0 if no earlier one is kept.
    back: u32,
    /// The distance to its next occurrence, in items; 0 if there is no later one.
    on: u32,
}

/// Tokens or n-grams in the order of the text: first those of the history, then those of the window. An
/// item belongs to the part that contains its first char.
#[derive(Debug, Default)]
pub(super) struct Recent {
    items: VecDeque<Item>,
    /// The number of the first of `items`; numbers wrap around.
    first: u32,
    /// How many of `items` belong to the history.
    history: usize,
    /// The number of the last item with each hash. The hashes themselves are in `items`, so this takes a
    /// quarter of the memory of a map from hashes to numbers. They are well spread and need no hashing.
    latest: HashTable<u32>,
    /// How many different items are in the window.
    in_window: u64,
    /// How many of those are not in the history.
    new: u64,
}

impl Recent {
    /// Adds an item to the window.
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

    /// Moves the start of the window to `window` and that of the history to `history`, in chars.
    pub(super) fn advance(&mut self, window: u64, history: u64) {
        while let Some(item) = self.items.get(self.history).filter(|i| i.start < window) {
            // Items leave from the front, so it was the first of its kind in the window.
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
        // There are far fewer items than numbers, so a number is unique although they wrap around.
        self.first
            .wrapping_add(u32::try_from(index).unwrap_or(u32::MAX))
    }

    /// How many different items of the window are not in the history, and how many different items the
    /// window has.
    pub(super) fn new_in_window(&self) -> (u64, u64) {
        (self.new, self.in_window)
    }

    /// How many different items window and history have together, and how many items in all.
    pub(super) fn distinct(&self) -> (u64, u64) {
        (self.latest.len() as u64, self.items.len() as u64)
    }

    /// The median distance, in chars, from the last items to their previous occurrences; 0 if they have
    /// no previous occurrences.
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
