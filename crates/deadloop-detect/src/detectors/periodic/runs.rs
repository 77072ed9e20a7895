//! [`Runs`]: which lags the end of a sequence repeats at, exactly, in one pass.
//!
//! The tail of a sequence has period `lag` with `matches` when its last `matches` symbols each equal
//! the one `lag` before. Such a tail matters once it is `need[lag]` symbols long (the first copy
//! included), and it is known at that very symbol, never later. Three things make that cheap:
//!
//! 1. **The gate.** A tail with m matches shows itself early: each of its last m-K+1 K-grams has
//!    been seen at most `max_lag` symbols before. A table of K-grams, indexed by a hash that forgets
//!    what is older than K symbols, tells at one look whether one was. Every S-th K-gram is entered,
//!    and S in a row are looked up once in W symbols: whatever the lag, one of them stands a lag
//!    after an entered one. If none was seen, no tail is near, and nothing else is done for a while.
//! 2. **The scan.** Else the earlier places of the last S K-grams (chains through the table, as in
//!    deflate) are the lags that can matter; each is compared backwards. Lags that may be long
//!    enough before the next scan are tracked from then on.
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
    /// K: symbols in a K-gram.
    gram: usize,
    /// S: one K-gram in so many is entered; a power of 2.
    enter: u32,
    /// W: lookups begin anew after so many symbols; a power of 2.
    look: u32,
    /// Symbols after a fruitless lookup within which nothing can be long enough.
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

