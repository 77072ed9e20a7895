//! [`Runs`]: which lags the end of a sequence repeats at, exactly, in one pass.
//!
//! The tail of a sequence has period `lag` with `matches` when its last `matches` symbols each equal
//! the one `lag` before. Such a tail matters once it is `need[lag]` symbols long (the first copy
//! included), and it is known at that very symbol, never later. Three things make that cheap:
//!
//! 1. **The gate.** A tail with m matches shows itself early: each of its last m-K+1 K-grams has
//!    been seen at most `max_lag` symbols before. A table of K-grams, indexed by a hash that forgets
//!    what is older than K symbols, tells at one look a symbol whether the last K-gram was. In text
//!    that does not repeat, hardly one K-gram after another was, and nothing else is done.
//! 2. **The scan.** Where enough of them in a row were, the earlier places of the last K-gram (a
//!    chain through the table, as in deflate) are the lags that can have K matches; each is compared
//!    backwards. Lags that may be long enough before the next scan are tracked from then on.
//! 3. **Tracking** costs one comparison a symbol and lag. Of tails with two copies or more only
//!    those with a primitive unit are tracked; by the periodicity lemma (Fine and Wilf 1965) there
//!    are few of them at a time.
//!
//! Scans are `stride` symbols apart, `stride` a share of the matches that the shortest tail needs, so
//! that a symbol pays for little of one; a lag that fell short is not compared again before it can
//! have caught up.

/// What tails are looked for; shared by every stream.
#[derive(Clone, Debug)]
pub(super) struct Want {
    /// For each lag from 1 on, the matches from which its tail must be known; index 0 is lag 1.
    matches: Vec<u32>,
    max_lag: u32,
    /// The least of `matches`.
    least: u32,
    /// By how many bits the hash is moved at each step, and what of it is: after K steps a symbol is
    /// out of it.
    shift: u32,
    mask: u64,
    /// Symbols after an unseen K-gram within which nothing can be long enough.
    quiet: u32,
    /// Symbols between two scans.
    stride: u32,
    /// Symbols that are kept.
    keep: usize,
    /// log2 of the size of the table of K-grams.
    table_bits: u32,
}

/// Matches from which a tail is known however long it has to be, if that is three copies.
const ENOUGH: u32 = 4096;

impl Want {
    /// `need(lag)`: how long a tail of that lag must be, at least `2 * lag`.
    pub(super) fn new(max_lag: u32, need: impl Fn(u32) -> u32) -> Self {
        // A lag must be known where a multiple of it is wanted: tails of its multiples are its own.
        let mut matches: Vec<u32> = Vec::with_capacity(max_lag as usize);
        let mut least_need = u32::MAX;
        for lag in (1..=max_lag).rev() {
            least_need = least_need.min(need(lag).max(2 * lag));
            matches.push((least_need - lag).min(ENOUGH.max(2 * lag)));
        }
        matches.reverse();
        let least = matches.iter().copied().min().unwrap_or(1);
        let gram = [16, 8, 4, 2, 1].into_iter().find(|k| 2 * k <= least);
        let gram = gram.unwrap_or(1);
        let quiet = least - gram + 1;
        let longest = matches.last().map_or(0, |m| m + max_lag) as usize;
        Self {
            matches,
            least,
            max_lag,
            shift: (64 / gram).min(32),
            mask: if gram == 1 { 0 } else { u64::MAX },
            quiet,
            stride: quiet.div_ceil(2),
            keep: longest + gram as usize + 1,
            table_bits: (2 * max_lag).next_power_of_two().ilog2().clamp(8, 16),
        }
    }

    /// The matches from which a lag is tracked: it can be long enough before the next scan.
    fn tracked_from(&self, lag: u32) -> u32 {
        (self.matches[lag as usize - 1] - self.stride.min(self.least - 1)).max(1)
    }
}

/// A periodic tail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Run {
    /// Symbols from one copy to the next.
    pub(super) lag: u32,
    /// Its first symbol, counted from 0.
    pub(super) start: u64,
    /// Whether its unit is known to be primitive: asked once there are two copies.
    whole: bool,
}

/// Why [`Runs::read`] came back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Read {
    /// Everything is read.
    All,
    /// The last symbol ended tails; they wait in [`Runs::take_ended`].
    Ended,
    /// Before more can be read, old symbols have to be [forgotten](Runs::forget).
    Full,
}

