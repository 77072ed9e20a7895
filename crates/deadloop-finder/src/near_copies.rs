//! Finds copies that differ a little, by repeated n-grams.
//!
//! Where enough n-grams recur at one distance, the text is aligned with itself at this distance, in both directions.

use std::hash::{BuildHasher, RandomState};

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

use super::alignment::{AlignmentExtent, AlignmentLimits, align};
use super::views::{NumberChange, TextStretch, View, view_symbols};

/// The number of symbols of an n-gram. Shorter n-grams recur in any text, and longer ones are broken by every changed
/// word.
const GRAM: usize = 12;
/// The minimum number of consecutive n-grams that recur at one distance: `SEED.0`, and one more for every `SEED.1`
/// symbols of distance. Distant text matches more often by chance.
const SEED: (usize, usize) = (4, 16);
/// The maximum number of n-grams that the distance adds to `SEED.0`.
const MAX_EXTRA: usize = 20;
/// The number of symbols at each end of an alignment that must match.
const ANCHOR: usize = 3;
/// The maximum number of unaligned symbols, a word or two, at the end of the text after a cut copy.
const MAX_CUT: usize = 16;

/// Copies that differ a little.
#[derive(Clone, Copy, Debug)]
pub(super) struct NearCopies {
    pub(super) stretch: TextStretch,
    /// The share of the aligned symbols that match, from 0 to 1.
    pub(super) likeness: f64,
}

/// Finds the stretches of at least `length` chars and `copies` copies that differ a little. The stretches are
/// disjoint and in order.
pub(super) fn find_near_copies(text: &[char], copies: f64, length: usize) -> Vec<NearCopies> {
    let (symbols, starts) = view_symbols(View::Near, text);
    let reversed: Vec<u32> = symbols.iter().rev().copied().collect();
    let start_of = |index: usize| starts.get(index).copied().unwrap_or(text.len());
    let mut found = Vec::new();
    // The end of the last reported stretch, and the end and the distance of the last alignment.
    let (mut found_end, mut last_tried) = (0, (0, 0));
    for (second, gap) in find_seeds(&symbols) {
        let again = second < last_tried.0 && gap.abs_diff(last_tried.1) <= band(gap);
        if second < found_end || again {
            continue;
        }
        let aligned = Alignment::new(&symbols, &reversed, (second - gap, second));
        last_tried = (aligned.second.1, gap);
        let near = aligned.to_near_copies(start_of);
        let s = &near.stretch;
        if s.length() >= length && s.copies >= copies {
            found_end = aligned.second.1;
            found.push(near);
        }
    }
    found
}

/// Returns the maximum number of symbols by which the length of copies at distance `gap` may change.
fn band(gap: usize) -> usize {
    (gap / 3).min(100)
}

/// Returns the positions from which enough consecutive n-grams recur at one distance, with this distance.
fn find_seeds(symbols: &[u32]) -> Vec<(usize, usize)> {
    // The latest position of each n-gram.
    let mut last: HashTable<usize> = HashTable::with_capacity(symbols.len());
    let mut found = Vec::new();
    let mut row = (0, 0);
    for (at, hash) in hashes(symbols).enumerate() {
        let gram = |at: usize| &symbols[at..at + GRAM];
        let same = |before: &usize| gram(*before) == gram(at);
        // The table has room for all n-grams, so it never grows and never hashes again.
        let gap = match last.entry(hash, same, |_| hash) {
            Entry::Occupied(mut before) => at - std::mem::replace(before.get_mut(), at),
            Entry::Vacant(none) => {
                none.insert(at);
                0
            }
        };
        row = match row {
            (same, count) if same == gap => (gap, count + 1),
            _ => (gap, 1),
        };
        let seed = SEED.0 + (gap / SEED.1).min(MAX_EXTRA);
        if row.1 == seed && gap >= GRAM {
            found.push((at + 1 - seed, gap));
        }
    }
    found
}

/// Returns the rolling hash of each n-gram (Rabin and Karp). The base is random, so that no text can provoke
/// collisions.
fn hashes(symbols: &[u32]) -> impl Iterator<Item = u64> {
    let base = RandomState::new().hash_one(GRAM) | 1;
    let next = move |sum: u64, symbol: u32| sum.wrapping_mul(base).wrapping_add(u64::from(symbol));
    let whole = (1..GRAM).fold(1u64, |power, _| power.wrapping_mul(base));
    let begun = symbols.iter().take(GRAM - 1);
    let mut sum = begun.fold(0, |sum, symbol| next(sum, *symbol));
    symbols.windows(GRAM).map(move |gram| {
        let full = next(sum, gram[GRAM - 1]);
        sum = full.wrapping_sub(whole.wrapping_mul(u64::from(gram[0])));
        // The table uses the highest and the lowest bits.
        let mixed = (full ^ (full >> 32)).wrapping_mul(base);
        mixed ^ (mixed >> 29)
    })
}

/// Two aligned parts of one text. The ranges are in symbols.
struct Alignment {
    first: (usize, usize),
    second: (usize, usize),
    differences: usize,
}

