//! [`CirclingWindow`]: the pairs and markers of the window, and the pairs of the history.

use std::collections::VecDeque;

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

/// A token of the history.
#[derive(Clone, Copy, Debug)]
struct CirclingItem {
    /// The hash of the pair that the token ends.
    hash: u64,
    /// The end of the token, in chars. The number wraps around, and only differences are used.
    end: u32,
    /// Flags: [`PAIR`], [`NEW`], [`MARKER`].
    bits: u8,
}

/// The flag of a token that ends a pair.
const PAIR: u8 = 1;
/// The flag of a token that ends a new pair.
const NEW: u8 = 2;
/// The flag of a token that ends a marker.
const MARKER: u8 = 4;

/// The tokens of window and history, in order.
#[derive(Debug)]
pub(super) struct CirclingWindow {
    window: u64,
    history: u64,
    items: VecDeque<CirclingItem>,
    /// The number of the first item. Numbers wrap around.
    first: u32,
    /// The number of `items` older than the window.
    older: usize,
    /// The number of the last token that ended each pair. The hashes of the pairs are in `items`.
    latest: HashTable<u32>,
    counts: WindowCounts,
}

/// Counts of pairs, new pairs and markers in the window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct WindowCounts {
    pub(super) pairs: u64,
    pub(super) new: u64,
    pub(super) markers: u64,
}

impl CirclingWindow {
    pub(super) fn new(window: u64, history: u64) -> Self {
        Self {
            window,
            history,
            items: VecDeque::new(),
            first: 0,
            older: 0,
            latest: HashTable::new(),
            counts: WindowCounts::default(),
        }
    }

    /// Adds a token that ends after `end` chars. `pair` is the hash of the pair up to the token. Returns the counts of
    /// the window up to `end`.
    pub(super) fn push(&mut self, pair: Option<u64>, marker: bool, end: u64) -> WindowCounts {
        let end = end as u32;
        self.advance(end);
        let new = pair.is_some_and(|hash| self.enter(hash));
        let bit = |is: bool, bit: u8| if is { bit } else { 0 };
        let item = CirclingItem {
            hash: pair.unwrap_or(0),
            end,
            bits: bit(pair.is_some(), PAIR) | bit(new, NEW) | bit(marker, MARKER),
        };
        self.make_room();
        self.items.push_back(item);
        self.counts.add(item);
        self.counts
    }

    /// Records that the next token ends this pair. Returns whether the pair is not in the history.
    fn enter(&mut self, hash: u64) -> bool {
        let (items, first) = (&self.items, self.first);
        let hash_of = |n: &u32| items[n.wrapping_sub(first) as usize].hash;
        // There are far fewer tokens than numbers, so numbers are unique although they wrap around.
        let number = first.wrapping_add(u32::try_from(items.len()).unwrap_or(u32::MAX));
        match self.latest.entry(hash, |n| hash_of(n) == hash, hash_of) {
            Entry::Occupied(mut latest) => {
                *latest.get_mut() = number;
                false
            }
            Entry::Vacant(none) => {
                none.insert(number);
                true
            }
        }
    }

    /// Moves the ends of window and history to `end`, and drops tokens that are too old.
    fn advance(&mut self, end: u32) {
        let since = |item: &CirclingItem| u64::from(end.wrapping_sub(item.end));
        while let Some(item) = self
            .items
            .get(self.older)
            .filter(|i| since(i) >= self.window)
        {
            self.counts.remove(*item);
            self.older += 1;
        }
        while self.items.front().is_some_and(|i| since(i) > self.history) {
            self.forget();
        }
    }

    fn forget(&mut self) {
        let Some(item) = self.items.pop_front() else {
            return;
        };
        let number = self.first;
        if item.bits & PAIR != 0
            && let Ok(latest) = self.latest.find_entry(item.hash, |n| *n == number)
        {
            latest.remove();
        }
        self.first = number.wrapping_add(1);
        self.older -= 1;
    }

    /// Grows the queue in small steps, up to one token for each char of the history. Doubling would take up to twice
    /// the memory.
    fn make_room(&mut self) {
        let most = usize::try_from(self.history + 2).unwrap_or(usize::MAX);
        let held = self.items.len();
        if held == self.items.capacity() && held < most {
            self.items.reserve_exact((held + 64).min(most - held));
        }
    }
}

impl WindowCounts {
    fn add(&mut self, item: CirclingItem) {
        let [pair, new, marker] = [PAIR, NEW, MARKER].map(|bit| u64::from(item.bits & bit != 0));
        self.pairs += pair;
        self.new += new;
        self.markers += marker;
    }

    fn remove(&mut self, item: CirclingItem) {
        let [pair, new, marker] = [PAIR, NEW, MARKER].map(|bit| u64::from(item.bits & bit != 0));
        self.pairs -= pair;
        self.new -= new;
        self.markers -= marker;
    }
}
