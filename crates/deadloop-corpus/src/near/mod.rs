//! Finds near-duplicate transcripts without comparing all pairs.
//!
//! A text is a set of [`Shingles`], which are all its pieces of twelve chars. The likeness of two texts is the
//! Jaccard index of their sets. A [`Sketch`] of a set is short and estimates that index (MinHash; Broder 1997). Texts
//! whose sketches agree in a band of rows are compared ([`alike`]; locality-sensitive hashing, Indyk and Motwani
//! 1998). So the time grows with the size of the corpus, not with its square.
//!
//! A text that is contained in a much longer one is not found, since their Jaccard index is small. Containment would
//! find it, but buckets of sketches only work for likeness. In practice, containment comes from two texts of one
//! prompt at two token limits. These usually have one group, so that folds and splits keep them together.

use std::collections::BTreeMap;

use crate::{Body, Transcript};

/// The length of a shingle, in chars. It is long enough that two texts on one subject share few shingles, and short
/// enough that a changed word affects few.
const SHINGLE: usize = 12;
/// The number of rows of a band. All of them must agree.
const ROWS: usize = 6;
/// The number of bands of a sketch. One of them must agree. Texts 80 % alike are found with probability 1 - (1 -
/// 0.8^6)^20 = 0.998. Texts 50 % alike cost a comparison in one case of four.
const BANDS: usize = 20;
/// The maximum number of texts of a bucket that the others are compared with. It limits the work if many unlike texts
/// share a band.
const LEADERS: usize = 16;
/// The maximum number of shingles kept of a text. A likeness estimated from half of them is usually off by at most
/// 0.001.
const SAMPLE: usize = 1 << 22;

/// The distinct shingles of a text, as hashes. Case, kinds of white space and the number of repetitions do not
/// matter, so a loop of five copies equals one of fifty.
///
/// For a text with more than four million distinct shingles, those with the smallest hashes represent all (a sample
/// by hash; Broder 1997). So a text of any length takes at most 64 MB.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shingles {
    /// The hashes, sorted and distinct.
    hashes: Vec<u64>,
    /// The largest hash that is kept.
    most: u64,
}

impl Shingles {
    /// Returns the shingles of a transcript's whole text: reasoning, answer, tool calls and results.
    pub fn from_transcript(transcript: &Transcript) -> Self {
        Self::of_texts(texts(transcript), SAMPLE)
    }

