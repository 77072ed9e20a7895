//! Drift: differences between the copies of a loop and the first one.

use super::doubt::{join_statements, split_statements};
use super::letters::{find_words, is_cjk_char, is_cjk_lang};
use super::spec::{Drift, DriftKind, NonEmptyText};
use crate::planted_loops::{LoopPlan, Rng};

/// Words that the drift of one transcript uses.
pub(super) struct DriftWords<'a> {
    /// Words that may replace any word.
    pub(super) others: &'a [String],
    /// Groups of words that may replace each other.
    pub(super) paraphrase: &'a [Vec<NonEmptyText>],
    /// Phrases of doubt that are inserted between statements, such as "but wait".
    pub(super) doubt: &'a [NonEmptyText],
}

impl Drift {
    /// Returns the probability that a copy after the first one differs.
    fn change_rate(&self) -> f64 {
        self.rate.map_or(1.0, |rate| rate.0)
    }

    /// Returns whether the drift replaces the placeholder `{}`.
    pub(super) fn replaces_placeholder(&self) -> bool {
        matches!(
            self.kind,
            DriftKind::Fill | DriftKind::Draw | DriftKind::Counter
        )
    }

    /// Returns the text of the first copy. A counter without a placeholder gets one.
    pub(super) fn prepare_unit(&self, unit: &str, lang: &str) -> String {
        if self.kind != DriftKind::Counter || unit.contains("{}") {
            return unit.to_owned();
        }
        let is_cjk_lang = is_cjk_lang(lang);
        let default = if is_cjk_lang {
            "第{}次："
        } else {
            "Attempt {}: "
        };
        let counter = self.counter.as_ref().map_or(default, |counter| counter);
        format!("{counter}{unit}")
    }

    /// Makes the copy of a plan's unit with this number, counted from 0. Returns `None` if no part of the copy can
    /// differ.
    pub(super) fn make_copy(
        &self,
        plan: &LoopPlan,
        number: usize,
        words: &DriftWords<'_>,
        rng: &mut Rng,
    ) -> Option<String> {
        match self.kind {
            DriftKind::Counter => {
                Some(plan.render(number).replace("{}", &(number + 1).to_string()))
            }
            DriftKind::Fill => Some(plan.render(number)),
            DriftKind::Draw => Some(plan.render(rng.below(plan.fillers.len().max(1)))),
            DriftKind::Circle => {
                let copy = plan.render(number);
                let mut order = split_statements(&copy);
                if number > 0 {
                    rng.shuffle(&mut order);
                }
                (order.len() > 1)
                    .then(|| join_statements(&order, words.doubt, self.change_rate(), rng))
            }
            _ if number == 0 || !rng.chance(self.change_rate()) => Some(plan.render(number)),
            _ => self.change_copy(&plan.render(number), words, rng),
        }
    }

    fn change_copy(&self, copy: &str, words: &DriftWords<'_>, rng: &mut Rng) -> Option<String> {
        match self.kind {
            DriftKind::Paraphrase => paraphrase_copy(copy, words.paraphrase, rng),
            DriftKind::Case => replace_word(copy, rng, |word, _| Some(flip_first_case(word))),
            DriftKind::Space => Some(double_space(copy, rng)),
            _ => replace_word(copy, rng, |word, rng| {
                let other = rng.choose(words.others)?;
                (other != word).then(|| other.clone())
            }),
        }
    }
}

/// Replaces a random word other than the first.
fn replace_word(
    copy: &str,
    rng: &mut Rng,
    other: impl Fn(&str, &mut Rng) -> Option<String>,
) -> Option<String> {
    let words = find_words(copy);
    let word = rng.choose(words.get(1..)?)?.clone();
    let new = other(&copy[word.clone()], rng)?;
    Some(format!("{}{new}{}", &copy[..word.start], &copy[word.end..]))
}

fn flip_first_case(word: &str) -> String {
    let mut chars = word.chars();
    let first: String = match chars.next() {
        Some(c) if c.is_uppercase() => c.to_lowercase().collect(),
        c => c.into_iter().flat_map(char::to_uppercase).collect(),
    };
    first + chars.as_str()
}

/// Doubles a space. A copy without spaces gets one inside.
fn double_space(copy: &str, rng: &mut Rng) -> String {
    let inside = copy.trim_end().len();
    let offsets = |blank: bool| -> Vec<usize> {
        let all = copy.char_indices().skip(1).filter(|(at, _)| *at < inside);
        all.filter(|(_, c)| !blank || *c == ' ')
            .map(|(at, _)| at)
            .collect()
    };
    let mut found = offsets(true);
    if found.is_empty() {
        found = offsets(false);
    }
    let at = rng.choose(&found).copied().unwrap_or(inside);
    format!("{} {}", &copy[..at], &copy[at..])
}

/// Replaces a word of the copy by another word of its group.
fn paraphrase_copy(copy: &str, groups: &[Vec<NonEmptyText>], rng: &mut Rng) -> Option<String> {
    let is_whole = |at: usize, word: &str| {
        let letter = |c: Option<char>| c.is_some_and(|c| c.is_alphabetic() && !is_cjk_char(c));
        let inner = word.chars().all(|c| !is_cjk_char(c));
        let before = copy[..at].chars().next_back();
        let after = copy[at + word.len()..].chars().next();
        !inner || !(letter(before) || letter(after))
    };
    let mut offsets = Vec::new();
    for group in groups {
        for word in group {
            let found = copy.match_indices(word.as_str()).map(|(at, _)| at);
            let found = found.filter(|at| is_whole(*at, word));
            offsets.extend(found.map(|at| (at, word, group)));
        }
    }
    let (at, word, group) = *rng.choose(&offsets)?;
    let others: Vec<&NonEmptyText> = group.iter().filter(|other| *other != word).collect();
    let other = rng.choose(&others)?;
    let (before, after) = (&copy[..at], &copy[at + word.len()..]);
    Some(format!("{before}{other}{after}"))
}
