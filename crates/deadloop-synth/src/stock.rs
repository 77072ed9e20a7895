//! [`Stock`]: the texts, runs and forms that a spec needs.

use std::collections::{BTreeMap, BTreeSet};

use super::forms::Forms;
use super::runs::RealRun;
use super::spec::CorpusSpec;
use super::transcript::{SynthTranscript, derive_seed};
use crate::planted_loops::Rng;

/// A clean text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CleanText {
    /// Id of the transcript, or file and paragraph.
    pub id: String,
    /// Model that wrote the text, if any.
    pub model: Option<String>,
    /// Group whose texts must be in one split.
    pub group: Option<String>,
    /// Split in its corpus. `None` if the spec assigns the split.
    pub split: Option<String>,
    /// Language. Empty if it was not recorded, so that the text fits any language.
    pub lang: String,
    /// The text.
    pub text: String,
}

/// Parts of a real transcript that can be damaged.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RealStream {
    /// Whole reasoning, trimmed.
    pub reasoning: String,
    /// Whole answer, trimmed.
    pub answer: String,
    /// Tool names and arguments of the calls whose arguments are an object.
    pub calls: Vec<(String, String)>,
    /// Pieces of the answer. Empty if a piece has no time.
    pub pieces: Vec<TimedPiece>,
    /// Time of the end, in milliseconds.
    pub over: Option<f64>,
}

/// A recorded piece of an answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimedPiece {
    /// Number of chars, at least one.
    pub chars: usize,
    /// Arrival time, in milliseconds.
    pub t_ms: f64,
}

/// Inputs of a spec.
#[derive(Debug, Default)]
pub struct Stock {
    /// Clean texts of each source, in the order of the spec.
    pub texts: Vec<Vec<CleanText>>,
    /// Transcripts of each source that is a corpus, by id.
    pub real: Vec<BTreeMap<String, RealStream>>,
    /// Runs of each corpus that provides hosts, in corpus order.
    pub runs: Vec<Vec<RealRun>>,
    /// Recordings of each source that an item copies unchanged.
    pub recorded: Vec<Vec<SynthTranscript>>,
    /// Forms of each file, by their name in the spec.
    pub forms: BTreeMap<String, Forms>,
}

deadloop_detect::words! {
    /// Split of a synthetic corpus.
    pub(super) enum Split {
        Dev = "dev",
        Test = "test",
    }
}

/// An assignment of indices to splits, which holds those in `test`.
///
/// The names with the smallest hashes of seed, pool and name are in the split `test`.
pub(super) struct SplitAssignment(BTreeSet<usize>);

impl SplitAssignment {
    pub(super) fn new<'a>(
        spec: &CorpusSpec,
        pool: &str,
        names: impl Iterator<Item = &'a str>,
    ) -> Self {
        let keyed = |(at, name)| (derive_seed(spec.seed, &["split", pool, name]), at);
        let mut order: Vec<(u64, usize)> = names.enumerate().map(keyed).collect();
        order.sort_unstable();
        let test = (order.len() as f64 * spec.test_fraction()).round() as usize;
        Self(order.into_iter().take(test).map(|(_, at)| at).collect())
    }

    pub(super) fn split_of(&self, index: usize) -> Split {
        if self.0.contains(&index) {
            Split::Test
        } else {
            Split::Dev
        }
    }

    /// Returns the indices below `count` that are in a split, or all indices if the split is empty.
    pub(super) fn indices_of(&self, count: usize, split: Split) -> Vec<usize> {
        let mut own: Vec<usize> = (0..count).collect();
        own.retain(|at| self.split_of(*at) == split);
        if own.is_empty() {
            own.extend(0..count);
        }
        own
    }
}

