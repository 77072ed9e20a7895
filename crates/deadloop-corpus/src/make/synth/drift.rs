//! Drift: how the copies of a loop differ from the first one.

use super::doubt::{glued, statements};
use super::fields::{Fields, SpecError};
use super::spec::{CorpusSpec, Loop};
use crate::make::plant::{Numbering, PlantKind, Planting, Rng};

/// The kinds of drift, as in files.
pub(super) const KINDS: &[&str] = &[
    "counter",
    "fill",
    "draw",
    "word",
    "paraphrase",
    "case",
    "space",
    "circle",
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DriftKind {
    Counter,
    Fill,
    /// As fill, each copy from any filler: no period comes of it.
    Draw,
    Word,
    Paraphrase,
    Case,
    Space,
    /// The statements of the unit in another order, glued by words of doubt.
    Circle,
}

/// How copies differ.
#[derive(Clone, Debug)]
pub(super) struct Drift {
    pub(super) kind: DriftKind,
    /// The share of the copies after the first that do.
    rate: f64,
    /// What is before a copy that has no `{}` of its own.
    counter: Option<String>,
    /// The name of the units whose texts are words of doubt.
    glue: Option<String>,
}

/// What drift needs of the transcript that is made.
pub(super) struct Words<'a> {
    /// Words that may come in.
    pub(super) others: &'a [String],
    /// Words that may stand for one another.
    pub(super) paraphrase: &'a [Vec<String>],
    /// What glues statements.
    pub(super) doubt: &'a [String],
}

impl Drift {
    pub(super) fn of(table: &Fields) -> Self {
        let kind = match table.text("kind") {
            Some("counter") => DriftKind::Counter,
            Some("fill") => DriftKind::Fill,
            Some("draw") => DriftKind::Draw,
            Some("paraphrase") => DriftKind::Paraphrase,
            Some("case") => DriftKind::Case,
            Some("space") => DriftKind::Space,
            Some("circle") => DriftKind::Circle,
            _ => DriftKind::Word,
        };
        Self {
            kind,
            rate: table.number("rate").unwrap_or(1.0),
            counter: table.text("counter").map(str::to_owned),
            glue: table.text("glue").map(str::to_owned),
        }
    }

    /// Refuses drift that the item's texts cannot have.
    pub(super) fn possible(
        &self,
        table: &Fields,
        looped: &Loop,
        spec: &CorpusSpec,
        langs: &[String],
    ) -> Result<(), SpecError> {
        let line = table.line_of("drift");
        let refuse = |what: &str, expected: &str| Err(SpecError::at(line, what, expected));
        let units = || {
            langs
                .iter()
                .filter_map(|lang| spec.units(looped.unit.as_deref()?, lang))
        };
        match self.kind {
            DriftKind::Fill | DriftKind::Draw if looped.lead.high > 0 => refuse(
                "drift fill or draw with lead",
                "another drift: exact copies have nothing to fill in",
            ),
            DriftKind::Fill | DriftKind::Draw if looped.unit.is_none() => refuse(
                "drift fill or draw of text that is cut",
                "unit: texts with {} in them",
            ),
            DriftKind::Fill | DriftKind::Draw if units().any(|unit| unit.fillers.len() < 2) => {
                refuse(
                    "drift fill or draw with nothing to fill in",
                    "at least two fillers in every [[unit]]",
                )
            }
            DriftKind::Fill | DriftKind::Draw
                if units().any(|u| !u.texts.iter().all(|t| t.contains("{}"))) =>
            {
                refuse(
                    "drift fill or draw, but a text without {}",
                    "{} in every text of the [[unit]]",
                )
            }
            DriftKind::Counter if self.counter.as_ref().is_some_and(|c| !c.contains("{}")) => {
                refuse("a counter without {}", "{} where the number stands")
            }
            DriftKind::Circle if looped.lead.high > 0 => refuse(
                "drift circle with lead",
                "another drift: what goes in circles never comes to exact copies",
            ),
            DriftKind::Circle => spec.doubt_possible(line, self.glue.as_deref(), langs),
            _ if self.glue.is_some() => refuse("glue without circle", "drift kind circle"),
            DriftKind::Paraphrase if spec.paraphrase.is_empty() => refuse(
                "drift paraphrase without words",
                "paraphrase = [[…]] at the top of the spec",
            ),
            DriftKind::Case if langs.iter().any(|lang| !has_case(lang)) => refuse(
                "drift case in a script without case",
                "other languages, or another drift",
            ),
            _ => Ok(()),
        }
    }

    /// The name of the units whose texts are words of doubt.
    pub(super) fn glue(&self) -> Option<&str> {
        self.glue.as_deref()
    }

