//! [`TailSearch`]: the searched tails, and the intervals of the search. `runs` explains the letters K, S and W.

/// The searched tails, shared by all streams.
#[derive(Clone, Debug)]
pub(in super::super) struct TailSearch {
    /// For each lag from 1 on, the number of matches from which its tail must be known. Index 0 is lag 1.
    pub(super) matches: Vec<u32>,
    pub(in super::super) max_lag: u32,
    /// The least of `matches`.
    pub(super) least: u32,
    /// The number of bits by which the hash is shifted at each step. After K steps, a symbol has left the hash.
    pub(super) shift: u32,
    /// The bits of the hash that are kept.
    pub(super) mask: u64,
    /// K: symbols in a K-gram.
    pub(super) gram: usize,
    /// S: the distance between entered K-grams, a power of 2.
    pub(super) enter: u32,
    /// W: the distance between lookups, a power of 2.
    pub(super) look: u32,
    /// Symbols after a fruitless lookup within which no tail can be long enough.
    pub(super) quiet: u32,
    /// Symbols between two scans.
    pub(super) stride: u32,
    /// Symbols that are kept.
    pub(super) keep: usize,
    /// For each [`band`] of lags, the lowest number of matches from which one of its lags is tracked.
    pub(super) bands_from: Vec<u32>,
}

/// The number of bands: an upper bound on the bits of twice the longest period.
pub(super) const BANDS: usize = 18;

/// Returns the band of a lag: its number of bits, minus one.
pub(super) fn band(lag: u32) -> usize {
    lag.ilog2() as usize
}

/// Returns the longest lag of a band.
pub(super) fn longest(band: usize) -> u32 {
    (2 << band) - 1
}

/// The number of matches from which a tail with three copies is known, even if it must be longer to be accepted.
const ENOUGH: u32 = 4096;

/// The value of S, if the shortest tail is long enough for it.
pub(super) const ENTER: u32 = 4;
/// The value of W, if the shortest tail is long enough for it.
pub(super) const LOOK: u32 = 16;

impl TailSearch {
    /// Returns the searched tails. `need(lag)` is the length that a tail of that lag must have, at least `2 * lag`.
    pub(in super::super) fn new(max_lag: u32, need: impl Fn(u32) -> u32) -> Self {
        // A lag must be known where a multiple of it is wanted, because the tails of its multiples are its own.
        let mut matches: Vec<u32> = Vec::with_capacity(max_lag as usize);
        let mut least_need = u32::MAX;
        for lag in (1..=max_lag).rev() {
            least_need = least_need.min(need(lag).max(2 * lag));
            matches.push((least_need - lag).min(ENOUGH.max(2 * lag)));
        }
        matches.reverse();
        let least = matches.iter().copied().min().unwrap_or(1);
        let gram = [16, 8, 4, 2, 1].into_iter().find(|k| 2 * k <= least);
        // Pairs are rare enough even among few symbols. Single symbols, as blanks or braces, are not.
        let gram = gram.filter(|k| *k > 1).unwrap_or(least.clamp(1, 2));
        let (enter, look) = if least >= gram + 4 * LOOK {
            (ENTER, LOOK)
        } else {
            (1, 1)
        };
        let quiet = least + 2 - (gram + enter);
        let longest = matches.last().map_or(0, |m| m + max_lag) as usize;
        let mut want = Self {
            bands_from: Vec::new(),
            matches,
            least,
            max_lag,
            shift: (64 / gram).min(32),
            mask: if gram == 1 { 0 } else { u64::MAX },
            gram: gram as usize,
            enter,
            look,
            quiet,
            stride: quiet.div_ceil(2),
            keep: longest + (gram + enter) as usize,
        };
        let mut bands = vec![u32::MAX; band(max_lag) + 1];
        for lag in 1..=max_lag {
            let from = &mut bands[band(lag)];
            *from = want.tracked_from(lag).min(*from);
        }
        want.bands_from = bands;
        want
    }

    /// Returns log2 of the size of the table of K-grams for `symbols` symbols.
    pub(super) fn table_bits(&self, symbols: u64) -> u32 {
        let symbols = u32::try_from(symbols).unwrap_or(u32::MAX).min(self.max_lag);
        // A short K-gram occurs by chance more often, so its table is larger.
        let slots = (if self.gram < 16 { 16 } else { 2 }) * symbols;
        slots.next_power_of_two().ilog2().clamp(8, 16)
    }

    /// Returns the maximum number of symbols that are kept before old ones are dropped.
    pub(in super::super) fn most_kept(&self) -> usize {
        self.keep + self.keep / 2
    }

    /// Returns the number of matches from which a lag is tracked, since it may have enough before the next scan.
    pub(super) fn tracked_from(&self, lag: u32) -> u32 {
        (self.matches[lag as usize - 1] - self.stride.min(self.least - 1)).max(1)
    }
}
