//! The plain matcher. [`Tails`] finds the lags at which the end of a sequence repeats.
//!
//! The tail of a sequence has period `lag` with `matches` if each of its last `matches` symbols equals the symbol `lag`
//! before. Such a tail matters once it is `need[lag]` symbols long, first copy included. The search is exact, takes one
//! pass, and finds a tail at that very symbol. Three techniques keep it cheap:
//!
//! 1. **The gate.** A tail with m matches is visible early: each of its last m-K+1 K-grams has occurred at most
//!    `max_lag` symbols before. A table of K-grams, indexed by a rolling hash of K symbols, shows whether one has.
//!    Every S-th K-gram is entered, and S in a row are looked up once in W symbols: whatever the lag, one of them is a
//!    lag after an entered one. If none has occurred, no tail is near, and the search pauses for a while.
//! 2. **The scan.** Otherwise the earlier places of the last S K-grams (chains through the table, as in deflate) give
//!    the lags that can matter. Each is compared backwards. Lags that may be long enough before the next scan are
//!    tracked from then on.
//! 3. **Tracking** costs one comparison for each symbol and lag. Of tails with two copies or more, only those with a
//!    primitive unit are tracked. By the periodicity lemma (Fine and Wilf 1965), there are few of them at a time.
//!
//! Scans are `stride` symbols apart, a share of the matches that the shortest tail needs, so that the cost of a scan
//! per symbol is small. A lag that fell short is not compared again before it can nearly have caught up. A band of lags
//! is not visited before one of its lags can have caught up.

use crate::text::decode::append;
use grams::{GramIndex, place, roll};
use search::{BANDS, LOOK, TailSearch, band, longest};

mod grams;
pub(super) mod search;

/// A periodic tail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tail {
    /// The distance from one copy to the next, in symbols.
    pub(super) lag: u32,
    /// The number of the first symbol, from 0.
    pub(super) start: u64,
    /// Whether the unit is known to be primitive. Tested once there are two copies.
    whole: bool,
}

impl Tail {
    /// Returns the run, cut to begin at `start`. The rest must have at least two copies.
    pub(super) fn cut_to_start(self, start: u64) -> Self {
        Self { start, ..self }
    }

    /// Returns the part of the run from symbol `start` on, as a run whose period is `units` units.
    pub(super) fn round(self, units: u32, start: u64) -> Self {
        let lag = self.lag.saturating_mul(units);
        Self { lag, start, ..self }
    }

    /// Returns the beginning and the end of the last whole copy, after `until` symbols.
    pub(super) fn last_copy(self, until: u64) -> (u64, u64) {
        let lag = u64::from(self.lag);
        let end = self.start + (until - self.start) / lag * lag;
        (end - lag, end)
    }
}

/// The end of a sequence, and the lags at which it repeats.
#[derive(Clone, Debug)]
pub(super) struct Tails {
    /// The latest symbols: first the read ones (the last `keep`, or more), then the unread ones.
    kept: Vec<u32>,
    /// The number of read symbols in `kept`. Unread ones wait for a whole block.
    read: usize,
    /// The number of symbols read.
    seen: u64,
    /// The number of symbols added before the end of the last reading.
    known: u64,
    grams: GramIndex,
    /// For each lag, the symbol count before which it need not be compared again. Lags above the longest one found so
    /// far have no entry.
    idle: Vec<u64>,
    /// For each [`band`] of lags, the symbol count before which none of its lags need be visited. A tracked tail keeps
    /// other tails of its band out until it ends.
    bands: [u64; BANDS],
    /// The symbol count of the next scan.
    next_scan: u64,
    tracked: Vec<Tail>,
    ended: Vec<Tail>,
}

/// The divisor of a lag's required matches that gives the gap below which a lag is compared when it is found. Otherwise
/// some lag of a band would be due at each scan, and the whole band would be visited for it.
const EARLY: u64 = 2;

/// The maximum number of symbols that a lag may lack to be compared when it is found, if long lags are searched. In a
/// flood that follows another flood of the same character, thousands of lags fall short by their own length. Comparing
/// all of them at each scan would take quadratic time. If only short lags are searched, visiting bands more often would
/// cost more.
const SOON: u64 = 16;

/// The longest `max_lag` to which [`SOON`] does not apply.
const SHORT: u32 = 4096;

impl Tails {
    pub(super) fn new(want: &TailSearch) -> Self {
        Self {
            kept: Vec::new(),
            read: 0,
            seen: 0,
            known: 0,
            grams: GramIndex::new(want),
            idle: Vec::new(),
            bands: [0; BANDS],
            next_scan: u64::from(want.quiet),
            tracked: Vec::new(),
            ended: Vec::new(),
        }
    }

