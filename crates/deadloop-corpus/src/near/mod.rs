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
/// Shingles that are kept of a text, at most: a likeness that half of them estimate is off by 0.001 at most, as a rule.
const SAMPLE: usize = 1 << 22;

/// The distinct shingles of a text, as hashes. Case, kinds of white space and what is written how
/// often do not matter, so a loop of five copies equals one of fifty.
///
/// Of a text with more than four million distinct ones, those with the least hashes stand for all (a sample by hash;
/// Broder 1997), so that a text of any length takes at most 64 MB.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shingles {
    /// In order, each once.
    hashes: Vec<u64>,
    /// Hashes up to this are kept.
    most: u64,
}

impl Shingles {
    /// The shingles of all that a transcript says: reasoning, answer, calls of tools and results.
    pub fn of(transcript: &Transcript) -> Self {
        Self::of_texts(texts(transcript), SAMPLE)
    }

    fn of_texts(texts: impl Iterator<Item = String>, sample: usize) -> Self {
        let mut set = Self {
            hashes: Vec::new(),
            most: u64::MAX,
        };
        // A loop of a million copies has few shingles: what is there twice is dropped whenever as much has come
        // as there was.
        let mut distinct = 0;
        // Of the hashes with the same low bits, the one that came last, so that most of what a loop repeats is left out at
        // once; at first one that has others, so that none is known.
        let mut lately: Vec<u64> = (0..LATELY as u64).map(|place| !place).collect();
        for text in texts {
            shingles(folded(&text), |hash| {
                let known = &mut lately[hash as usize % LATELY];
                if *known == hash || hash > set.most {
                    return;
                }
                *known = hash;
                set.hashes.push(hash);
                if set.hashes.len() > 2 * distinct + SPARE {
                    set.tidy(sample);
                    distinct = set.hashes.len();
                }
            });
        }
        set.tidy(sample);
        set.hashes.shrink_to_fit();
        set
    }

    /// In order and each once; of more than `sample`, those with the least hashes.
    fn tidy(&mut self, sample: usize) {
        self.hashes.sort_unstable();
        self.hashes.dedup();
        while self.hashes.len() > sample {
            self.most /= 2;
            self.hashes.truncate(self.up_to(self.most).len());
        }
    }

    fn up_to(&self, most: u64) -> &[u64] {
        &self.hashes[..self.hashes.partition_point(|hash| *hash <= most)]
    }

    /// What both have, of what either has: from 0 to 1; 0 for two empty sets, which say nothing.
    pub fn alike(&self, other: &Self) -> f64 {
        let most = self.most.min(other.most);
        let (mine, theirs) = (self.up_to(most), other.up_to(most));
        let (mut a, mut b, mut both) = (0, 0, 0);
        while let (Some(x), Some(y)) = (mine.get(a), theirs.get(b)) {
            a += usize::from(x <= y);
            b += usize::from(y <= x);
            both += usize::from(x == y);
        }
        let either = mine.len() + theirs.len() - both;
        if either == 0 {
            0.0
        } else {
            both as f64 / either as f64
        }
    }
}

/// A set of shingles in 120 rows: a shingle's hash says in which row it is, and of each row the least one is kept (one
/// permutation hashing; Li, Owen and Zhang 2012). A row that nothing is in takes what is in another (Shrivastava 2017). So
/// two sets agree in a row with the probability that is their likeness, and a shingle costs one look, not one for each row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sketch(Vec<u32>);

/// What is kept of a row that nothing is in.
const NOTHING: u32 = u32::MAX;

impl Sketch {
    /// The sketch of a transcript's shingles, which are never there all at once; `None` if it says nothing.
    pub fn of(transcript: &Transcript) -> Option<Self> {
        Self::of_texts(texts(transcript))
    }

    fn of_texts(texts: impl Iterator<Item = String>) -> Option<Self> {
        let mut rows = vec![NOTHING; ROWS * BANDS];
        for text in texts {
            shingles(folded(&text), |hash| {
                let least = &mut rows[row(hash)];
                *least = (*least).min(hash as u32);
            });
        }
        let any = rows.iter().any(|least| *least != NOTHING);
        any.then(|| Self((0..rows.len()).map(|row| of_row(&rows, row)).collect()))
    }

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

/// All that a transcript says: reasoning, answer, calls of tools and results.
fn texts(transcript: &Transcript) -> impl Iterator<Item = String> {
    let tools = transcript.events.iter().filter_map(|event| {
        Some(match &event.body {
            Body::ToolCall {
                name, arguments, ..
            } => format!("{name} {arguments}"),
            Body::ToolResult { content, .. } => content.clone(),
            _ => return None,
        })
    });
    let channels = [Transcript::reasoning, Transcript::answer];
    let channels = channels.into_iter().map(|text| text(transcript));
    channels.chain(tools)
}

/// Hashes that may be there besides, before what is there twice is dropped.
const SPARE: usize = 1 << 16;
/// Places for hashes that came lately: few, so that they stay in the cache and a short text does not pay for them.
const LATELY: usize = 1 << 13;

/// Lower case, every run of white space one blank.
fn folded(text: &str) -> impl Iterator<Item = char> {
    let mut blank = false;
    let chars = text.chars().filter_map(move |char| {
        let again = std::mem::replace(&mut blank, char.is_whitespace()) && blank;
        (!again).then_some(if blank { ' ' } else { char })
    });
    chars.flat_map(char::to_lowercase)
}

/// The hashes of all shingles of a text; a text shorter than one is one.
fn shingles(text: impl Iterator<Item = char>, mut found: impl FnMut(u64)) {
    // Polynomial in an odd factor, so that the char that leaves can be taken off.
    const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;
    let leaving = FACTOR.wrapping_pow(SHINGLE as u32);
    let mut rolling: u64 = 0;
    // The chars of the shingle, each at its place in the text modulo the width.
    let mut inside = [0; SHINGLE];
    let mut length = 0;
    // Not a loop: what folds chars hands them out faster than it can be asked for them.
    text.for_each(|char| {
        let value = u64::from(char) + 1;
        let left = std::mem::replace(&mut inside[length % SHINGLE], value);
        // Before the first shingle is full nothing leaves, and what would is 0.
        rolling = rolling
            .wrapping_mul(FACTOR)
            .wrapping_add(value)
            .wrapping_sub(left.wrapping_mul(leaving));
        length += 1;
        if length >= SHINGLE {
            found(mixed(rolling));
        }
    });
    if (1..SHINGLE).contains(&length) {
        found(mixed(rolling));
    }
}

/// The row of a shingle, by the high half of its hash.
fn row(hash: u64) -> usize {
    (((hash >> 32) * (ROWS * BANDS) as u64) >> 32) as usize
}

/// What is in a row; of one that nothing is in, what is in the first other that is not, in an order of its own, which is the
/// same for every set. Some row has something.
fn of_row(rows: &[u32], number: usize) -> u32 {
    let others = (1..).map(|nth| rows[row(mixed((number as u64) << 32 | nth))]);
    let mut all = std::iter::once(rows[number]).chain(others);
    all.find(|least| *least != NOTHING).unwrap_or(NOTHING)
}

/// A bijection whose every output bit depends on every input bit (the finisher of SplitMix64).
const fn mixed(x: u64) -> u64 {
    let x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests;