/// S and W where the shortest tail leaves room for them.
const ENTER: u32 = 4;
const LOOK: u32 = 16;

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
        let (enter, look) = if least >= gram + 4 * LOOK {
            (ENTER, LOOK)
        } else {
            (1, 1)
        };
        let quiet = least + 2 - (gram + enter);
        let longest = matches.last().map_or(0, |m| m + max_lag) as usize;
        Self {
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

/// The end of a sequence, and the lags at which it repeats.
#[derive(Clone, Debug)]
pub(super) struct Runs {
    /// The last symbols: at least `keep` of them, once there were as many; then those that wait.
    kept: Vec<u32>,
    /// How many of `kept` have been read.
    read: usize,
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
    /// Of the last K symbols.
    hash: u64,
    /// For each hash, where a K-gram with it that was entered ended last; 0: nowhere.
    table: Vec<u32>,
    /// For each of the last places, what the table held before it.
    before: Vec<u32>,
    /// Whether one of the K-grams of this lookup had been seen.
    near: bool,
}

/// Places are counted from here, so that 0 is too far away to be a repetition.
fn place(want: &Want, seen: u64) -> u32 {
    // Truncation is meant: only differences below the longest lag count, and a place that comes
    // round again only proposes a lag that the comparison refutes.
    #[allow(clippy::cast_possible_truncation)]
    (seen as u32).wrapping_add((want.max_lag + 1).next_multiple_of(ENTER))
}

/// The hash of a K-gram when one more symbol has come.
#[inline]
fn roll(want: &Want, hash: u64, symbol: u32) -> u64 {
    let mixed = u64::from(symbol).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    ((hash & want.mask) << want.shift).wrapping_add(mixed)
}

impl Grams {
    fn new(want: &Want) -> Self {
        let places = (want.max_lag / want.enter + 2).next_power_of_two();
        Self {
            hash: 0,
            table: vec![0; 1 << want.table_bits],
            before: vec![0; places as usize],
            near: false,
        }
    }

    /// Every symbol of a K-gram has been moved up into the high bits of its hash.
    #[inline]
    fn slot(&self, want: &Want, hash: u64) -> usize {
        usize::try_from(hash >> (64 - want.table_bits)).unwrap_or(0)
    }

    /// Where in `before` a place is.
    #[inline]
    fn index(&self, want: &Want, place: u32) -> usize {
        (place / want.enter) as usize & (self.before.len() - 1)
    }

    /// Takes the `seen`-th symbol. `true`: a lookup ended with it and none of its K-grams had been
    /// seen at most the longest lag before.
    #[inline]
    fn note(&mut self, want: &Want, seen: u64, symbol: u32) -> bool {
        self.hash = roll(want, self.hash, symbol);
        let here = place(want, seen);
        let phase = here & (want.look - 1);
        let looks = phase >= want.look - want.enter;
        let enters = here & (want.enter - 1) == 0;
        if !looks && !enters {
            return false;
        }
        let slot = self.slot(want, self.hash);
        let last = self.table[slot];
        if enters {
            self.table[slot] = here;
            let index = self.index(want, here);
            self.before[index] = last;
        }
        self.near |= looks && here.wrapping_sub(last) <= want.max_lag;
        phase == want.look - 1 && !std::mem::take(&mut self.near)
    }

    /// The place before `place` with the same slot.
    fn earlier(&self, want: &Want, place: u32) -> u32 {
        self.before[self.index(want, place)]
    }
}

impl Runs {
    pub(super) fn new(want: &Want) -> Self {
        Self {
            kept: Vec::new(),
            read: 0,
            seen: 0,
            grams: Grams::new(want),
            idle: vec![0; want.matches.len()],
            next_scan: u64::from(want.quiet),
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

    /// The last symbols that were read, and the number of the first of them.
    pub(super) fn kept(&self) -> (&[u32], u64) {
        (&self.kept[..self.read], self.base())
    }

    /// The number of the first symbol that is kept.
    pub(super) fn base(&self) -> u64 {
        self.seen - self.read as u64
    }

    /// How many symbols can be added before old ones have to be dropped.
    pub(super) fn room(&self, want: &Want) -> usize {
        (2 * want.keep).saturating_sub(self.kept.len())
    }

    /// Adds symbols, to be [`read`](Self::read).
    #[inline]
    pub(super) fn add(&mut self, symbols: impl Iterator<Item = u32>) {
        self.kept.extend(symbols);
    }

    /// Drops old symbols when all are read; gives back how many.
    pub(super) fn forget(&mut self, want: &Want) -> usize {
        let old = self.kept.len().saturating_sub(want.keep);
        self.kept.drain(..old);
        self.read -= old;
        old
    }

    /// Reads what was added, up to and with the first symbol that ends a tail. `true`: one did, and
    /// there may be more to read; its tails wait in [`take_ended`](Self::take_ended).
    pub(super) fn read(&mut self, want: &Want) -> bool {
        while self.read < self.kept.len() {
            if self.tracked.is_empty() {
                self.skim(want);
            } else {
                self.step(want);
            }
            if !self.ended.is_empty() {
                return true;
            }
        }
        false
    }

    /// Reads while nothing is tracked, up to the next scan: what is done for text that does not
    /// repeat.
    fn skim(&mut self, want: &Want) {
        let quiet = u64::from(want.quiet);
        let (mut seen, mut next_scan) = (self.seen, self.next_scan);
        for symbol in &self.kept[self.read..] {
            seen += 1;
            if self.grams.note(want, seen, *symbol) {
                next_scan = seen + quiet;
            }
            if seen >= next_scan {
                break;
            }
        }
        self.read += usize::try_from(seen - self.seen).unwrap_or(0);
        (self.seen, self.next_scan) = (seen, next_scan);
        if seen >= next_scan {
            self.scan(want);
        }
    }

    /// Reads one symbol, and compares it with what each tracked tail expects.
    fn step(&mut self, want: &Want) {
        let symbol = self.kept[self.read];
        self.read += 1;
        self.seen += 1;
        self.follow();
        if self.grams.note(want, self.seen, symbol) {
            self.next_scan = self.seen + u64::from(want.quiet);
        }
        if self.seen >= self.next_scan {
            self.scan(want);
        }
    }

    /// The tails that the last symbol ended.
    pub(super) fn take_ended(&mut self) -> Vec<Run> {
        std::mem::take(&mut self.ended)
    }

    /// Compares the last symbol with what each tracked tail expects.
    #[inline]
    fn follow(&mut self) {
        let last = self.read - 1;
        let symbol = self.kept[last];
        let same = |run: &Run| self.kept[last - run.lag as usize] == symbol;
        if self.tracked.iter().all(|run| run.whole && same(run)) {
            return;
        }
        let (read, seen) = (&self.kept[..self.read], self.seen);
        self.tracked.retain_mut(|run| {
            if read[last - run.lag as usize] != symbol {
                if run.whole {
                    self.ended.push(*run);
                }
                // Scans may have been left out while it lasted.
                self.next_scan = self.next_scan.min(seen);
                return false;
            }
            if !run.whole && seen >= run.start + 2 * u64::from(run.lag) {
                run.whole = is_primitive(&read[read.len() - run.lag as usize..]);
                return run.whole;
            }
            true
        });
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
        for back in 0..want.enter as usize {
            self.scan_at(want, back);
        }
        self.next_scan = self.seen + u64::from(want.stride);
    }

    /// Considers the lags at which the K-gram that ended `back` symbols ago was seen before.
    fn scan_at(&mut self, want: &Want, back: usize) {
        let Some(end) = self.read.checked_sub(back).filter(|end| *end >= want.gram) else {
            return;
        };
        let gram = &self.kept[end - want.gram..end];
        let hash = gram
            .iter()
            .fold(0, |hash, symbol| roll(want, hash, *symbol));
        let here = place(want, self.seen - back as u64);
        let mut there = self.grams.table[self.grams.slot(want, hash)];
        loop {
            // A place after `here`, which the K-gram of one of the last symbols left, is negative.
            let lag = here.wrapping_sub(there);
            let after = there.wrapping_sub(here) <= want.enter;
            if !after && lag > want.max_lag {
                return;
            }
            if !after {
                self.consider(want, lag);
            }
            let earlier = self.grams.earlier(want, there);
            // What was overwritten since is no earlier place.
            if there.wrapping_sub(earlier) > 2 * want.max_lag || earlier == there {
                return;
            }
            there = earlier;
        }
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
        if whole && !is_primitive(&self.kept[self.read - lag as usize..self.read]) {
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
        let read = &self.kept[..self.read];
        let later = read[lag.min(read.len())..].iter().rev();
        let earlier = read[..read.len().saturating_sub(lag)].iter().rev();
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