impl Alignment {
    /// Aligns the text around two similar positions, in both directions.
    fn new(symbols: &[u32], reversed: &[u32], (first, second): (usize, usize)) -> Self {
        let gap = second - first;
        let limits = AlignmentLimits {
            drop: (gap as i64).clamp(40, 80),
            band: band(gap),
            anchor: ANCHOR,
        };
        let ahead: AlignmentExtent = align(&symbols[first..], &symbols[second..], limits);
        let before = |at: usize| &reversed[symbols.len() - at..];
        let back = align(before(first), before(second), limits);
        let mut end = second + ahead.b;
        if ahead.second_ended && symbols.len() - end <= MAX_CUT {
            end = symbols.len();
        }
        Self {
            first: (first - back.a, first + ahead.a),
            second: (second - back.b, end),
            differences: back.differences + ahead.differences,
        }
    }

    fn to_near_copies(&self, start_of: impl Fn(usize) -> usize) -> NearCopies {
        let symbols = self.second.1 - self.second.0;
        let (begins, ends) = (self.second.0 - self.first.0, self.second.1 - self.first.1);
        let period = begins.midpoint(ends).max(1);
        NearCopies {
            stretch: TextStretch {
                view: View::Near,
                start: start_of(self.first.0),
                onset: start_of(self.second.0),
                end: start_of(self.second.1),
                copies: symbols as f64 / period as f64 + 1.0,
                numbers: NumberChange::Same,
            },
            likeness: 1.0 - (self.differences as f64 / symbols.max(1) as f64).min(1.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::{prop, prop_assert_eq, proptest};

    const BEFORE: &str = "The lighthouse was sold to a painter, who never went up. ";

    fn near_in(text: &str) -> Vec<NearCopies> {
        let chars: Vec<char> = text.chars().collect();
        find_near_copies(&chars, 2.5, 100)
    }

    fn suspects(names: &[&str]) -> String {
        let say =
            |name: &&str| format!("Suppose {name} took the key; then the note was left here. ");
        names.iter().map(say).collect()
    }

    /// Finds the seeds with a map of slices instead of hashes.
    fn seeds_by_slices(symbols: &[u32]) -> Vec<(usize, usize)> {
        let mut last: std::collections::HashMap<&[u32], usize> = std::collections::HashMap::new();
        let grams = symbols.windows(GRAM).enumerate();
        let gaps: Vec<usize> = grams
            .map(|(at, gram)| last.insert(gram, at).map_or(0, |before| at - before))
            .collect();
        let row = |at: usize| {
            let before = gaps[..=at].iter().rev();
            before.take_while(|gap| **gap == gaps[at]).count()
        };
        let seed = |gap: usize| SEED.0 + (gap / SEED.1).min(MAX_EXTRA);
        let ends = (0..gaps.len()).filter(|at| gaps[*at] >= GRAM && row(*at) == seed(gaps[*at]));
        ends.map(|at| (at + 1 - seed(gaps[at]), gaps[at])).collect()
    }

    proptest! {
        #[test]
        fn seeds_are_those_of_a_map_of_slices(
            parts in prop::collection::vec((prop::collection::vec(0u32..3, 1..40), 1usize..5), 0..9),
        ) {
            let s: Vec<u32> = parts.iter().flat_map(|(unit, n)| unit.repeat(*n)).collect();
            prop_assert_eq!(find_seeds(&s), seeds_by_slices(&s));
        }
    }

    #[test]
    fn copies_that_differ_in_a_name_are_one_stretch_to_the_end() {
        let names = [
            "Mira",
            "the gardener",
            "Tom",
            "old Mrs Lund",
            "Tom",
            "her brother",
        ];
        let text = format!("{BEFORE}{}Suppose the car", suspects(&names));
        let found = near_in(&text);
        let [one] = &found[..] else {
            panic!("{found:?}")
        };
        let s = &one.stretch;
        // The start of the sentence is found later, so a difference this early may be left out here.
        assert!(s.start.abs_diff(BEFORE.len()) <= 13, "{s:?}");
        assert!(
            (5.0..=7.5).contains(&s.copies) && s.end == text.len(),
            "{s:?}"
        );
        assert!((0.75..0.95).contains(&one.likeness), "{one:?}");
    }

    #[test]
    fn it_ends_where_the_text_goes_on_to_something_else() {
        let names = ["Mira", "Tom", "Lund", "Kim", "Ana"];
        let after = "Nobody had seen the second boat, which is why it was still there in spring.";
        let looped = suspects(&names);
        let found = near_in(&format!("{BEFORE}{looped}{after}"));
        assert_eq!(found.len(), 1, "{found:?}");
        let end = BEFORE.len() + looped.len();
        assert!(found[0].stretch.end.abs_diff(end) <= 2, "{found:?}");
    }

    #[test]
    fn unique_and_short_texts_have_no_copies() {
        assert!(near_in("").is_empty());
        assert!(near_in(BEFORE).is_empty());
        assert!(near_in(&suspects(&["Mira", "Tom"])).is_empty());
    }
}
