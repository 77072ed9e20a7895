//! Finds near-duplicate transcripts without comparing all pairs.
//!
//! [`Shingles`] are the set of all twelve-char substrings of a text. The likeness of two texts is the Jaccard index of their
//! sets, which short [`Sketch`]es estimate (MinHash; Broder 1997). [`find_pairs`] compares texts whose sketches agree in a
//! band of rows (locality-sensitive hashing; Indyk and Motwani 1998). So the time grows with the size of the corpus, not
//! with its square.
//!
//! A text that is contained in a much longer one is not found, since their Jaccard index is small. In practice, such texts
//! come from one prompt at two token limits. They usually have the same group, so that folds and splits keep them together.

use std::collections::BTreeMap;

use crate::{Body, Transcript};

/// The length of a shingle, in chars. Texts on the same subject share few shingles of this length, and a changed word
/// affects few of them.
const SHINGLE_CHARS: usize = 12;
/// The number of rows in a band. Two sketches agree in a band if all its rows agree.
const ROWS_PER_BAND: usize = 6;
/// The number of bands in a sketch. Two texts are compared if any band agrees.
///
/// Texts with a likeness of 0.8 are found with probability 1 - (1 - 0.8^6)^20 = 0.998. Texts with a likeness of 0.5 are
/// compared in one case of four.
const BANDS_PER_SKETCH: usize = 20;
/// The maximum number of texts per bucket with which other texts are compared. It limits the work if many unlike texts
/// share a band.
const MAX_LEADERS: usize = 16;
/// The maximum number of stored shingles per text. If half of the shingles are stored, the likeness is usually off by
/// at most 0.001.
const MAX_SHINGLES: usize = 1 << 22;

/// The distinct shingles of a text, as hashes. Case, kinds of whitespace and repetitions are ignored, so a loop of five
/// copies equals one of fifty.
///
/// Of a text with more than four million distinct shingles, only those with the smallest hashes are stored (a max_hashes by
/// hash; Broder 1997). So a text of any length takes at most 64 MB.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shingles {
    /// Hashes, sorted and distinct.
    hashes: Vec<u64>,
    /// Upper bound of the stored hashes.
    max_hash: u64,
}

impl Shingles {
    /// Computes the shingles of a transcript's whole text: reasoning, answer, tool calls and results.
    pub fn from_transcript(transcript: &Transcript) -> Self {
        Self::from_texts(transcript_texts(transcript), MAX_SHINGLES)
    }

    fn from_texts(texts: impl Iterator<Item = String>, max_hashes: usize) -> Self {
        let mut set = Self {
            hashes: Vec::new(),
            max_hash: u64::MAX,
        };
        // A loop of a million copies has few shingles. Duplicates are dropped whenever the number of hashes has
        // doubled.
        let mut distinct = 0;
        // The latest hash for each value of the low bits. It filters most repeated hashes at once. Initially,
        // each element has other low bits, so that it matches nothing.
        let mut recent: Vec<u64> = (0..RECENT_HASHES as u64).map(|index| !index).collect();
        for text in texts {
            for_each_shingle(fold_text(&text), |hash| {
                let known = &mut recent[hash as usize % RECENT_HASHES];
                if *known == hash || hash > set.max_hash {
                    return;
                }
                *known = hash;
                set.hashes.push(hash);
                if set.hashes.len() > 2 * distinct + SPARE_HASHES {
                    set.keep_smallest(max_hashes);
                    distinct = set.hashes.len();
                }
            });
        }
        set.keep_smallest(max_hashes);
        set.hashes.shrink_to_fit();
        set
    }

    /// Sorts the hashes and removes duplicates. Keeps only the `max_hashes` smallest ones.
    fn keep_smallest(&mut self, max_hashes: usize) {
        self.hashes.sort_unstable();
        self.hashes.dedup();
        while self.hashes.len() > max_hashes {
            self.max_hash /= 2;
            self.hashes.truncate(self.hashes_up_to(self.max_hash).len());
        }
    }

    fn hashes_up_to(&self, max: u64) -> &[u64] {
        &self.hashes[..self.hashes.partition_point(|hash| *hash <= max)]
    }