    /// Returns the number of symbols read.
    pub(super) fn seen(&self) -> u64 {
        self.seen
    }

    /// Returns the number of symbols that had been added when [`read`](Self::read) ended. No tail can be found within
    /// the waiting symbols, and no symbols wait while a tail continues.
    pub(super) fn known(&self) -> u64 {
        self.known
    }

    /// Returns the current tails that are primitive and have at least two copies.
    pub(super) fn current(&self) -> impl Iterator<Item = Tail> {
        self.tracked.iter().copied().filter(|run| run.whole)
    }

    /// Returns the latest symbols that were read.
    pub(super) fn kept(&self) -> &[u32] {
        &self.kept[..self.read]
    }

    /// Returns the number of the first kept symbol.
    pub(super) fn base(&self) -> u64 {
        self.seen - self.read as u64
    }

    /// Returns the number of symbols that can be added before old ones must be dropped.
    pub(super) fn room(&self, want: &TailSearch) -> usize {
        want.most_kept().saturating_sub(self.kept.len())
    }

    /// Reserves room for `more` symbols.
    pub(super) fn reserve(&mut self, want: &TailSearch, more: usize) {
        grow(&mut self.kept, more, want.most_kept());
    }

    /// Adds a symbol, to be [`read`](Self::read).
    #[inline]
    pub(super) fn add(&mut self, symbol: u32) {
        self.kept.push(symbol);
    }

    /// Adds chars, each its own symbol.
    pub(super) fn add_chars(&mut self, text: &str) {
        append(&mut self.kept, text);
    }

    /// Drops old symbols and returns their number. Unread symbols are never old.
    pub(super) fn forget(&mut self, want: &TailSearch) -> usize {
        let old = self.kept.len().saturating_sub(want.keep);
        self.kept.drain(..old);
        self.read -= old;
        old
    }

    /// Reads added symbols, up to the first symbol that ends a tail. Returns `true` if a tail ended: more symbols may
    /// be left to read, and [`take_ended`](Self::take_ended) has the ended tails.
    pub(super) fn read(&mut self, want: &TailSearch) -> bool {
        let (base, symbols) = (self.base(), self.base() + self.kept.len() as u64);
        let kept = &self.kept[..self.read];
        self.grams.fit(want, symbols, (kept, base));
        while self.read < self.kept.len() {
            if !self.tracked.is_empty() {
                self.step(want);
            } else if self.skims(want) {
                if !self.skim(want) {
                    break;
                }
            } else {
                let symbol = self.next();
                self.note(want, symbol);
            }
            if !self.ended.is_empty() {
                return true;
            }
        }
        self.known = self.base() + self.kept.len() as u64;
        false
    }

    /// Returns whether the next symbols are read as a block: nothing is tracked, and no scan is due among them.
    #[inline]
    fn skims(&self, want: &TailSearch) -> bool {
        self.next_scan > self.seen + u64::from(LOOK) && self.grams.begins(want, self.seen)
    }

    /// Reads whole blocks up to the next scan: the fast path for text without repetition. Returns `false` if less than
    /// a block is left. No tail can be found within it, so it waits for the rest of the block.
    fn skim(&mut self, want: &TailSearch) -> bool {
        let mut left = &self.kept[self.read..];
        while self.next_scan > self.seen + u64::from(LOOK) {
            let Some((block, rest)) = left.split_first_chunk() else {
                break;
            };
            if let Some(symbols) = self.grams.note_block(want, self.seen, block) {
                self.next_scan = self.seen + symbols + u64::from(want.quiet);
            }
            self.seen += u64::from(LOOK);
            left = rest;
        }
        let whole = self.next_scan <= self.seen + u64::from(LOOK);
        self.read = self.kept.len() - left.len();
        whole
    }

    /// Consumes the next waiting symbol.
    #[inline]
    fn next(&mut self) -> u32 {
        let symbol = self.kept[self.read];
        self.read += 1;
        self.seen += 1;
        symbol
    }

    /// Enters a read symbol, and scans if a scan is due.
    #[inline]
    fn note(&mut self, want: &TailSearch, symbol: u32) {
        if self.grams.note(want, self.seen, symbol) {
            self.next_scan = self.seen + u64::from(want.quiet);
        }
        if self.seen >= self.next_scan {
            self.scan(want);
        }
    }

    /// Reads one symbol, and compares it with the symbol that each tracked tail expects.
    fn step(&mut self, want: &TailSearch) {
        let symbol = self.next();
        self.follow();
        self.note(want, symbol);
    }

    /// Takes the tails that the last symbol ended.
    pub(super) fn take_ended(&mut self) -> Vec<Tail> {
        std::mem::take(&mut self.ended)
    }