/// The end of a sequence, and the lags at which it repeats.
#[derive(Clone, Debug)]
pub(super) struct Runs {
    /// The last symbols: at least `keep` of them, once there were as many.
    kept: Vec<u32>,
    /// Symbols read.
    seen: u64,
    grams: Grams,
    /// For each lag, the count of symbols before which it need not be compared again.
    idle: Vec<u64>,
    /// The count of symbols at which to scan next.
    next_scan: u64,
    tracked: Vec<Run>,
    ended: Vec<Run>,
}

/// Where K-grams were seen last.
#[derive(Clone, Debug)]
struct Grams {
    hash: u64,
    /// For each hash, where a K-gram with it ended last; 0: nowhere.
    table: Vec<u32>,
    /// For each of the last places, what the table held before it.
    before: Vec<u32>,
}

impl Grams {
    /// Enters the K-gram that ends with this symbol, the `seen`-th; whether it had been seen at most
    /// the longest lag before.
    #[inline]
    fn note(&mut self, want: &Want, seen: u64, symbol: u32) -> bool {
        let mixed = u64::from(symbol).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        self.hash = ((self.hash & want.mask) << want.shift).wrapping_add(mixed);
        // Every symbol of the K-gram has been moved up into the high bits.
        let slot = self.hash >> (64 - want.table_bits);
        let here = place(want, seen);
        let entry = &mut self.table[usize::try_from(slot).unwrap_or(0)];
        let last = std::mem::replace(entry, here);
        let ring = self.before.len() - 1;
        self.before[here as usize & ring] = last;
        here.wrapping_sub(last) <= want.max_lag
    }

    /// How far before `here` the K-gram that ends there was seen before that.
    fn before(&self, here: u32, lag: u32) -> u32 {
        let ring = self.before.len() - 1;
        here.wrapping_sub(self.before[here.wrapping_sub(lag) as usize & ring])
    }
}

/// Places are counted from here, so that 0 is too far away to be a repetition.
fn place(want: &Want, seen: u64) -> u32 {
    // Truncation is meant: only differences below the longest lag count, and a place that comes
    // round again only proposes a lag that the comparison refutes.
    #[allow(clippy::cast_possible_truncation)]
    (seen as u32).wrapping_add(want.max_lag + 1)
}

impl Runs {
    pub(super) fn new(want: &Want) -> Self {
        let ring = (want.max_lag as usize + 1).next_power_of_two();
        Self {
            kept: Vec::new(),
            seen: 0,
            grams: Grams {
                hash: 0,
                table: vec![0; 1 << want.table_bits],
                before: vec![0; ring],
            },
            idle: vec![0; want.matches.len()],
            next_scan: 0,
            tracked: Vec::new(),
            ended: Vec::new(),
        }
    }

    /// Symbols read.
    pub(super) fn seen(&self) -> u64 {
        self.seen
    }

    /// The tails that go on: primitive, of two copies at least.
    pub(super) fn going_on(&self) -> impl Iterator<Item = Run> {
        self.tracked.iter().copied().filter(|run| run.whole)
    }

    /// The last symbols, and the number of the first of them.
    pub(super) fn kept(&self) -> (&[u32], u64) {
        (&self.kept, self.seen - self.kept.len() as u64)
    }

    /// Reads symbols up to and with the first that ends a tail, or up to when it is full.
    #[inline]
    pub(super) fn read(&mut self, want: &Want, symbols: &mut impl Iterator<Item = u32>) -> Read {
        loop {
            if self.is_full(want) {
                return Read::Full;
            }
            let more = if self.tracked.is_empty() {
                self.skim(want, symbols)
            } else {
                self.step(want, symbols)
            };
            if !self.ended.is_empty() {
                return Read::Ended;
            }
            if !more {
                return Read::All;
            }
        }
    }

    /// Whether old symbols have to be dropped before more can be read.
    pub(super) fn is_full(&self, want: &Want) -> bool {
        self.kept.len() >= 2 * want.keep
    }

    /// Drops old symbols; gives back how many.
    pub(super) fn forget(&mut self, want: &Want) -> usize {
        let old = self.kept.len() - want.keep;
        self.kept.drain(..old);
        old
    }