    /// Returns the Jaccard index of two sets, from 0 to 1. The index of two empty sets is 0.
    pub fn likeness(&self, other: &Self) -> f64 {
        let max = self.max_hash.min(other.max_hash);
        let (mine, theirs) = (self.hashes_up_to(max), other.hashes_up_to(max));
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

/// A MinHash sketch of a set of shingles, with 120 rows.
///
/// A shingle's hash selects a row, and each row keeps its smallest hash (one permutation hashing; Li, Owen and Zhang
/// 2012). An empty row takes the content of another row (Shrivastava 2017). So two sets agree in a row with a
/// probability equal to their likeness, and each shingle costs a single step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sketch(Vec<u32>);

/// The value of an empty row.
const EMPTY_ROW: u32 = u32::MAX;

impl Sketch {
    /// Computes the sketch of a transcript, whose shingles are never all in memory. `None` if the transcript has no
    /// text.
    pub fn from_transcript(transcript: &Transcript) -> Option<Self> {
        Self::from_texts(transcript_texts(transcript))
    }

    fn from_texts(texts: impl Iterator<Item = String>) -> Option<Self> {
        let mut rows = vec![EMPTY_ROW; ROWS_PER_BAND * BANDS_PER_SKETCH];
        for text in texts {
            for_each_shingle(fold_text(&text), |hash| {
                let min_hash = &mut rows[row_of_hash(hash)];
                *min_hash = (*min_hash).min(hash as u32);
            });
        }
        let any = rows.iter().any(|min_hash| *min_hash != EMPTY_ROW);
        any.then(|| Self((0..rows.len()).map(|row| fill_row(&rows, row)).collect()))
    }

    /// Returns the fraction of rows that agree, which estimates [`Shingles::likeness`]. The error is at most 0.05 in
    /// four cases of five.
    pub fn likeness(&self, other: &Self) -> f64 {
        let agree = self.0.iter().zip(&other.0).filter(|(a, b)| a == b).count();
        agree as f64 / self.0.len() as f64
    }
}

/// Returns pairs of sketched texts whose likeness is at least `min_likeness`.
///
/// `likeness` takes the indices of two texts in `sketches`. Not all such pairs are returned, but enough to join all
/// texts of a cluster. A text is compared with the first texts of each of its buckets until one is similar enough.
pub fn find_pairs(
    sketches: &[Option<Sketch>],
    min_likeness: f64,
    likeness: impl Fn(usize, usize) -> f64,
) -> Vec<NearPair> {
    let mut joined = UnionFind::new(sketches.len());
    let mut pairs = Vec::new();
    for band in 0..BANDS_PER_SKETCH {
        for bucket in buckets(sketches, band) {
            let mut leaders: Vec<usize> = Vec::new();
            for member in bucket {
                if leaders
                    .iter()
                    .any(|leader| joined.are_joined(*leader, member))
                {
                    continue;
                }
                let mut found = leaders.iter().map(|leader| NearPair {
                    first: *leader,
                    second: member,
                    likeness: likeness(*leader, member),
                });
                match found.find(|pair| pair.likeness >= min_likeness) {
                    Some(pair) => {
                        joined.join(pair.first, pair.second);
                        pairs.push(pair);
                    }
                    None if leaders.len() < MAX_LEADERS => leaders.push(member),
                    None => {}
                }
            }
        }
    }
    pairs
}

/// Two similar texts, by their indices.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NearPair {
    /// Index of the first text.
    pub first: usize,
    /// Index of the second text.
    pub second: usize,
    /// Likeness of the two texts, from 0 to 1.
    pub likeness: f64,
}

/// A group of near-duplicate texts, joined by pairs of similar texts.
#[derive(Clone, Debug, PartialEq)]
pub struct Cluster {
    /// Indices of the texts, in order.
    pub members: Vec<usize>,
    /// Smallest likeness among the pairs that join the texts.
    pub least: f64,
}

/// Returns the clusters that `pairs` form among `count` texts, ordered by their first members.
pub fn find_clusters(count: usize, pairs: &[NearPair]) -> Vec<Cluster> {
    let mut joined = UnionFind::new(count);
    pairs
        .iter()
        .for_each(|pair| joined.join(pair.first, pair.second));
    let mut found: BTreeMap<usize, Cluster> = BTreeMap::new();
    for index in 0..count {
        let empty = Cluster {
            members: Vec::new(),
            least: 1.0,
        };
        let root = joined.find_root(index);
        found.entry(root).or_insert(empty).members.push(index);
    }
    for pair in pairs {
        if let Some(cluster) = found.get_mut(&joined.find_root(pair.first)) {
            cluster.least = cluster.least.min(pair.likeness);
        }
    }
    let mut clusters: Vec<Cluster> = found.into_values().collect();
    clusters.retain(|cluster| cluster.members.len() > 1);
    clusters
}

/// Groups the texts whose sketches agree in a band. Returns the groups of at least two texts, in order.
fn buckets(sketches: &[Option<Sketch>], band: usize) -> Vec<Vec<usize>> {
    let mut buckets: BTreeMap<&[u32], Vec<usize>> = BTreeMap::new();
    for (index, sketch) in sketches.iter().enumerate() {
        if let Some(Sketch(rows)) = sketch {
            let rows = &rows[band * ROWS_PER_BAND..(band + 1) * ROWS_PER_BAND];
            buckets.entry(rows).or_default().push(index);
        }
    }
    buckets.into_values().filter(|b| b.len() > 1).collect()
}

/// A union-find structure over the texts, whose roots are the smallest indices.
struct UnionFind(Vec<usize>);

impl UnionFind {
    fn new(count: usize) -> Self {
        Self((0..count).collect())
    }