    /// Compares the last symbol with the one that each tracked tail expects.
    #[inline]
    fn follow(&mut self) {
        let last = self.read - 1;
        let symbol = self.kept[last];
        let same = |run: &Tail| self.kept[last - run.lag as usize] == symbol;
        if self.tracked.iter().all(|run| run.whole && same(run)) {
            return;
        }
        let (read, seen) = (&self.kept[..self.read], self.seen);
        self.tracked.retain_mut(|run| {
            let goes_on = read[last - run.lag as usize] == symbol;
            if goes_on && (run.whole || seen < run.start + 2 * u64::from(run.lag)) {
                return true;
            }
            if goes_on {
                run.whole = is_primitive(&read[read.len() - run.lag as usize..]);
            } else {
                // Scans may have been skipped during the tail.
                self.next_scan = self.next_scan.min(seen);
            }
            if run.whole && !goes_on {
                self.ended.push(*run);
            }
            if !(run.whole && goes_on) {
                // Lags may have been skipped too: all of them, or multiples that fit into the tail.
                let multiples = band(run.lag)..=band(2 * run.lag);
                self.bands[if run.whole { 0..=BANDS - 1 } else { multiples }].fill(0);
            }
            run.whole && goes_on
        });
    }

    /// Finds every lag that can be long enough before the next scan.
    #[cold]
    fn scan(&mut self, want: &TailSearch) {
        // A tail excludes lags that fit into it twice, except for its multiples, whose tails are its own. Lags that fit
        // inside one of its units can be too short to be wanted.
        let matches = |run: &Tail| self.seen - run.start - u64::from(run.lag);
        let whole = || self.tracked.iter().filter(|run| run.whole);
        let small = whole().filter(|run| run.lag <= want.least);
        // A unit that fits into a row of one symbol is part of that row.
        let reach = |run: &Tail| matches(run) + u64::from(run.lag == 1);
        let covered = small.map(reach).max().unwrap_or(0);
        if covered >= u64::from(want.max_lag) {
            self.next_scan = u64::MAX;
            return;
        }
        let full = whole().filter(|run| matches(run) >= u64::from(want.max_lag));
        let last = full.map(|run| run.lag).min().unwrap_or(want.max_lag);
        self.next_scan = self.seen + u64::from(want.stride);
        let Some(due) = self.bands[..want.bands_from.len()]
            .iter()
            .rposition(|idle| *idle <= self.seen)
        else {
            return;
        };
        for (idle, from) in self.bands[..=due].iter_mut().zip(&want.bands_from) {
            // A lag that is not met has fewer matches than one K-gram and S symbols.
            let missing = from.saturating_sub(want.enter + want.gram as u32);
            *idle = self.seen + u64::from(missing);
        }
        let last = last.min(longest(due));
        if covered >= u64::from(last) {
            return;
        }
        for back in 0..want.enter as usize {
            self.scan_at(want, back, (covered, last));
        }
    }

    /// Considers the lags above `covered`, up to `last`, at which the K-gram that ended `back` symbols ago occurred
    /// before.
    fn scan_at(&mut self, want: &TailSearch, back: usize, (covered, last): (u64, u32)) {
        let Some(end) = self.read.checked_sub(back).filter(|end| *end >= want.gram) else {
            return;
        };
        let gram = &self.kept[end - want.gram..end];
        let hash = gram
            .iter()
            .fold(0, |hash, symbol| roll(want, hash, *symbol));
        let here = place(want, self.seen - back as u64);
        let mut there = self.grams.table[self.grams.slot(hash)];
        loop {
            // A place after `here`, left by the K-gram of a later symbol, gives a negative lag.
            let lag = here.wrapping_sub(there);
            let after = there.wrapping_sub(here) <= want.enter;
            if !after && lag > last {
                return;
            }
            if !after && u64::from(lag) > covered {
                let idle = self.consider(want, lag, covered);
                let band = &mut self.bands[band(lag)];
                *band = idle.min(*band);
            }
            let earlier = self.grams.earlier(want, there);
            // An overwritten entry is not an earlier place. `enter` matters only if all lags are shorter than it.
            let farthest = 2 * want.max_lag.max(want.enter);
            if there.wrapping_sub(earlier) > farthest || earlier == there {
                return;
            }
            there = earlier;
        }
    }

