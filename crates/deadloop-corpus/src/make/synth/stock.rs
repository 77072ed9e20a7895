//! The stock: what a spec draws on, read beforehand. Which texts belong to which split is dealt here,
//! once for each pool and from the seed alone.

use std::collections::{BTreeMap, BTreeSet};

use super::forms::Forms;
use super::made::{Made, seeded};
use super::runs::Run;
use super::spec::CorpusSpec;
use crate::make::plant::Rng;

/// A clean text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CleanText {
    /// Where it is from: a transcript's id, or file and paragraph.
    pub id: String,
    /// The model that wrote it, if one did.
    pub model: Option<String>,
    /// What it must not be torn apart from.
    pub group: Option<String>,
    /// The split that its corpus dealt it to; none: the spec deals it.
    pub split: Option<String>,
    /// Its language; empty where the recording does not say: then it is taken for any.
    pub lang: String,
    /// The text.
    pub text: String,
}

/// The parts of a real transcript that can be damaged.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Real {
    /// All the thinking, without blanks around it.
    pub reasoning: String,
    /// All of the answer, without blanks around it.
    pub answer: String,
    /// The tools that it calls and their arguments, where those are an object.
    pub calls: Vec<(String, String)>,
    /// The pieces in which the answer came; empty where one of them has no time.
    pub pieces: Vec<TimedPiece>,
    /// When it ended, milliseconds.
    pub over: Option<f64>,
}

/// A piece of an answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimedPiece {
    /// Its length; at least one.
    pub chars: usize,
    /// When it came, milliseconds.
    pub t_ms: f64,
}

/// Everything that a spec draws on.
#[derive(Debug, Default)]
pub struct Stock {
    /// The clean texts of each source, in the order of the spec.
    pub texts: Vec<Vec<CleanText>>,
    /// The transcripts of each source that is a corpus, by id.
    pub real: Vec<BTreeMap<String, Real>>,
    /// The runs of each source that is a corpus and that an item plants into, in the order of the corpus.
    pub runs: Vec<Vec<Run>>,
    /// The recordings of each source that an item takes as they are.
    pub recorded: Vec<Vec<Made>>,
    /// The forms of each file, by the name that the spec gives it.
    pub forms: BTreeMap<String, Forms>,
}

deadloop_detect::words! {
    /// The two splits of a made corpus.
    pub(super) enum Split {
        Dev = "dev",
        Test = "test",
    }
}

/// Deals names out to the splits: the first of an order that depends on the seed and the pool's name
/// alone go to `test`.
pub(super) struct Deal(BTreeSet<usize>);

impl Deal {
    pub(super) fn of<'a>(
        spec: &CorpusSpec,
        pool: &str,
        names: impl Iterator<Item = &'a str>,
    ) -> Self {
        let keyed = |(at, name)| (seeded(spec.seed, &["split", pool, name]), at);
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

    /// Those of `count` that are of a split; all of them where none is.
    pub(super) fn only(&self, count: usize, split: Split) -> Vec<usize> {
        let own: Vec<usize> = (0..count).filter(|at| self.split(*at) == split).collect();
        if own.is_empty() {
            (0..count).collect()
        } else {
            own
        }
    }
}

/// The texts of one source in one language and split: the split that their corpus dealt them to, or else
/// groups whole.
pub(super) fn pool<'a>(
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
    of_split(spec, of_lang, source, split, group)
}

/// Those of a split, groups whole.
pub(super) fn of_split<'a, T>(
    spec: &CorpusSpec,
    all: Vec<&'a T>,
    source: &str,
    split: Split,
    group: impl Fn(&T) -> String,
) -> Vec<&'a T> {
    let groups: BTreeSet<String> = all.iter().map(|one| group(one)).collect();
    let groups: Vec<String> = groups.into_iter().collect();
    // One deal for all languages: a prompt that was put in two is in one split.
    let deal = Deal::of(spec, source, groups.iter().map(String::as_str));
    let in_split = |one: &&T| {
        let at = groups.binary_search(&group(one)).unwrap_or_default();
        deal.split(at) == split
    };
    all.into_iter().filter(in_split).collect()
}

/// Clean texts one after the other, handed out piece by piece.
pub(super) struct Clean<'a> {
    chars: Vec<char>,
    used: usize,
    /// The texts, in order.
    pub(super) parts: Vec<&'a CleanText>,
    /// Texts of the pool that are not in it: what else may be repeated.
    pub(super) others: Vec<&'a CleanText>,
}

/// How far a piece may be shortened to end where a sentence does.
const REACH: usize = 400;

impl<'a> Clean<'a> {
    /// Texts of one model in an order of its own, until there are `chars` or no more texts.
    pub(super) fn of(pool: &[&'a CleanText], chars: usize, rng: &mut Rng) -> Self {
        let mut order = pool.to_vec();
        rng.shuffle(&mut order);
        let model = order.first().map(|text| &text.model);
        let (of_model, mut others): (Vec<_>, Vec<_>) = order
            .iter()
            .copied()
            .partition(|text| Some(&text.model) == model);
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

    /// Takes between `low` and `high` chars. They end with a sentence if one ends near `high`, else with a word. `None` if
    /// fewer than `high` chars are left.
    pub(super) fn take(&mut self, low: usize, high: usize) -> Option<&[char]> {
        let rest = &self.chars[self.used..];
        if rest.len() < high {
            return None;
        }
        let from = low.max(high.saturating_sub(REACH));
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

/// Whether these two chars end a line or a sentence.
pub(super) fn ends_sentence(tail: &[char]) -> bool {
    match tail {
        [.., '\n' | '。' | '！' | '？'] => true,
        [before, ' '] => matches!(before, '.' | '!' | '?'),
        _ => false,
    }
}
