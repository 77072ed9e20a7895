//! Transcripts that are almost the same text, found without comparing each with each.
//!
//! A text is a set of [`Shingles`], all its pieces of twelve chars; two texts are as alike as their
//! sets: what both have, of what either has (Jaccard). A [`Sketch`] of a set is short and estimates
//! that (MinHash; Broder 1997), and texts whose sketches agree in a band of rows are worth a look
//! ([`alike`]; locality-sensitive hashing, Indyk and Motwani 1998). So the time grows with the
//! corpus, not with its square.
//!
//! A text that is wholly part of a longer one is not found, unless the longer one is little longer: what both
//! have is little of what either has. Containment would find it, but buckets of sketches do not: a sketch says how
//! alike two sets are, and two texts of one prompt at two token limits, which is where containment comes from, have one
//! group as a rule, so that folds and splits keep them together.

use std::collections::BTreeMap;

use crate::{Body, Transcript};

/// Chars of a shingle. Long enough that two texts on one subject share few, short enough that a
/// changed word costs few.
const SHINGLE: usize = 12;
/// Rows of a band: all must agree.
const ROWS: usize = 6;
/// Bands of a sketch: one must agree. Texts 80 % alike are found with probability
/// 1 - (1 - 0.8^6)^20 = 0.998; those 50 % alike cost a comparison in one case of four.
const BANDS: usize = 20;
/// Texts of a bucket that the others are compared with, at most; bounds the work where many unlike
/// texts share a band.
const LEADERS: usize = 16;

/// The distinct shingles of a text, as hashes. Case, kinds of white space and what is written how
/// often do not matter, so a loop of five copies equals one of fifty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shingles(Vec<u64>);

impl Shingles {
    /// The shingles of all that a transcript says: reasoning, answer, calls of tools and results.
    pub fn of(transcript: &Transcript) -> Self {
        let tools = transcript.events.iter().filter_map(|event| {
            Some(match &event.body {
                Body::ToolCall {
                    name, arguments, ..
                } => format!("{name} {arguments}"),
                Body::ToolResult { content, .. } => content.clone(),
                _ => return None,
            })
        });
        let texts = [transcript.reasoning(), transcript.answer()];
        Self::of_texts(texts.into_iter().chain(tools))
    }

    fn of_texts(texts: impl Iterator<Item = String>) -> Self {
        let mut hashes: Vec<u64> = Vec::new();
        for text in texts {
            add(&folded(&text), &mut hashes);
        }
        hashes.sort_unstable();
        hashes.dedup();
        hashes.shrink_to_fit();
        Self(hashes)
    }

    /// What both have, of what either has: from 0 to 1; 0 for two empty sets, which say nothing.
    pub fn alike(&self, other: &Self) -> f64 {
        let (mut a, mut b, mut both) = (0, 0, 0);
        while let (Some(x), Some(y)) = (self.0.get(a), other.0.get(b)) {
            a += usize::from(x <= y);
            b += usize::from(y <= x);
            both += usize::from(x == y);
        }
        let either = self.0.len() + other.0.len() - both;
        if either == 0 {
            0.0
        } else {
            both as f64 / either as f64
        }
    }

    /// The sketch of the set; none of an empty one.
    pub fn sketch(&self) -> Option<Sketch> {
        if self.0.is_empty() {
            return None;
        }
        let mut least = vec![u32::MAX; ROWS * BANDS];
        for hash in &self.0 {
            for (row, least) in least.iter_mut().enumerate() {
                *least = (*least).min(row_hash(row, *hash));
            }
        }
        Some(Sketch(least))
    }
}

/// The smallest hash of a set under each of 120 hash functions. Two sets agree in a row with the
/// probability that is their likeness.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sketch(Vec<u32>);

impl Sketch {
    /// The share of rows that agree: an estimate of [`Shingles::alike`], off by 0.05 or less in
    /// four cases of five.
    pub fn alike(&self, other: &Self) -> f64 {
        let agree = self.0.iter().zip(&other.0).filter(|(a, b)| a == b).count();
        agree as f64 / self.0.len() as f64
    }
}