    /// Tracks a lag if it has enough matches. Otherwise records when it can have enough. Returns the symbol count
    /// before which the lag need not be tested again: the maximum if a tail covers the lag, since that tail has to end
    /// first. A tail covers all lags up to `covered`.
    fn consider(&mut self, want: &TailSearch, lag: u32, covered: u64) -> u64 {
        let index = lag as usize - 1;
        if index >= self.idle.len() {
            let most = (index + 1).next_power_of_two().min(want.matches.len());
            self.idle.resize(most, 0);
        }
        let from = u64::from(want.tracked_from(lag));
        let early = if want.max_lag > SHORT {
            SOON.min(from / EARLY)
        } else {
            from / EARLY
        };
        if self.idle[index] > self.seen + early {
            return self.idle[index];
        }
        if self.is_tracked(lag) {
            return u64::MAX;
        }
        if let Some(most) = self.cut_off(lag) {
            self.idle[index] = self.seen + from.saturating_sub(most);
            return u64::MAX;
        }
        let matches = self.matches(lag as usize);
        let missing = u64::from(want.matches[index]).saturating_sub(matches);
        // The tail that covers shorter lags grows as fast as this one.
        let will_be_covered = covered > 0 && missing >= u64::from(lag) - covered;
        if will_be_covered || matches < from {
            self.idle[index] = self.seen + from.saturating_sub(matches);
            return if will_be_covered {
                u64::MAX
            } else {
                self.idle[index]
            };
        }
        let whole = matches >= u64::from(lag);
        if whole && !is_primitive(&self.kept[self.read - lag as usize..self.read]) {
            self.idle[index] = self.seen + u64::from(want.stride);
            return self.idle[index];
        }
        self.tracked.push(Tail {
            lag,
            start: self.seen - matches - u64::from(lag),
            whole,
        });
        u64::MAX
    }

    /// Returns whether the lag is tracked, or is a multiple of a tracked lag within its tail. In the second case both
    /// lags have the same tail.
    fn is_tracked(&self, lag: u32) -> bool {
        let covers = |run: &Tail| {
            lag == run.lag || lag.is_multiple_of(run.lag) && self.seen - run.start >= u64::from(lag)
        };
        self.tracked.iter().any(covers)
    }

    /// Returns the maximum number of matches of a lag if they cannot become enough while a tracked tail goes on. The
    /// lag is a multiple of the tail's lag, and the symbol just before the tail does not match, so no match reaches
    /// further back than the tail. A lag needs as many matches as a copy has symbols, and a tail of that length covers
    /// the lag. A flood that follows another flood of the same unit has thousands of such lags, and each comparison
    /// would take time in the length of the flood.
    fn cut_off(&self, lag: u32) -> Option<u64> {
        let base = self.base();
        let at = |index: u64| self.kept.get(usize::try_from(index).ok()?);
        let cuts = |run: &&Tail| {
            let before = run.start.checked_sub(1 + base);
            let both = before.and_then(|before| Some((before, before.checked_sub(lag.into())?)));
            let differ = both.is_some_and(|(before, earlier)| at(before) != at(earlier));
            run.whole && lag.is_multiple_of(run.lag) && differ
        };
        let run = self.tracked.iter().find(cuts)?;
        Some(self.seen - run.start)
    }

    /// Counts how many of the last symbols equal the symbol `lag` before, within the kept symbols.
    fn matches(&self, lag: usize) -> u64 {
        let read = &self.kept[..self.read];
        let Some(most) = read.len().checked_sub(lag) else {
            return 0;
        };
        let (mut later, mut earlier) = (&read[lag..], &read[..most]);
        // Most symbols are equal, so eight are compared at a time.
        while let (Some((a, b)), Some((c, d))) = (
            later.split_last_chunk::<8>(),
            earlier.split_last_chunk::<8>(),
        ) {
            if b != d {
                break;
            }
            (later, earlier) = (a, c);
        }
        let pairs = later.iter().rev().zip(earlier.iter().rev());
        (most - later.len() + pairs.take_while(|(a, b)| a == b).count()) as u64
    }
}

/// Reserves room for `more` symbols. A vector doubles as it grows, but never beyond `most`, the maximum number of
/// symbols ever kept.
fn grow<T>(kept: &mut Vec<T>, more: usize, most: usize) {
    let full = kept.capacity() - kept.len() < more;
    if full && 2 * kept.capacity() > most {
        kept.reserve_exact(most.saturating_sub(kept.len()).max(more));
    }
}

/// Returns whether a unit is not a power of a shorter one.
fn is_primitive(unit: &[u32]) -> bool {
    let n = unit.len();
    let is_power = |part: usize| unit[part..] == unit[..n - part];
    let mut rest = n;
    let mut prime = 2;
    while rest > 1 {
        if rest.is_multiple_of(prime) {
            if is_power(n / prime) {
                return false;
            }
            rest /= prime;
        } else {
            prime += 1;
        }
    }
    true
}

#[cfg(test)]
mod tests;