    fn find_root(&mut self, mut index: usize) -> usize {
        while self.0[index] != index {
            self.0[index] = self.0[self.0[index]];
            index = self.0[index];
        }
        index
    }

    fn are_joined(&mut self, a: usize, b: usize) -> bool {
        self.find_root(a) == self.find_root(b)
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.find_root(a), self.find_root(b));
        self.0[a.max(b)] = a.min(b);
    }
}

/// Iterates over the texts of a transcript: reasoning, answer, tool calls and results.
fn transcript_texts(transcript: &Transcript) -> impl Iterator<Item = String> {
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

/// The number of additional hashes that are collected before duplicates are removed.
const SPARE_HASHES: usize = 1 << 16;
/// The number of remembered recent hashes. It is small, so that the hashes stay in the cache and cost little for a
/// short text.
const RECENT_HASHES: usize = 1 << 13;

/// Converts a text to lower case, with each run of whitespace as one space.
fn fold_text(text: &str) -> impl Iterator<Item = char> {
    let mut blank = false;
    let chars = text.chars().filter_map(move |char| {
        let again = std::mem::replace(&mut blank, char.is_whitespace()) && blank;
        (!again).then_some(if blank { ' ' } else { char })
    });
    chars.flat_map(char::to_lowercase)
}

/// Calls `visit` with the hash of each shingle of a text. A shorter text is a single shingle.
fn for_each_shingle(text: impl Iterator<Item = char>, mut visit: impl FnMut(u64)) {
    // The hash is a polynomial in an odd factor, so that the char that leaves can be subtracted.
    const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;
    let leaving = FACTOR.wrapping_pow(SHINGLE_CHARS as u32);
    let mut rolling: u64 = 0;
    // The chars of the shingle, each at its index in the text modulo the width.
    let mut inside = [0; SHINGLE_CHARS];
    let mut length = 0;
    // `for_each` is faster than a loop here, since internal iteration of the folding iterator is faster.
    text.for_each(|char| {
        let value = u64::from(char) + 1;
        let left = std::mem::replace(&mut inside[length % SHINGLE_CHARS], value);
        // Until the first shingle is full, no char leaves and the subtracted value is 0.
        rolling = rolling
            .wrapping_mul(FACTOR)
            .wrapping_add(value)
            .wrapping_sub(left.wrapping_mul(leaving));
        length += 1;
        if length >= SHINGLE_CHARS {
            visit(mix64(rolling));
        }
    });
    if (1..SHINGLE_CHARS).contains(&length) {
        visit(mix64(rolling));
    }
}

/// Returns the row of a shingle, by the high half of its hash.
fn row_of_hash(hash: u64) -> usize {
    (((hash >> 32) * (ROWS_PER_BAND * BANDS_PER_SKETCH) as u64) >> 32) as usize
}

/// Returns the content of a row. An empty row takes the content of the first non-empty row in a pseudorandom order.
///
/// The order depends only on the row. At least one row must not be empty.
fn fill_row(rows: &[u32], number: usize) -> u32 {
    let others = (1..).map(|nth| rows[row_of_hash(mix64((number as u64) << 32 | nth))]);
    let mut all = std::iter::once(rows[number]).chain(others);
    all.find(|hash| *hash != EMPTY_ROW).unwrap_or(EMPTY_ROW)
}

/// Mixes the bits of an integer so that every output bit depends on every input bit (the finalizer of SplitMix64).
const fn mix64(x: u64) -> u64 {
    let x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests;