    /// Reads symbols while nothing is tracked, up to the next scan: what is done for text that does
    /// not repeat. Whether there may be more.
    #[inline(never)]
    fn skim(&mut self, want: &Want, symbols: &mut impl Iterator<Item = u32>) -> bool {
        let quiet = u64::from(want.quiet);
        let (mut seen, mut next_scan) = (self.seen, self.next_scan);
        let room = 2 * want.keep - self.kept.len();
        let Self { kept, grams, .. } = self;
        let mut scan = false;
        let mut left = room;
        for symbol in symbols.by_ref().take(room) {
            left -= 1;
            kept.push(symbol);
            seen += 1;
            if !grams.note(want, seen, symbol) {
                next_scan = seen + quiet;
            } else if seen >= next_scan {
                scan = true;
                break;
            }
        }
        (self.seen, self.next_scan) = (seen, next_scan);
        if scan {
            self.scan(want);
        }
        scan || left == 0
    }

    /// Reads one symbol, and compares it with what each tracked tail expects. Whether there was one.
    #[inline(never)]
    fn step(&mut self, want: &Want, symbols: &mut impl Iterator<Item = u32>) -> bool {
        let Some(symbol) = symbols.next() else {
            return false;
        };
        self.kept.push(symbol);
        self.seen += 1;
        self.follow();
        if !self.grams.note(want, self.seen, symbol) {
            self.next_scan = self.seen + u64::from(want.quiet);
        } else if self.seen >= self.next_scan {
            self.scan(want);
        }
        true
    }

    /// The tails that the last symbol ended.
    pub(super) fn take_ended(&mut self) -> Vec<Run> {
        std::mem::take(&mut self.ended)
    }

    /// Compares the last symbol with what each tracked tail expects.
    #[inline(never)]
    fn follow(&mut self) {
        let Self {
            tracked,
            ended,
            kept,
            seen,
            ..
        } = self;
        let last = kept.len() - 1;
        let before = ended.len();
        tracked.retain_mut(|run| {
            if kept[last - run.lag as usize] != kept[last] {
                ended.push(*run);
                return false;
            }
            if !run.whole && *seen >= run.start + 2 * u64::from(run.lag) {
                run.whole = is_primitive(&kept[kept.len() - run.lag as usize..]);
                return run.whole;
            }
            true
        });
        if ended.len() > before {
            // Scans may have been left out while it lasted.
            self.next_scan = self.next_scan.min(self.seen);
            self.ended.retain(|run| run.whole);
        }
    }

    /// Finds every lag that can be long enough before the next scan.
    #[cold]
    fn scan(&mut self, want: &Want) {
        let alone = |run: &Run| {
            // A tail this long leaves no room for another lag but its multiples and those that fit
            // inside one of its units, and no unit is long enough for what is wanted.
            run.whole
                && run.lag <= want.least
                && self.seen - run.start >= 2 * u64::from(want.max_lag)
        };
        if self.tracked.iter().any(alone) {
            self.next_scan = u64::MAX;
            return;
        }
        let here = place(want, self.seen);
        let mut lag = self.grams.before(here, 0);
        while lag <= want.max_lag {
            self.consider(want, lag);
            let further = self.grams.before(here, lag);
            if further <= lag {
                break;
            }
            lag = further;
        }
        self.next_scan = self.seen + u64::from(want.stride);
    }

    /// Tracks a lag if it is long enough, or notes when it can be.
    fn consider(&mut self, want: &Want, lag: u32) {
        let index = lag as usize - 1;
        if self.idle[index] > self.seen || self.is_tracked(lag) {
            return;
        }
        let matches = self.matches(lag as usize);
        let from = u64::from(want.tracked_from(lag));
        if matches < from {
            self.idle[index] = self.seen + (from - matches);
            return;
        }
        let whole = matches >= u64::from(lag);
        if whole && !is_primitive(&self.kept[self.kept.len() - lag as usize..]) {
            self.idle[index] = self.seen + u64::from(want.stride);
            return;
        }
        self.tracked.push(Run {
            lag,
            start: self.seen - matches - u64::from(lag),
            whole,
        });
    }

    /// Whether the lag is tracked, or is a multiple of one that is and lies within its tail: then
    /// its tail is that one's.
    fn is_tracked(&self, lag: u32) -> bool {
        let covers = |run: &Run| {
            lag == run.lag || lag.is_multiple_of(run.lag) && self.seen - run.start >= u64::from(lag)
        };
        self.tracked.iter().any(covers)
    }

    /// How many of the last symbols equal the one `lag` before, as far as symbols are kept.
    fn matches(&self, lag: usize) -> u64 {
        let later = self.kept[lag.min(self.kept.len())..].iter().rev();
        let earlier = self.kept[..self.kept.len().saturating_sub(lag)]
            .iter()
            .rev();
        later.zip(earlier).take_while(|(a, b)| a == b).count() as u64
    }
}

/// Whether a unit is no power of a shorter one.
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