    /// Whether it puts something in place of `{}`.
    pub(super) fn fills(&self) -> bool {
        matches!(
            self.kind,
            DriftKind::Fill | DriftKind::Draw | DriftKind::Counter
        )
    }

    /// The first copy's text with a place for the number, where it counts and has none.
    pub(super) fn base(&self, unit: &str, lang: &str) -> String {
        if self.kind != DriftKind::Counter || unit.contains("{}") {
            return unit.to_owned();
        }
        let own = if is_chinese(lang) {
            "第{}次："
        } else {
            "Attempt {}: "
        };
        format!("{}{unit}", self.counter.as_deref().unwrap_or(own))
    }

    /// Copy number `number` of a plan's unit, the first being 0. None where there is nothing in it
    /// that could differ.
    pub(super) fn copy(
        &self,
        plan: &Planting,
        number: usize,
        words: &Words<'_>,
        rng: &mut Rng,
    ) -> Option<String> {
        match self.kind {
            DriftKind::Counter => {
                let count = plan.first_number as usize + number;
                Some(plan.copy(number).replace("{}", &count.to_string()))
            }
            DriftKind::Fill => Some(plan.copy(number)),
            DriftKind::Draw => Some(plan.copy(rng.below(plan.fillers.len().max(1)))),
            DriftKind::Circle => {
                let copy = plan.copy(number);
                let mut order = statements(&copy);
                if number > 0 {
                    rng.shuffle(&mut order);
                }
                (order.len() > 1).then(|| glued(&order, words.doubt, self.rate, rng))
            }
            _ if number == 0 || !rng.chance(self.rate) => Some(plan.copy(number)),
            _ => self.changed(&plan.copy(number), words, rng),
        }
    }

    fn changed(&self, copy: &str, words: &Words<'_>, rng: &mut Rng) -> Option<String> {
        match self.kind {
            DriftKind::Paraphrase => paraphrased(copy, words.paraphrase, rng),
            DriftKind::Case => at_word(copy, rng, |word, _| Some(flipped(word))),
            DriftKind::Space => Some(spaced(copy, rng)),
            _ => at_word(copy, rng, |word, rng| {
                let other = rng.pick(words.others)?;
                (other != word).then(|| other.clone())
            }),
        }
    }
}

pub(super) fn is_chinese(lang: &str) -> bool {
    ["zh", "ja"].contains(&lang)
}

fn has_case(lang: &str) -> bool {
    !["zh", "ja", "ko", "th", "ar", "he", "hi", "bn"].contains(&lang)
}

/// The words of a text as byte ranges: runs of letters; in Chinese, pairs of signs.
pub(super) fn words(text: &str) -> Vec<std::ops::Range<usize>> {
    let mut words: Vec<std::ops::Range<usize>> = Vec::new();
    let mut last = None;
    for (at, c) in text.char_indices() {
        let sign = is_sign(c);
        let joins = c.is_alphabetic() && last == Some(sign);
        match words.last_mut() {
            Some(word) if joins && word.end == at && !(sign && at - word.start >= 6) => {
                word.end = at + c.len_utf8();
            }
            _ if c.is_alphabetic() => words.push(at..at + c.len_utf8()),
            _ => {}
        }
        last = c.is_alphabetic().then_some(sign);
    }
    words
}

/// Whether words of such signs have no blanks between them.
pub(super) fn is_sign(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}')
}

/// Puts something else in place of a word that is not the first.
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

fn flipped(word: &str) -> String {
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

/// Doubles one of the blanks. A copy without blanks gets one somewhere inside.
fn spaced(copy: &str, rng: &mut Rng) -> String {
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

/// One word of the list, where it is in the copy, becomes another of its group.
fn paraphrased(copy: &str, groups: &[Vec<String>], rng: &mut Rng) -> Option<String> {
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
    let others: Vec<&String> = group.iter().filter(|other| *other != word).collect();
    let other = rng.pick(&others)?;
    Some(format!(
        "{}{other}{}",
        &copy[..at],
        &copy[at + word.len()..]
    ))
}

/// A plan whose copies are `unit`; how many there are is said elsewhere.
pub(super) fn plan(
    kind: PlantKind,
    unit: String,
    fillers: &[String],
    chinese: bool,
    rng: &mut Rng,
) -> Planting {
    let styles = [Numbering::Dot, Numbering::Bracket, Numbering::Chinese];
    Planting {
        kind,
        unit,
        fillers: fillers.to_vec(),
        numbering: styles[rng.below(if chinese { 3 } else { 2 })],
        first_number: 1,
        onset: 0,
        copies: 0,
        tail: 0,
    }
}