/// Pairs of sketched texts that are at least so much `alike` by the measure given, by their places
/// in `sketches`. Not every such pair, but enough to join all that belong together: a text is
/// compared with the first ones of each bucket that it falls in, until it is joined.
pub fn alike(
    sketches: &[Option<Sketch>],
    least: f64,
    alike: impl Fn(usize, usize) -> f64,
) -> Vec<Pair> {
    let mut joined = Joined::of(sketches.len());
    let mut pairs = Vec::new();
    for band in 0..BANDS {
        for bucket in buckets(sketches, band) {
            let mut leaders: Vec<usize> = Vec::new();
            for member in bucket {
                if leaders.iter().any(|leader| joined.same(*leader, member)) {
                    continue;
                }
                let mut found = leaders.iter().map(|leader| Pair {
                    first: *leader,
                    second: member,
                    alike: alike(*leader, member),
                });
                match found.find(|pair| pair.alike >= least) {
                    Some(pair) => {
                        joined.join(pair.first, pair.second);
                        pairs.push(pair);
                    }
                    None if leaders.len() < LEADERS => leaders.push(member),
                    None => {}
                }
            }
        }
    }
    pairs
}

/// Two texts that are alike, by their places, and how much.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pair {
    /// One of them.
    pub first: usize,
    /// The other.
    pub second: usize,
    /// From 0 to 1.
    pub alike: f64,
}

/// Texts that pairs join together.
#[derive(Clone, Debug, PartialEq)]
pub struct Cluster {
    /// Their places, in order.
    pub members: Vec<usize>,
    /// The least likeness of the pairs that join them.
    pub least: f64,
}

/// The clusters that `pairs` make among `count` texts, in the order of their first members.
pub fn clusters(count: usize, pairs: &[Pair]) -> Vec<Cluster> {
    let mut joined = Joined::of(count);
    pairs
        .iter()
        .for_each(|pair| joined.join(pair.first, pair.second));
    let mut found: BTreeMap<usize, Cluster> = BTreeMap::new();
    for place in 0..count {
        let empty = Cluster {
            members: Vec::new(),
            least: 1.0,
        };
        let root = joined.root(place);
        found.entry(root).or_insert(empty).members.push(place);
    }
    for pair in pairs {
        if let Some(cluster) = found.get_mut(&joined.root(pair.first)) {
            cluster.least = cluster.least.min(pair.alike);
        }
    }
    let mut clusters: Vec<Cluster> = found.into_values().collect();
    clusters.retain(|cluster| cluster.members.len() > 1);
    clusters
}

/// Texts whose sketches agree in a band: those with company, in their order.
fn buckets(sketches: &[Option<Sketch>], band: usize) -> Vec<Vec<usize>> {
    let mut buckets: BTreeMap<&[u32], Vec<usize>> = BTreeMap::new();
    for (place, sketch) in sketches.iter().enumerate() {
        if let Some(Sketch(rows)) = sketch {
            let rows = &rows[band * ROWS..(band + 1) * ROWS];
            buckets.entry(rows).or_default().push(place);
        }
    }
    buckets.into_values().filter(|b| b.len() > 1).collect()
}

/// Which texts were joined so far (union-find; the smallest place is the root).
struct Joined(Vec<usize>);

impl Joined {
    fn of(count: usize) -> Self {
        Self((0..count).collect())
    }

    fn root(&mut self, mut place: usize) -> usize {
        while self.0[place] != place {
            self.0[place] = self.0[self.0[place]];
            place = self.0[place];
        }
        place
    }

    fn same(&mut self, a: usize, b: usize) -> bool {
        self.root(a) == self.root(b)
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.root(a), self.root(b));
        self.0[a.max(b)] = a.min(b);
    }
}

/// Lower case, every run of white space one blank.
fn folded(text: &str) -> Vec<char> {
    let mut chars = Vec::with_capacity(text.len());
    for char in text.chars() {
        if !char.is_whitespace() {
            chars.extend(char.to_lowercase());
        } else if chars.last() != Some(&' ') {
            chars.push(' ');
        }
    }
    chars
}

/// The hashes of all shingles of a text; a text shorter than one is one.
fn add(text: &[char], hashes: &mut Vec<u64>) {
    let width = SHINGLE.min(text.len());
    if width == 0 {
        return;
    }
    // Polynomial in an odd factor, so that the char that leaves can be taken off.
    const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;
    let leaving = FACTOR.wrapping_pow(width as u32);
    let mut rolling: u64 = 0;
    for (i, char) in text.iter().enumerate() {
        rolling = rolling
            .wrapping_mul(FACTOR)
            .wrapping_add(u64::from(*char) + 1);
        if i >= width {
            let left = u64::from(text[i - width]) + 1;
            rolling = rolling.wrapping_sub(left.wrapping_mul(leaving));
        }
        if i + 1 >= width {
            hashes.push(mixed(rolling));
        }
    }
}

