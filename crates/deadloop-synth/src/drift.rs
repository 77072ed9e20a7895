//! Drift: differences between the copies of a loop and the first one.

use super::doubt::{join_statements, statements};
use super::letters::{is_chinese, is_sign, words};
use super::spec::{Drift, DriftKind, NonEmptyText};
use crate::planted_loops::{LoopPlan, Rng};
use deadloop_detect::Kind;

/// The words that drift uses for one transcript.
pub(super) struct DriftWords<'a> {
    /// Words that may replace a word.
    pub(super) others: &'a [String],
    /// Groups of words that may replace each other.
    pub(super) paraphrase: &'a [Vec<NonEmptyText>],
    /// Words of doubt between statements.
    pub(super) doubt: &'a [NonEmptyText],
}

impl Drift {
    /// Returns the share of the copies after the first that differ.
    fn rate(&self) -> f64 {
        self.rate.map_or(1.0, |rate| rate.0)
    }

    /// Returns whether the drift replaces `{}`.
    pub(super) fn fills(&self) -> bool {
        matches!(
            self.kind.0,
            DriftKind::Fill | DriftKind::Draw | DriftKind::Counter
        )
    }

    /// Returns the text of the first copy. A counter gets a place for its number if the text has none.
    pub(super) fn base(&self, unit: &str, lang: &str) -> String {
        if self.kind.0 != DriftKind::Counter || unit.contains("{}") {
            return unit.to_owned();
        }
        let own = if is_chinese(lang) {
            "第{}次："
        } else {
            "Attempt {}: "
        };
        format!(
            "{}{unit}",
            self.counter.as_ref().map_or(own, |counter| counter)
        )
    }

    /// Returns the copy with this number, from 0, of a plan's unit. `None` if no part of the copy can differ.
    pub(super) fn copy(
        &self,
        plan: &LoopPlan,
        number: usize,
        words: &DriftWords<'_>,
        rng: &mut Rng,
    ) -> Option<String> {
        match self.kind.0 {
            DriftKind::Counter => Some(plan.copy(number).replace("{}", &(number + 1).to_string())),
            DriftKind::Fill => Some(plan.copy(number)),
            DriftKind::Draw => Some(plan.copy(rng.below(plan.fillers.len().max(1)))),
            DriftKind::Circle => {
                let copy = plan.copy(number);
                let mut order = statements(&copy);
                if number > 0 {
                    rng.shuffle(&mut order);
                }
                (order.len() > 1).then(|| join_statements(&order, words.doubt, self.rate(), rng))
            }
            _ if number == 0 || !rng.chance(self.rate()) => Some(plan.copy(number)),
            _ => self.change_copy(&plan.copy(number), words, rng),
        }
    }

    fn change_copy(&self, copy: &str, words: &DriftWords<'_>, rng: &mut Rng) -> Option<String> {
        match self.kind.0 {
            DriftKind::Paraphrase => paraphrase_copy(copy, words.paraphrase, rng),
            DriftKind::Case => at_word(copy, rng, |word, _| Some(flip_case(word))),
            DriftKind::Space => Some(double_blank(copy, rng)),
            _ => at_word(copy, rng, |word, rng| {
                let other = rng.pick(words.others)?;
                (other != word).then(|| other.clone())
            }),
        }
    }
}

/// Replaces a word that is not the first.
fn at_word(
    copy: &str,
    rng: &mut Rng,
    other: impl Fn(&str, &mut Rng) -> Option<String>,
) -> Option<String> {
    let words = words(copy);
    let word = rng.pick(words.get(1..)?)?.clone();
    let new = other(&copy[word.clone()], rng)?;
    Some(format!("{}{new}{}", &copy[..word.start], &copy[word.end..]))
}

fn flip_case(word: &str) -> String {
    let mut chars = word.chars();
    let first = chars.next().into_iter();
    let first = first.flat_map(|c| {
        let turned: Vec<char> = if c.is_uppercase() {
            c.to_lowercase().collect()
        } else {
            c.to_uppercase().collect()
        };
        turned
    });
    first.chain(chars).collect()
}

/// Doubles a blank. A copy without blanks gets one inside.
fn double_blank(copy: &str, rng: &mut Rng) -> String {
    let inside = copy.trim_end().len();
    let places = |blank: bool| -> Vec<usize> {
        let all = copy.char_indices().skip(1).filter(|(at, _)| *at < inside);
        all.filter(|(_, c)| !blank || *c == ' ')
            .map(|(at, _)| at)
            .collect()
    };
    let blanks = places(true);
    let places = if blanks.is_empty() {
        places(false)
    } else {
        blanks
    };
    let at = rng.pick(&places).copied().unwrap_or(inside);
    format!("{} {}", &copy[..at], &copy[at..])
}

/// Replaces a word of the copy by another word of its group.
fn paraphrase_copy(copy: &str, groups: &[Vec<NonEmptyText>], rng: &mut Rng) -> Option<String> {
    let whole = |at: usize, word: &str| {
        let letter = |c: Option<char>| c.is_some_and(|c| c.is_alphabetic() && !is_sign(c));
        let inner = word.chars().all(|c| !is_sign(c));
        let before = copy[..at].chars().next_back();
        let after = copy[at + word.len()..].chars().next();
        !inner || !(letter(before) || letter(after))
    };
    let mut places = Vec::new();
    for group in groups {
        for word in group {
            let found = copy.match_indices(word.as_str()).map(|(at, _)| at);
            places.extend(
                found
                    .filter(|at| whole(*at, word))
                    .map(|at| (at, word, group)),
            );
        }
    }
    let (at, word, group) = *rng.pick(&places)?;
    let others: Vec<&NonEmptyText> = group.iter().filter(|other| *other != word).collect();
    let other = rng.pick(&others)?;
    Some(format!(
        "{}{other}{}",
        &copy[..at],
        &copy[at + word.len()..]
    ))
}

/// Returns a planting whose copies are `unit`.
pub(super) fn plan(
    kind: Kind,
    unit: String,
    fillers: &[String],
    chinese: bool,
    rng: &mut Rng,
) -> LoopPlan {
    let styles = [". ", ") ", "、"];
    LoopPlan {
        kind,
        unit,
        fillers: fillers.to_vec(),
        numbering: styles[rng.below(if chinese { 3 } else { 2 })],
    }
}
