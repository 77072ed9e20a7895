//! Finds all maximal repetitions of a sequence of symbols.
//!
//! The algorithm is divide and conquer: M. Main and R. Lorentz, "An O(n log n) algorithm for finding all repetitions
//! in a string" (1984). The Z function replaces hashing, so that the result does not depend on chance. The result
//! stays small by the runs theorem (Bannai and others, 2017): a sequence has fewer runs than symbols.
//!
//! The time is O(n log n). The memory is O(n), some 24 bytes per symbol.

use std::ops::Range;

/// A maximal stretch with a period of at most half its length.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PeriodicRun {
    /// The first symbol.
    pub start: usize,
    /// The position after the last symbol.
    pub end: usize,
    /// The smallest period, in symbols.
    pub period: usize,
}

impl PeriodicRun {
    /// Returns the number of symbols.
    pub fn length(&self) -> usize {
        self.end - self.start
    }

    /// Returns the number of copies. A cut last copy counts in part.
    pub fn copies(&self) -> f64 {
        self.length() as f64 / self.period as f64
    }
}

/// Finds every run, in the order of their starts and ends.
pub fn runs(symbols: &[u32]) -> Vec<PeriodicRun> {
    runs_in(symbols, |_, _| true)
}

/// Finds the runs in the parts that `accepts` accepts, and perhaps others. The arguments of `accepts` are the first
/// symbol of a part and the position after its last. A rejected part is not searched, so no run inside it is found.
pub(super) fn runs_in(symbols: &[u32], accepts: impl Fn(usize, usize) -> bool) -> Vec<PeriodicRun> {
    let reversed: Vec<u32> = symbols.iter().rev().copied().collect();
    let mut search = RunSearch {
        symbols,
        reversed: &reversed,
        tables: MatchLengths::default(),
        crossing: Vec::new(),
        found: Vec::new(),
    };
    // A run is found at the first cut through it, when the part still contains the whole run.
    let mut parts = vec![(0, symbols.len())];
    while let Some((from, to)) = parts.pop() {
        if to - from < 2 || !accepts(from, to) {
            continue;
        }
        let middle = from + (to - from) / 2;
        search.find_across(from, middle, to);
        parts.push((from, middle));
        parts.push((middle, to));
    }
    search.found.sort_unstable();
    search.found
}

/// Lengths of matches around one cut. The buffers are reused for all cuts.
#[derive(Default)]
struct MatchLengths {
    /// The Z function of the right half: for each position, the length of the match with its start.
    right: Vec<u32>,
    /// The Z function of the reversed left half.
    left: Vec<u32>,
    /// For each position of the left half, the length of the match with the right half.
    ahead: Vec<u32>,
    /// For each position of the reversed right half, the length of the match with the reversed left half.
    back: Vec<u32>,
}

/// The state of a search for runs.
struct RunSearch<'a> {
    symbols: &'a [u32],
    reversed: &'a [u32],
    tables: MatchLengths,
    crossing: Vec<PeriodicRun>,
    found: Vec<PeriodicRun>,
}

impl RunSearch<'_> {
    /// Finds the runs of `from..to` that cross the cut before `middle`.
    fn find_across(&mut self, from: usize, middle: usize, to: usize) {
        let n = self.symbols.len();
        let right = &self.symbols[middle..to];
        let left = &self.reversed[n - middle..n - from];
        let tables = &mut self.tables;
        z_function(right, &mut tables.right);
        z_function(left, &mut tables.left);
        let whole = &self.symbols[from..to];
        match_lengths(right, &tables.right, whole, left.len(), &mut tables.ahead);
        let whole = &self.reversed[n - to..n - from];
        match_lengths(left, &tables.left, whole, right.len(), &mut tables.back);

        self.crossing.clear();
        // Runs with a complete copy after the cut: the `back` symbols before the cut recur one period later.
        for period in 1..=right.len() {
            let ahead = self.tables.right.get(period).map_or(0, |z| *z as usize);
            let back = self.tables.back[right.len() - period] as usize;
            if back > 0 && ahead + back >= period {
                self.add(middle - back, middle + period + ahead, period, (from, to));
            }
        }
        // Runs with a complete copy before the cut.
        for period in 1..=left.len() {
            let back = self.tables.left.get(period).map_or(0, |z| *z as usize);
            let ahead = self.tables.ahead[left.len() - period] as usize;
            if ahead > 0 && ahead + back >= period {
                self.add(middle - period - back, middle + ahead, period, (from, to));
            }
        }
        // A stretch is one run, with its smallest period, which is found at the same cut.
        self.crossing.sort_unstable();
        self.crossing
            .dedup_by(|b, a| (a.start, a.end) == (b.start, b.end));
        self.found.append(&mut self.crossing);
    }

    /// Adds a repetition, unless it continues outside the part. Then a cut of a larger part has found it.
    fn add(&mut self, start: usize, end: usize, period: usize, (from, to): (usize, usize)) {
        let same = |a: usize, b: usize| self.symbols[a] == self.symbols[b];
        let began_earlier = start == from && from > 0 && same(from - 1, from - 1 + period);
        let continues = end == to && to < self.symbols.len() && same(to, to - period);
        if !began_earlier && !continues {
            self.crossing.push(PeriodicRun { start, end, period });
        }
    }
}