/// The hash function of a row: multiply-shift (Dietzfelbinger et al. 1997) with a factor of its own.
fn row_hash(row: usize, hash: u64) -> u32 {
    let factor = mixed(row as u64 + 1) | 1;
    (hash.wrapping_mul(factor) >> 32) as u32
}

/// A bijection whose every output bit depends on every input bit (the finisher of SplitMix64).
const fn mixed(x: u64) -> u64 {
    let x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn shingles(text: &str) -> Shingles {
        Shingles::of_texts(std::iter::once(text.to_owned()))
    }

    /// The definition: sets of strings.
    fn slow(a: &str, b: &str) -> f64 {
        let set = |text: &str| -> BTreeSet<String> {
            let text = folded(text);
            let width = SHINGLE.min(text.len()).max(1);
            text.windows(width).map(|w| w.iter().collect()).collect()
        };
        let (a, b) = (set(a), set(b));
        let either = a.union(&b).count();
        if either == 0 {
            0.0
        } else {
            a.intersection(&b).count() as f64 / either as f64
        }
    }

    /// So many different sentences from `seed` on.
    fn text(seed: u64, sentences: u64) -> String {
        let sentence = |n: u64| format!("{:x} {:x}. ", mixed(seed * 1000 + n), mixed(n * 7 + seed));
        (0..sentences).map(sentence).collect()
    }

    #[test]
    fn case_white_space_and_the_number_of_copies_do_not_matter() {
        let one = "Wait, let me check the roads. ";
        assert_eq!(shingles(&one.repeat(5)), shingles(&one.repeat(50)));
        assert_eq!(shingles("A b\n\nc"), shingles("a  B c"));
        assert_eq!(shingles("").alike(&shingles("")), 0.0);
        assert!(shingles("").sketch().is_none());
        assert_eq!(shingles("ok").alike(&shingles("OK")), 1.0);
    }

    #[test]
    fn the_sketch_estimates_the_likeness() {
        for changed in [0, 10, 25, 50, 100] {
            let a = text(1, 100);
            let b = text(1, 100 - changed) + &text(2, changed);
            let (a, b) = (shingles(&a), shingles(&b));
            let (Some(x), Some(y)) = (a.sketch(), b.sketch()) else {
                panic!("not empty")
            };
            let off = (a.alike(&b) - x.alike(&y)).abs();
            assert!(off < 0.15, "{changed}: {off}");
        }
    }

    #[test]
    fn near_duplicates_are_joined_and_others_not() {
        // Every text of ten comes again with three of its 100 sentences changed.
        let texts: Vec<String> = (0..300)
            .map(|i| match i % 10 {
                9 => text(i - 9, 97) + &text(i + 5000, 3),
                _ => text(i, 100),
            })
            .collect();
        let sets: Vec<Shingles> = texts.iter().map(|text| shingles(text)).collect();
        let sketches: Vec<_> = sets.iter().map(Shingles::sketch).collect();
        let pairs = alike(&sketches, 0.8, |a, b| sets[a].alike(&sets[b]));
        let clusters = clusters(sets.len(), &pairs);
        let members: Vec<_> = clusters.iter().map(|c| c.members.clone()).collect();
        let expected: Vec<_> = (0..30).map(|n| vec![10 * n, 10 * n + 9]).collect();
        assert_eq!(members, expected);
        assert!(clusters.iter().all(|c| (0.8..1.0).contains(&c.least)));
    }

    #[test]
    fn many_copies_cost_a_comparison_each() {
        let sketch = shingles(&text(1, 50)).sketch();
        let sketches = vec![sketch; 5000];
        let compared = std::cell::Cell::new(0);
        let pairs = alike(&sketches, 0.8, |_, _| {
            compared.set(compared.get() + 1);
            1.0
        });
        assert_eq!((pairs.len(), compared.get()), (4999, 4999));
        assert_eq!(clusters(5000, &pairs)[0].members.len(), 5000);
    }

    proptest! {
        #[test]
        fn likeness_is_that_of_the_sets(a in "[ab \n]{0,60}", b in "[ab \n]{0,60}", cut in 0_usize..60) {
            let near = format!("{}{b}", a.chars().take(cut).collect::<String>());
            prop_assert_eq!(shingles(&a).alike(&shingles(&near)), slow(&a, &near));
        }
    }
}
