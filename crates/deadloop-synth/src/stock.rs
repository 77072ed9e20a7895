//! [`Stock`]: the texts, runs and forms that a spec needs, and their splits.

use std::collections::{BTreeMap, BTreeSet};

use super::forms::Forms;
use super::runs::RealRun;
use super::spec::CorpusSpec;
use super::transcript::{SynthTranscript, seed_of_name};
use crate::planted_loops::Rng;

/// A clean text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CleanText {
    /// The id: that of a transcript, or file and paragraph.
    pub id: String,
    /// The model that wrote the text, if any.
    pub model: Option<String>,
    /// The group, whose texts must be in one split.
    pub group: Option<String>,
    /// The split in its corpus. `None` if the spec assigns it.
    pub split: Option<String>,
    /// The language. Empty if it was not recorded. Such a text fits any language.
    pub lang: String,
    /// The text.
    pub text: String,
}

/// The parts of a real transcript that can be damaged.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RealStream {
    /// The whole thinking, trimmed.
    pub reasoning: String,
    /// The whole answer, trimmed.
    pub answer: String,
    /// The calls whose arguments are an object: the name of the tool, and the arguments.
    pub calls: Vec<(String, String)>,
    /// The pieces of the answer. Empty if one has no time.
    pub pieces: Vec<TimedPiece>,
    /// The time of the end, in milliseconds.
    pub over: Option<f64>,
}

/// A recorded piece of an answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimedPiece {
    /// The number of chars, at least one.
    pub chars: usize,
    /// The time of arrival, in milliseconds.
    pub t_ms: f64,
}

/// The inputs of a spec.
#[derive(Debug, Default)]
pub struct Stock {
    /// The clean texts of each source, in the order of the spec.
    pub texts: Vec<Vec<CleanText>>,
    /// The transcripts of each source that is a corpus, by id.
    pub real: Vec<BTreeMap<String, RealStream>>,
    /// The runs of each corpus that an item plants into, in the order of the corpus.
    pub runs: Vec<Vec<RealRun>>,
    /// The recordings of each source that an item copies unchanged.
    pub recorded: Vec<Vec<SynthTranscript>>,
    /// The forms of each file, by their name in the spec.
    pub forms: BTreeMap<String, Forms>,
}

deadloop_detect::words! {
    /// The splits of a made corpus.
    pub(super) enum Split {
        Dev = "dev",
        Test = "test",
    }
}

/// An assignment of names to splits. The names with the smallest hashes of seed, pool and name are in `test`.
pub(super) struct SplitAssignment(BTreeSet<usize>);

impl SplitAssignment {
    pub(super) fn new<'a>(
        spec: &CorpusSpec,
        pool: &str,
        names: impl Iterator<Item = &'a str>,
    ) -> Self {
        let keyed = |(at, name)| (seed_of_name(spec.seed, &["split", pool, name]), at);
        let mut order: Vec<(u64, usize)> = names.enumerate().map(keyed).collect();
        order.sort_unstable();
        let test = (order.len() as f64 * spec.test()).round() as usize;
        Self(order.into_iter().take(test).map(|(_, at)| at).collect())
    }

    pub(super) fn split(&self, at: usize) -> Split {
        if self.0.contains(&at) {
            Split::Test
        } else {
            Split::Dev
        }
    }

    /// Returns the indices below `count` that are in a split, or all if there are none.
    pub(super) fn indices_of(&self, count: usize, split: Split) -> Vec<usize> {
        let mut own: Vec<usize> = (0..count).collect();
        own.retain(|at| self.split(*at) == split);
        if own.is_empty() {
            own.extend(0..count);
        }
        own
    }
}

/// Returns the texts of one source in one language and split. Texts without a recorded split are dealt by groups.
pub(super) fn texts_of_split<'a>(
    spec: &CorpusSpec,
    texts: &'a [CleanText],
    source: &str,
    lang: &str,
    split: Split,
) -> Vec<&'a CleanText> {
    let fits = |text: &&CleanText| text.lang == lang || text.lang.is_empty();
    let of_lang: Vec<&CleanText> = texts.iter().filter(fits).collect();
    if spec.test() > 0.0 && texts.iter().any(|text| text.split.is_some()) {
        let own = |text: &&CleanText| text.split.as_deref() == Some(split.name());
        return of_lang.into_iter().filter(own).collect();
    }
    let group = |text: &CleanText| text.group.clone().unwrap_or_else(|| text.id.clone());
    items_of_split(spec, of_lang, source, split, group)
}

/// Returns the items of a split, with whole groups in one split.
pub(super) fn items_of_split<'a, T>(
    spec: &CorpusSpec,
    all: Vec<&'a T>,
    source: &str,
    split: Split,
    group: impl Fn(&T) -> String,
) -> Vec<&'a T> {
    let groups: BTreeSet<String> = all.iter().map(|one| group(one)).collect();
    let groups: Vec<String> = groups.into_iter().collect();
    // All languages are dealt together, so that the translations of a prompt are in one split.
    let deal = SplitAssignment::new(spec, source, groups.iter().map(String::as_str));
    let in_split = |one: &&T| {
        let at = groups.binary_search(&group(one)).unwrap_or_default();
        deal.split(at) == split
    };
    all.into_iter().filter(in_split).collect()
}

/// Clean texts in a row, taken piece by piece.
pub(super) struct CleanReader<'a> {
    chars: Vec<char>,
    used: usize,
    /// The texts, in order.
    pub(super) parts: Vec<&'a CleanText>,
    /// The other texts of the pool, from which units may be cut.
    pub(super) others: Vec<&'a CleanText>,
}

/// The maximum number of chars by which a piece is shortened to the end of a sentence.
const MAX_SHORTENING: usize = 400;

impl<'a> CleanReader<'a> {
    /// Returns texts of one model in random order, until they have `chars` chars or all are used.
    pub(super) fn draw(pool: &[&'a CleanText], chars: usize, rng: &mut Rng) -> Self {
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
            used: 0,
            parts,
            others,
        }
    }

    /// Takes between `low` and `high` chars. The piece ends with a sentence if one ends near `high`, else with a
    /// word. `None` if fewer than `high` chars are left.
    pub(super) fn take(&mut self, low: usize, high: usize) -> Option<&[char]> {
        let rest = &self.chars[self.used..];
        if rest.len() < high {
            return None;
        }
        let from = low.max(high.saturating_sub(MAX_SHORTENING));
        let after = |ends: fn(&[char]) -> bool| {
            let mut places = (from.max(1)..=high).rev();
            places.find(|at| ends(&rest[at.saturating_sub(2)..*at]))
        };
        let cut = after(ends_sentence)
            .or_else(|| after(|tail| tail.last() == Some(&' ')))
            .unwrap_or(high);
        let at = self.used;
        self.used += cut;
        Some(&self.chars[at..self.used])
    }
}

/// Returns whether these two chars end a line or a sentence.
pub(super) fn ends_sentence(tail: &[char]) -> bool {
    match tail {
        [.., '\n' | '。' | '！' | '？'] => true,
        [before, ' '] => matches!(before, '.' | '!' | '?'),
        _ => false,
    }
}