/// Returns the texts of one source in one language and split. Texts without a recorded split are assigned by groups.
pub(super) fn texts_of_split<'a>(
    spec: &CorpusSpec,
    texts: &'a [CleanText],
    source: &str,
    lang: &str,
    split: Split,
) -> Vec<&'a CleanText> {
    let fits = |text: &&CleanText| text.lang == lang || text.lang.is_empty();
    let of_lang: Vec<&CleanText> = texts.iter().filter(fits).collect();
    if spec.test_fraction() > 0.0 && texts.iter().any(|text| text.split.is_some()) {
        let own = |text: &&CleanText| text.split.as_deref() == Some(split.name());
        return of_lang.into_iter().filter(own).collect();
    }
    let group = |text: &CleanText| text.group.clone().unwrap_or_else(|| text.id.clone());
    items_of_split(spec, of_lang, source, split, group)
}

/// Returns the items of a split. A group is never divided.
pub(super) fn items_of_split<'a, T>(
    spec: &CorpusSpec,
    all: Vec<&'a T>,
    source: &str,
    split: Split,
    group: impl Fn(&T) -> String,
) -> Vec<&'a T> {
    let groups: BTreeSet<String> = all.iter().map(|one| group(one)).collect();
    let groups: Vec<String> = groups.into_iter().collect();
    // All languages are assigned together, so that the translations of a prompt are in one split.
    let assignment = SplitAssignment::new(spec, source, groups.iter().map(String::as_str));
    let in_split = |one: &&T| {
        let at = groups.binary_search(&group(one)).unwrap_or_default();
        assignment.split_of(at) == split
    };
    all.into_iter().filter(in_split).collect()
}

/// A reader of concatenated clean texts.
pub(super) struct CleanReader<'a> {
    chars: Vec<char>,
    taken_chars: usize,
    /// Concatenated texts, in order.
    pub(super) parts: Vec<&'a CleanText>,
    /// Other texts of the pool, from which units may be cut.
    pub(super) others: Vec<&'a CleanText>,
}

/// The maximum number of chars by which a piece is shortened to end with a sentence.
const MAX_SHORTENED_CHARS: usize = 400;

impl<'a> CleanReader<'a> {
    /// Concatenates texts of one model in random order, until they have `chars` chars or all are used.
    pub(super) fn draw_texts(pool: &[&'a CleanText], chars: usize, rng: &mut Rng) -> Self {
        let mut order = pool.to_vec();
        rng.shuffle(&mut order);
        let model = order.first().map(|text| &text.model);
        let texts = order.iter().copied();
        let (of_model, mut others): (Vec<_>, Vec<_>) =
            texts.partition(|text| Some(&text.model) == model);
        let (mut joined, mut parts) = (Vec::new(), Vec::new());
        for text in of_model {
            if joined.len() < chars {
                joined.extend(text.text.trim().chars());
                joined.extend(['\n', '\n']);
                parts.push(text);
            } else {
                others.push(text);
            }
        }
        Self {
            chars: joined,
            taken_chars: 0,
            parts,
            others,
        }
    }

    /// Takes a piece of `min_chars` to `max_chars` chars. Returns `None` if fewer than `max_chars` chars are left.
    ///
    /// The piece ends with a sentence if one ends near `max_chars`, otherwise with a word.
    pub(super) fn take_piece(&mut self, min_chars: usize, max_chars: usize) -> Option<&[char]> {
        let rest = &self.chars[self.taken_chars..];
        if rest.len() < max_chars {
            return None;
        }
        let from = min_chars.max(max_chars.saturating_sub(MAX_SHORTENED_CHARS));
        let after = |ends: fn(&[char]) -> bool| {
            let mut places = (from.max(1)..=max_chars).rev();
            places.find(|at| ends(&rest[at.saturating_sub(2)..*at]))
        };
        let cut = after(ends_sentence)
            .or_else(|| after(|tail| tail.last() == Some(&' ')))
            .unwrap_or(max_chars);
        let at = self.taken_chars;
        self.taken_chars += cut;
        Some(&self.chars[at..self.taken_chars])
    }
}

/// Returns whether two chars end a line or a sentence.
pub(super) fn ends_sentence(tail: &[char]) -> bool {
    match tail {
        [.., '\n' | '。' | '！' | '？'] => true,
        [before, ' '] => matches!(before, '.' | '!' | '?'),
        _ => false,
    }
}
