//! [`Param`]: all that is known about one parameter of a detector. Validation, `deadloop detectors`
//! and the documentation are derived from it.

use std::fmt;

use regex::Regex;

use crate::value::{Literal, Value};

/// One parameter of a detector.
#[derive(Debug)]
pub struct Param {
    /// Its name in settings and grids.
    pub name: &'static str,
    /// Whether it changes what is measured, or only what is accepted.
    pub mark: Mark,
    /// Its value where nothing is said.
    pub default: Literal,
    /// Which values it takes.
    pub domain: Domain,
    /// What a number counts; empty for a word.
    pub unit: &'static str,
    /// What it does, in one line.
    pub doc: &'static str,
}

/// Whether a parameter belongs to the meter or to the rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// It changes what is measured: a sweep measures once for each value.
    Structural,
    /// It changes only what is accepted: a sweep answers each value from the same facts.
    Threshold(Threshold),
}

/// How a threshold decides. A threshold is always a whole number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Threshold {
    /// On which side of a fact's bound the setting's value must be.
    pub side: Side,
    /// Whether it counts copies: among settings that are equally good, the one that asks for more
    /// copies is the more careful.
    pub repeats: bool,
    /// Whether 0 stands for "no bound".
    pub zero_is_none: bool,
}

/// A threshold accepts a fact where the setting's value is at most, or at least, the fact's bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Accepted while value <= bound: a higher value is the more careful one.
    AtMost,
    /// Accepted while value >= bound: a lower value is the more careful one.
    AtLeast,
}

impl Threshold {
    /// The number that is compared, for the number that is written in a setting.
    pub fn effective(self, written: i64) -> i64 {
        if self.zero_is_none && written == 0 {
            self.loosest()
        } else {
            written
        }
    }

    /// The bound that every value satisfies.
    pub fn always(self) -> i64 {
        match self.side {
            Side::AtMost => i64::MAX,
            Side::AtLeast => i64::MIN,
        }
    }

    /// Whether a setting's (effective) value accepts a fact with this bound.
    pub fn accepts(self, value: i64, bound: i64) -> bool {
        match self.side {
            Side::AtMost => value <= bound,
            Side::AtLeast => value >= bound,
        }
    }

    fn loosest(self) -> i64 {
        match self.side {
            Side::AtMost => i64::MIN,
            Side::AtLeast => i64::MAX,
        }
    }
}

/// Which values a parameter takes.
#[derive(Clone, Copy, Debug)]
pub enum Domain {
    /// A whole number from `min` to `max`.
    Int {
        /// The least.
        min: i64,
        /// The greatest.
        max: i64,
    },
    /// One of these words.
    Word(&'static [&'static str]),
    /// One of these words, or a whole number from `min` to `max`.
    WordOrInt {
        /// The words.
        words: &'static [&'static str],
        /// The least number.
        min: i64,
        /// The greatest number.
        max: i64,
    },
    /// Whole numbers from `min` to `max`, at least one, each greater than the one before.
    Rising {
        /// The least.
        min: i64,
        /// The greatest.
        max: i64,
    },
    /// At least one char, each of which counts for itself.
    CharSet,
    /// A regular expression in the syntax of the `regex` crate.
    Regex,
    /// Any number of regular expressions.
    Regexes,
}

impl Domain {
    /// Whether a grid's list is one value of this parameter rather than several.
    pub fn is_list(&self) -> bool {
        matches!(self, Self::Rising { .. } | Self::Regexes)
    }

    /// Whether `value` is allowed; else the reason.
    pub fn check(&self, value: &Value) -> Result<(), String> {
        let fits = match (self, value) {
            (Self::Int { min, max }, Value::Int(n)) => min <= n && n <= max,
            (Self::Word(words), Value::Text(w)) => words.contains(&w.as_str()),
            (Self::WordOrInt { words, .. }, Value::Text(w)) => words.contains(&w.as_str()),
            (Self::WordOrInt { min, max, .. }, Value::Int(n)) => min <= n && n <= max,
            (Self::Rising { min, max }, Value::List(items)) => rising(items, *min, *max),
            (Self::CharSet, Value::Text(s)) => !s.is_empty(),
            (Self::Regex, Value::Text(s)) => return pattern(s),
            (Self::Regexes, Value::List(items)) => return patterns(items),
            _ => false,
        };
        if fits {
            Ok(())
        } else {
            Err(format!("expected {self}"))
        }
    }
}

fn rising(items: &[Value], min: i64, max: i64) -> bool {
    let numbers: Option<Vec<i64>> = items.iter().map(Value::as_int).collect();
    numbers.is_some_and(|n| {
        !n.is_empty()
            && n.iter().all(|x| min <= *x && *x <= max)
            && n.windows(2).all(|pair| pair[0] < pair[1])
    })
}

fn pattern(text: &str) -> Result<(), String> {
    match Regex::new(text) {
        Ok(_) => Ok(()),
        // The crate's message draws the pattern over several lines; its last line says what is wrong.
        Err(error) => {
            let text = error.to_string();
            let last = text
                .lines()
                .last()
                .unwrap_or("")
                .trim_start_matches("error: ");
            Err(format!("expected a regular expression: {last}"))
        }
    }
}

fn patterns(items: &[Value]) -> Result<(), String> {
    items.iter().try_for_each(|item| match item {
        Value::Text(text) => pattern(text),
        _ => Err("expected a list of regular expressions".into()),
    })
}

impl fmt::Display for Domain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let quoted = |words: &[&str]| {
            words
                .iter()
                .map(|w| format!("\"{w}\""))
                .collect::<Vec<_>>()
                .join(" | ")
        };
        match self {
            Self::Int { min, max } => write!(f, "{min}..{max}"),
            Self::Word(words) => f.write_str(&quoted(words)),
            Self::WordOrInt { words, min, max } => write!(f, "{} | {min}..{max}", quoted(words)),
            Self::Rising { min, max } => write!(f, "rising numbers of {min}..{max}"),
            Self::CharSet => f.write_str("a text of at least one char"),
            Self::Regex => f.write_str("a regular expression"),
            Self::Regexes => f.write_str("a list of regular expressions"),
        }
    }
}
