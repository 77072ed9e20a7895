//! [`GramIndex`]: the gate and the chains of `runs`. It finds earlier K-grams.

use super::search::{ENTER, LOOK, TailSearch};

/// The earlier places of K-grams.
#[derive(Clone, Debug)]
pub(super) struct GramIndex {
    /// The hash of the last K symbols.
    hash: u64,
    /// log2 of the size of the table.
    bits: u32,
    /// Per hash, the place at which the last entered K-gram ended. 0 if there is none.
    pub(super) table: Vec<u32>,
    /// Per recent place, the previous entry of its table slot.
    before: Vec<u32>,
    /// Whether a K-gram of the current lookup occurred before.
    near: bool,
}

/// Returns the place of the `seen`-th symbol. Places begin so far above 0 that 0 is never a repetition.
pub(super) fn place(want: &TailSearch, seen: u64) -> u32 {
    // Truncation is intended: only differences below the longest lag count, and the comparison refutes the lag of a
    // place that wrapped around.
    (seen as u32).wrapping_add((want.max_lag + 1).next_multiple_of(ENTER))
}

/// Returns the hash of a K-gram after one more symbol.
#[inline]
pub(super) fn roll(want: &TailSearch, hash: u64, symbol: u32) -> u64 {
    let mixed = u64::from(symbol).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    ((hash & want.mask) << want.shift).wrapping_add(mixed)
}

impl GramIndex {
    pub(super) fn new(want: &TailSearch) -> Self {
        let places = (want.max_lag / want.enter + 2).next_power_of_two();
        let bits = want.table_bits(0);
        Self {
            hash: 0,
            bits,
            table: vec![0; 1 << bits],
            before: vec![0; places as usize],
            near: false,
        }
    }

    /// Grows the table to the size for `symbols` symbols, and enters the `kept` symbols, which follow `base` others,
    /// again. So a short text needs no large table.
    pub(super) fn fit(&mut self, want: &TailSearch, symbols: u64, (kept, base): (&[u32], u64)) {
        let bits = want.table_bits(symbols);
        if bits <= self.bits {
            return;
        }
        self.bits = bits;
        self.table = vec![0; 1 << bits];
        let mut hash = 0;
        for (seen, symbol) in (base + 1..).zip(kept) {
            hash = roll(want, hash, *symbol);
            let here = place(want, seen);
            if here & (want.enter - 1) == 0 {
                let slot = self.slot(hash);
                let last = std::mem::replace(&mut self.table[slot], here);
                let index = self.index(want, here);
                self.before[index] = last;
            }
        }
    }

    /// Returns the slot of a hash: its high bits, into which every symbol of the K-gram has been shifted.
    #[inline]
    pub(super) fn slot(&self, hash: u64) -> usize {
        usize::try_from(hash >> (64 - self.bits)).unwrap_or(0)
    }

    /// Returns the index of a place in `before`.
    #[inline]
    fn index(&self, want: &TailSearch, place: u32) -> usize {
        (place >> want.enter.trailing_zeros()) as usize & (self.before.len() - 1)
    }

    /// Adds the `seen`-th symbol. Returns `true` if a lookup ended with it and none of the lookup's K-grams had
    /// occurred at most the longest lag before.
    #[inline]
    pub(super) fn note(&mut self, want: &TailSearch, seen: u64, symbol: u32) -> bool {
        self.hash = roll(want, self.hash, symbol);
        let here = place(want, seen);
        let phase = here & (want.look - 1);
        let looks = phase >= want.look - want.enter;
        let enters = here & (want.enter - 1) == 0;
        if !looks && !enters {
            return false;
        }
        let slot = self.slot(self.hash);
        let last = self.table[slot];
        if enters {
            self.table[slot] = here;
            let index = self.index(want, here);
            self.before[index] = last;
        }
        self.near |= looks && here.wrapping_sub(last) <= want.max_lag;
        phase == want.look - 1 && !std::mem::take(&mut self.near)
    }

    /// Returns whether the symbol after the `seen`-th begins a block of W. The lookups of a block come just before its
    /// last symbol.
    #[inline]
    pub(super) fn begins(&self, want: &TailSearch, seen: u64) -> bool {
        want.enter == ENTER && place(want, seen) & (LOOK - 1) == 0
    }

    /// Adds the W symbols after the `seen`-th, with the effect of a [`note`](Self::note) for each. Returns the number
    /// of these symbols up to the end of the lookup, if the lookup found nothing.
    #[inline]
    pub(super) fn note_block(
        &mut self,
        want: &TailSearch,
        seen: u64,
        block: &[u32; LOOK as usize],
    ) -> Option<u64> {
        let base = place(want, seen);
        let bits = 64 - self.bits;
        let ring = self.before.len() - 1;
        let mut hash = self.hash;
        let mut near = false;
        for (quarter, symbols) in (0..).zip(block.chunks_exact(ENTER as usize)) {
            for (i, symbol) in (1..).zip(symbols) {
                hash = roll(want, hash, *symbol);
                let enters = i == ENTER;
                if !enters && quarter < 3 {
                    continue;
                }
                let here = base.wrapping_add(quarter * ENTER + i);
                let entry = &mut self.table[usize::try_from(hash >> bits).unwrap_or(0)];
                let last = *entry;
                if enters {
                    *entry = here;
                    self.before[(here / ENTER) as usize & ring] = last;
                }
                // The end of the last quarter belongs to the next block.
                let looks = if enters { quarter == 2 } else { quarter == 3 };
                near |= looks && here.wrapping_sub(last) <= want.max_lag;
            }
        }
        self.hash = hash;
        (!near).then_some(u64::from(LOOK) - 1)
    }

    /// Returns the place before `place` in the same slot.
    pub(super) fn earlier(&self, want: &TailSearch, place: u32) -> u32 {
        self.before[self.index(want, place)]
    }
}