/// Computes the Z function: for each position of `s`, the length of the match with the start of `s`. The first entry is
/// the length of `s`.
fn z_function(s: &[u32], z: &mut Vec<u32>) {
    z.clear();
    z.resize(s.len(), 0);
    if let Some(first) = z.first_mut() {
        *first = s.len() as u32;
    }
    let mut last = 0..0;
    for at in 1..s.len() {
        z[at] = extend(at, &mut last, z, |n| s.get(at + n) == Some(&s[n]));
    }
}

/// Computes for each of the first `positions` of `text` the length of the match with the start of `pattern`. `z` is the
/// Z function of `pattern`.
fn match_lengths(pattern: &[u32], z: &[u32], text: &[u32], positions: usize, found: &mut Vec<u32>) {
    found.clear();
    let mut last = 0..0;
    for at in 0..positions {
        let matches_at = |n: usize| n < pattern.len() && text.get(at + n) == Some(&pattern[n]);
        found.push(extend(at, &mut last, z, matches_at));
    }
}

/// Returns the length of the match at `at`. `same` compares the symbols at an offset from `at`. `last` is the match
/// with the furthest end so far, and `z` the Z function of the pattern.
fn extend(at: usize, last: &mut Range<usize>, z: &[u32], same: impl Fn(usize) -> bool) -> u32 {
    let mut length = 0;
    if at < last.end {
        length = (z[at - last.start] as usize).min(last.end - at);
    }
    while same(length) {
        length += 1;
    }
    if at + length > last.end {
        *last = at..at + length;
    }
    length as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::{prop, prop_assert_eq, proptest};

    /// Finds the runs by the definition, from every stretch and every period.
    fn runs_by_definition(s: &[u32]) -> Vec<PeriodicRun> {
        let mut found = Vec::new();
        for period in 1..=s.len() / 2 {
            let mut start = 0;
            while start + period < s.len() {
                let alike = (start..s.len() - period).take_while(|i| s[*i] == s[i + period]);
                let alike = alike.count();
                let end = start + alike + period;
                if alike >= period && smallest_period(&s[start..end]) == period {
                    found.push(PeriodicRun { start, end, period });
                }
                start += alike + 1;
            }
        }
        found.sort();
        found
    }

    fn smallest_period(s: &[u32]) -> usize {
        let is_period = |p: &usize| (*p..s.len()).all(|i| s[i] == s[i - p]);
        (1..=s.len()).find(is_period).unwrap()
    }

    fn runs_of_text(text: &str) -> Vec<PeriodicRun> {
        runs(&text.chars().map(u32::from).collect::<Vec<_>>())
    }

    fn run(start: usize, end: usize, period: usize) -> PeriodicRun {
        PeriodicRun { start, end, period }
    }

    #[test]
    fn runs_of_mississippi() {
        let wanted = [run(1, 8, 3), run(2, 4, 1), run(5, 7, 1), run(8, 10, 1)];
        assert_eq!(runs_of_text("mississippi"), wanted);
        assert_eq!(runs_of_text(""), []);
        assert_eq!(runs_of_text("a"), []);
        assert_eq!(runs_of_text("aaaa"), [run(0, 4, 1)]);
        assert_eq!(runs_of_text("我需要我需要我"), [run(0, 7, 3)]);
    }

    #[test]
    fn every_text_of_two_letters_up_to_16() {
        for length in 0..=16 {
            for bits in 0..1u32 << length {
                let s: Vec<u32> = (0..length).map(|i| bits >> i & 1).collect();
                let found = runs(&s);
                assert_eq!(found, runs_by_definition(&s), "{s:?}");
                assert!(found.len() < s.len().max(1), "the runs theorem: {s:?}");
            }
        }
    }

    #[test]
    fn fibonacci_text_is_full_of_runs_and_found_fast() {
        let (mut a, mut b) = (vec![0u32], vec![0u32, 1]);
        while b.len() < 200_000 {
            (a, b) = (b.clone(), [b, a].concat());
        }
        let found = runs(&b);
        assert!(found.len() > b.len() / 2 && found.len() < b.len());
        assert_eq!(runs(&vec![7; 300_000]), [run(0, 300_000, 1)]);
    }

    proptest! {
        #[test]
        fn random_texts(letters in 1u32..5, text in prop::collection::vec(0u32..1000, 0..300)) {
            let s: Vec<u32> = text.iter().map(|c| c % letters).collect();
            prop_assert_eq!(runs(&s), runs_by_definition(&s));
        }

        /// Checks that only runs below the least length are left out.
        #[test]
        fn no_long_run_is_left_out(
            parts in prop::collection::vec((prop::collection::vec(0u32..3, 1..12), 1usize..9), 1..8),
            least in 2usize..40,
        ) {
            let s: Vec<u32> = parts.iter().flat_map(|(unit, n)| unit.repeat(*n)).take(300).collect();
            let long = |found: Vec<PeriodicRun>| -> Vec<PeriodicRun> {
                found.into_iter().filter(|run| run.length() >= least).collect()
            };
            prop_assert_eq!(long(runs_in(&s, |from, to| to - from >= least)), long(runs_by_definition(&s)));
        }

        #[test]
        fn texts_with_copies_in_them(
            parts in prop::collection::vec((prop::collection::vec(0u32..3, 1..12), 1usize..6), 1..8),
        ) {
            let s: Vec<u32> = parts.iter().flat_map(|(unit, n)| unit.repeat(*n)).take(300).collect();
            prop_assert_eq!(runs(&s), runs_by_definition(&s));
        }
    }
}