    fn of_texts(texts: impl Iterator<Item = String>, sample: usize) -> Self {
        let mut set = Self {
            hashes: Vec::new(),
            most: u64::MAX,
        };
        // A loop of a million copies has few shingles. Duplicates are dropped whenever the number of hashes has
        // doubled.
        let mut distinct = 0;
        // The latest hash for each value of the low bits. It filters most repeated hashes at once. At first each
        // place holds a hash with other low bits, which matches nothing.
        let mut lately: Vec<u64> = (0..LATELY as u64).map(|place| !place).collect();
        for text in texts {
            shingles(fold_text(&text), |hash| {
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

    /// Sorts the hashes, removes duplicates, and keeps the smallest if there are more than `sample`.
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

    /// Returns the Jaccard index of two sets, from 0 to 1. The index of two empty sets is 0, since they carry no
    /// information.
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

/// A sketch of a set of shingles, with 120 rows. The hash of a shingle selects the row, and each row keeps its smallest
/// hash (one permutation hashing; Li, Owen and Zhang 2012). An empty row takes the content of another (Shrivastava
/// 2017). So two sets agree in a row with a probability equal to their likeness. Each shingle costs a single step, not
/// a step for each row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sketch(Vec<u32>);

/// The value of an empty row.
const NOTHING: u32 = u32::MAX;

impl Sketch {
    /// Returns the sketch of a transcript's shingles, which are never all in memory. `None` if the transcript has no
    /// text.
    pub fn from_transcript(transcript: &Transcript) -> Option<Self> {
        Self::of_texts(texts(transcript))
    }

    fn of_texts(texts: impl Iterator<Item = String>) -> Option<Self> {
        let mut rows = vec![NOTHING; ROWS * BANDS];
        for text in texts {
            shingles(fold_text(&text), |hash| {
                let least = &mut rows[row(hash)];
                *least = (*least).min(hash as u32);
            });
        }
        let any = rows.iter().any(|least| *least != NOTHING);
        any.then(|| Self((0..rows.len()).map(|row| of_row(&rows, row)).collect()))
    }

    /// Returns the share of rows that agree. It estimates [`Shingles::alike`], with an error of 0.05 or less in four
    /// cases of five.
    pub fn alike(&self, other: &Self) -> f64 {
        let agree = self.0.iter().zip(&other.0).filter(|(a, b)| a == b).count();
        agree as f64 / self.0.len() as f64
    }
}

/// Returns pairs of sketched texts whose likeness by the given measure is at least `least`. Texts are named by their
/// index in `sketches`. Not all such pairs are returned, but enough to join all texts that belong together: a text is
/// compared with the first texts of each of its buckets until it is joined.
pub fn alike(
    sketches: &[Option<Sketch>],
    least: f64,
    alike: impl Fn(usize, usize) -> f64,
) -> Vec<NearPair> {
    let mut joined = UnionFind::new(sketches.len());
    let mut pairs = Vec::new();
    for band in 0..BANDS {
        for bucket in buckets(sketches, band) {
            let mut leaders: Vec<usize> = Vec::new();
            for member in bucket {
                if leaders.iter().any(|leader| joined.same(*leader, member)) {
                    continue;
                }
                let mut found = leaders.iter().map(|leader| NearPair {
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

/// Two texts that are alike, by their indices, and their likeness.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NearPair {
    /// The index of one text.
    pub first: usize,
    /// The index of the other text.
    pub second: usize,
    /// The likeness, from 0 to 1.
    pub alike: f64,
}

/// A group of texts that are joined by pairs.
#[derive(Clone, Debug, PartialEq)]
pub struct Cluster {
    /// The indices of the texts, in order.
    pub members: Vec<usize>,
    /// The smallest likeness of the pairs that join them.
    pub least: f64,
}

/// Returns the clusters that `pairs` form among `count` texts, in the order of their first members.
pub fn clusters(count: usize, pairs: &[NearPair]) -> Vec<Cluster> {
    let mut joined = UnionFind::new(count);
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

/// Returns the groups of texts whose sketches agree in a band, each with at least two texts, in order.
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

/// The texts joined so far (union-find; the smallest index is the root).
struct UnionFind(Vec<usize>);

impl UnionFind {
    fn new(count: usize) -> Self {
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

/// Returns the texts of a transcript: reasoning, answer, tool calls and results.
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

/// The number of further hashes that may be kept before duplicates are dropped.
const SPARE: usize = 1 << 16;
/// The number of latest hashes that are remembered. The number is small, so that the hashes stay in the cache and cost
/// little for a short text.
const LATELY: usize = 1 << 13;

/// Returns the text in lower case, with each run of white space as one blank.
fn fold_text(text: &str) -> impl Iterator<Item = char> {
    let mut blank = false;
    let chars = text.chars().filter_map(move |char| {
        let again = std::mem::replace(&mut blank, char.is_whitespace()) && blank;
        (!again).then_some(if blank { ' ' } else { char })
    });
    chars.flat_map(char::to_lowercase)
}

/// Calls `found` with the hash of each shingle of a text. A shorter text is one shingle.
fn shingles(text: impl Iterator<Item = char>, mut found: impl FnMut(u64)) {
    // The hash is a polynomial in an odd factor, so that the char that leaves can be subtracted.
    const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;
    let leaving = FACTOR.wrapping_pow(SHINGLE as u32);
    let mut rolling: u64 = 0;
    // The chars of the shingle, each at its index in the text modulo the width.
    let mut inside = [0; SHINGLE];
    let mut length = 0;
    // `for_each` is faster than a loop here, since the folding iterator hands out chars faster from inside.
    text.for_each(|char| {
        let value = u64::from(char) + 1;
        let left = std::mem::replace(&mut inside[length % SHINGLE], value);
        // Until the first shingle is full, no char leaves and the subtracted value is 0.
        rolling = rolling
            .wrapping_mul(FACTOR)
            .wrapping_add(value)
            .wrapping_sub(left.wrapping_mul(leaving));
        length += 1;
        if length >= SHINGLE {
            found(mix(rolling));
        }
    });
    if (1..SHINGLE).contains(&length) {
        found(mix(rolling));
    }
}

/// Returns the row of a shingle, by the high half of its hash.
fn row(hash: u64) -> usize {
    (((hash >> 32) * (ROWS * BANDS) as u64) >> 32) as usize
}

/// Returns the content of a row. For an empty row, it is the content of the first row that is not empty, in an order
/// that depends on the row and is the same for every set. At least one row must not be empty.
fn of_row(rows: &[u32], number: usize) -> u32 {
    let others = (1..).map(|nth| rows[row(mix((number as u64) << 32 | nth))]);
    let mut all = std::iter::once(rows[number]).chain(others);
    all.find(|least| *least != NOTHING).unwrap_or(NOTHING)
}

/// A bijection in which every output bit depends on every input bit (the finisher of SplitMix64).
const fn mix(x: u64) -> u64 {
    let x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests;
