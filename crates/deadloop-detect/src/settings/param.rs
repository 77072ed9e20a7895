//! [`Param`]: the description of one parameter of a detector.
//!
//! Validation, `deadloop detectors` and the documentation use it.

use std::fmt;
use std::ops::RangeInclusive;

use globset::Glob;
use regex::Regex;

use crate::measure::ignore::Ignore;
use crate::settings::invalid_value::InvalidValue;
use crate::settings::value::{Literal, Value};

/// The description of one parameter of a detector.
#[derive(Debug)]
pub struct Param {
    /// The name in settings and grids.
    pub name: &'static str,
    /// The part of the detector that uses the parameter: the meter or the rule.
    pub mark: ParamRole,
    /// The default value.
    pub default: Literal,
    /// The allowed values.
    pub domain: Domain,
    /// The unit of a number. Empty for a word.
    pub unit: &'static str,
    /// The effect of the parameter, in one line.
    pub doc: &'static str,
}

/// Builders. By default, a parameter is structural and has no unit.
impl Param {
    /// Returns a parameter of any domain.
    pub const fn new(name: &'static str, default: Literal, domain: Domain) -> Self {
        Self {
            name,
            mark: ParamRole::Structural,
            default,
            domain,
            unit: "",
            doc: "",
        }
    }

    /// Returns a parameter for a whole number in `range`.
    pub const fn count(name: &'static str, default: i64, range: RangeInclusive<i64>) -> Self {
        let (min, max) = (*range.start(), *range.end());
        Self::new(name, Literal::Int(default), Domain::Int { min, max })
    }

    /// Returns a parameter for a number in `range`.
    pub const fn number(name: &'static str, default: f64, range: RangeInclusive<f64>) -> Self {
        let (min, max) = (*range.start(), *range.end());
        Self::new(name, Literal::Float(default), Domain::Float { min, max })
    }

    /// Returns a parameter for a number from 0 to 1.
    pub const fn share(name: &'static str, default: f64) -> Self {
        Self::number(name, default, 0.0..=1.0)
    }

    /// Returns a parameter for a boolean.
    pub const fn flag(name: &'static str, default: bool) -> Self {
        Self::new(name, Literal::Bool(default), Domain::Flag)
    }

    /// Returns a parameter for one of `words`.
    pub const fn word(name: &'static str, default: &'static str, words: StaticTexts) -> Self {
        Self::new(name, Literal::Text(default), Domain::Word(words))
    }

    /// Returns a parameter for a list of distinct `words`.
    pub const fn words(name: &'static str, default: StaticTexts, words: StaticTexts) -> Self {
        Self::new(name, Literal::Texts(default), Domain::Words(words))
    }

    /// Returns a parameter for one of `words` or a whole number in `range`.
    pub(crate) const fn word_or_count(
        name: &'static str,
        default: &'static str,
        words: StaticTexts,
        range: RangeInclusive<i64>,
    ) -> Self {
        let (min, max) = (*range.start(), *range.end());
        let domain = Domain::WordOrInt { words, min, max };
        Self::new(name, Literal::Text(default), domain)
    }

    /// Returns a parameter for a list of texts that are not empty.
    pub const fn texts(name: &'static str, default: StaticTexts) -> Self {
        Self::new(name, Literal::Texts(default), Domain::Texts)
    }

    /// Returns a parameter for a list of globs, empty by default.
    pub const fn globs(name: &'static str) -> Self {
        Self::new(name, Literal::Texts(&[]), Domain::Globs)
    }

    /// Returns a parameter for a table of any values, empty by default.
    pub const fn table(name: &'static str) -> Self {
        Self::new(name, Literal::EmptyTable, Domain::Free)
    }

    /// Sets the unit of a number.
    pub const fn unit(mut self, unit: &'static str) -> Self {
        self.unit = unit;
        self
    }

    /// Sets the description of the effect, in one line.
    pub const fn doc(mut self, doc: &'static str) -> Self {
        self.doc = doc;
        self
    }

    /// Makes the parameter a minimum: a threshold that a fact's bound must reach.
    pub const fn at_most(self) -> Self {
        self.threshold(Threshold::AT_MOST)
    }

    /// Makes the parameter a maximum: a threshold that a fact's bound must not exceed.
    pub const fn at_least(self) -> Self {
        self.threshold(Threshold::AT_LEAST)
    }

    /// Makes the parameter a minimum number of copies.
    pub const fn copies(self) -> Self {
        self.threshold(Threshold::COPIES)
    }

    /// Sets the meaning of a written 0, if the parameter is a threshold.
    pub const fn zero(mut self, zero: ZeroMeaning) -> Self {
        if let ParamRole::Threshold(threshold) = self.mark {
            self.mark = ParamRole::Threshold(Threshold { zero, ..threshold });
        }
        self
    }

    const fn threshold(mut self, threshold: Threshold) -> Self {
        self.mark = ParamRole::Threshold(match self.domain {
            Domain::Float { .. } => threshold.decimal(),
            _ => threshold,
        });
        self
    }
}

type StaticTexts = &'static [&'static str];

/// The part of a detector that uses a parameter: the meter or the rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParamRole {
    /// A parameter of the meter. A sweep measures again for each value.
    Structural,
    /// A parameter of the rule. A sweep decides about all values on the same facts.
    Threshold(Threshold),
}

/// The comparison of a threshold with a fact's bound. Numbers are compared as integers, and decimal ones in
/// [millionths](DECIMAL).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Threshold {
    /// The side of a fact's bound on which the setting's value must be.
    pub side: ThresholdSide,
    /// Whether the threshold counts copies. Of equally good settings, one that requires more copies is safer.
    pub repeats: bool,
    /// The meaning of a written 0.
    pub zero: ZeroMeaning,
    /// The factor of a written value before the comparison: 1, or [`DECIMAL`].
    pub scale: i64,
}

/// The scale of decimal thresholds.
pub const DECIMAL: i64 = 1_000_000;

/// The side of a fact's bound on which a setting's value accepts the fact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThresholdSide {
    /// Accepts if value <= bound. A higher value is stricter.
    AtMost,
    /// Accepts if value >= bound. A lower value is stricter.
    AtLeast,
}

/// The meaning of a written 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ZeroMeaning {
    /// The number 0.
    Number,
    /// No bound.
    NoBound,
    /// A reference to another parameter. It satisfies only [`Bound::Exactly`](crate::harness::Bound) with the effective
    /// value [`Threshold::elsewhere`].
    Elsewhere,
}

impl Threshold {
    /// A minimum: a whole number that a fact's bound must reach.
    pub const AT_MOST: Self = Self {
        side: ThresholdSide::AtMost,
        repeats: false,
        zero: ZeroMeaning::Number,
        scale: 1,
    };
    /// A maximum: a whole number that a fact's bound must not exceed.
    pub const AT_LEAST: Self = Self {
        side: ThresholdSide::AtLeast,
        ..Self::AT_MOST
    };

    /// A minimum number of copies.
    pub const COPIES: Self = Self {
        repeats: true,
        ..Self::AT_MOST
    };

    /// Makes the threshold a decimal one, which is compared in millionths.
    pub const fn decimal(self) -> Self {
        Self {
            scale: DECIMAL,
            ..self
        }
    }

    /// Returns the number by which a written value is compared.
    pub fn number(self, written: &Value) -> i64 {
        match (self.scale, written) {
            (1, Value::Int(n)) => self.effective(*n),
            // Domains bound written numbers, so this cannot overflow.
            (scale, value) => {
                let number = value.as_number().unwrap_or(0.0);
                self.effective((number * scale as f64).round() as i64)
            }
        }
    }

    fn effective(self, written: i64) -> i64 {
        match (written, self.zero) {
            (0, ZeroMeaning::NoBound) => self.loosest(),
            (0, ZeroMeaning::Elsewhere) => self.elsewhere(),
            _ => written,
        }
    }

    /// Returns the written form of a compared number.
    pub fn to_value(self, number: i64) -> Value {
        match (self.scale, self.zero) {
            (_, ZeroMeaning::Elsewhere) if number == self.elsewhere() => Value::Int(0),
            (1, _) => Value::Int(number),
            // Measured numbers are ratios and shares.
            (scale, _) => Value::Float(number as f64 / scale as f64),
        }
    }

    /// Returns the bound that every value satisfies.
    pub fn always(self) -> i64 {
        match self.side {
            ThresholdSide::AtMost => i64::MAX,
            ThresholdSide::AtLeast => i64::MIN,
        }
    }

    /// Returns the effective value of [`ZeroMeaning::Elsewhere`]: the strictest value but one.
    pub fn elsewhere(self) -> i64 {
        match self.side {
            ThresholdSide::AtMost => i64::MAX - 1,
            ThresholdSide::AtLeast => i64::MIN + 1,
        }
    }

    /// Returns whether a written value accepts every fact: a 0 without a bound, or a 0 that every bound reaches.
    pub fn is_idle(self, written: &Value) -> bool {
        *written == Value::Int(0)
            && (self.zero != ZeroMeaning::Number || self.side == ThresholdSide::AtMost)
    }

    /// Returns whether an effective value accepts a fact with this bound.
    pub fn accepts(self, value: i64, bound: i64) -> bool {
        match self.side {
            ThresholdSide::AtMost => value <= bound,
            ThresholdSide::AtLeast => value >= bound,
        }
    }

    /// Returns whether `a` is the looser of two effective values.
    pub fn looser(self, a: i64, b: i64) -> bool {
        match self.side {
            ThresholdSide::AtMost => a < b,
            ThresholdSide::AtLeast => a > b,
        }
    }

    fn loosest(self) -> i64 {
        match self.side {
            ThresholdSide::AtMost => i64::MIN,
            ThresholdSide::AtLeast => i64::MAX,
        }
    }
}

/// The values that a parameter may have.
#[derive(Clone, Copy, Debug)]
pub enum Domain {
    /// A whole number from `min` to `max`.
    Int {
        /// The minimum allowed value.
        min: i64,
        /// The maximum allowed value.
        max: i64,
    },
    /// A number from `min` to `max`.
    Float {
        /// The minimum allowed value.
        min: f64,
        /// The maximum allowed value.
        max: f64,
    },
    /// Yes or no.
    Flag,
    /// A word of this list.
    Word(&'static [&'static str]),
    /// A word of this list, or a whole number from `min` to `max`.
    WordOrInt {
        /// The words.
        words: &'static [&'static str],
        /// The minimum allowed number.
        min: i64,
        /// The maximum allowed number.
        max: i64,
    },
    /// A list of distinct words of this list.
    Words(&'static [&'static str]),
    /// A list of at least one whole number from `min` to `max`, in rising order.
    Rising {
        /// The minimum allowed value.
        min: i64,
        /// The maximum allowed value.
        max: i64,
    },
    /// A set of chars, written as a text of at least one char.
    CharSet,
    /// A regular expression in the syntax of the `regex` crate.
    Regex,
    /// A list of regular expressions. A pattern that matches every line is rejected.
    Regexes,
    /// A list of texts that are not empty.
    Texts,
    /// A list of globs: `*`, `?`, `[a-z]`, `{this,that}`.
    Globs,
    /// A list of tables with exactly these fields, each a whole number of at least 1.
    Rows(&'static [&'static str]),
    /// A program and its arguments.
    Program,
    /// A table of any values.
    Free,
}

impl Domain {
    /// Returns whether a list in a grid is one value of this parameter, not several values.
    pub fn is_list(&self) -> bool {
        matches!(
            self,
            Self::Words(_)
                | Self::Rising { .. }
                | Self::Regexes
                | Self::Texts
                | Self::Globs
                | Self::Rows(_)
                | Self::Program
        )
    }

    /// Checks that `value` is allowed.
    ///
    /// # Errors
    /// The value is not allowed. The error describes the allowed values.
    pub fn check(&self, value: &Value) -> Result<(), InvalidValue> {
        self.fits(value).map_err(InvalidValue)
    }

    fn fits(&self, value: &Value) -> Result<(), String> {
        let fits = match (self, value) {
            (Self::Int { min, max }, Value::Int(n)) => min <= n && n <= max,
            (Self::Float { min, max }, Value::Int(_) | Value::Float(_)) => {
                value.as_number().is_some_and(|x| *min <= x && x <= *max)
            }
            (Self::Flag, Value::Bool(_)) => true,
            (Self::Word(words), Value::Text(w)) => words.contains(&w.as_str()),
            (Self::WordOrInt { words, .. }, Value::Text(w)) => words.contains(&w.as_str()),
            (Self::WordOrInt { min, max, .. }, Value::Int(n)) => min <= n && n <= max,
            (Self::Words(words), Value::List(items)) => all_are_words(items, words),
            (Self::Rising { min, max }, Value::List(items)) => is_rising(items, *min, *max),
            (Self::CharSet, Value::Text(s)) => !s.is_empty(),
            (Self::Regex, Value::Text(s)) => return pattern(s),
            (Self::Regexes, Value::List(items)) => return check_ignore(items),
            (Self::Texts, Value::List(items)) => {
                let is_text = |item: &Value| item.as_text().is_some_and(|text| !text.is_empty());
                items.iter().all(is_text)
            }
            (Self::Globs, Value::List(items)) => return globs(items),
            (Self::Rows(fields), Value::List(rows)) => rows.iter().all(|row| is_row(row, fields)),
            (Self::Program, Value::List(words)) => {
                !words.is_empty() && words.iter().all(|w| w.as_text().is_some())
            }
            (Self::Free, Value::Table(_)) => true,
            _ => false,
        };
        if fits {
            Ok(())
        } else {
            Err(format!("expected {self}"))
        }
    }
}

fn is_rising(items: &[Value], min: i64, max: i64) -> bool {
    let numbers: Option<Vec<i64>> = items.iter().map(Value::as_int).collect();
    numbers.is_some_and(|n| {
        !n.is_empty()
            && n.iter().all(|x| min <= *x && *x <= max)
            && n.windows(2).all(|pair| pair[0] < pair[1])
    })
}

fn all_are_words(items: &[Value], words: &[&str]) -> bool {
    let known = |item: &Value| item.as_text().is_some_and(|w| words.contains(&w));
    items.iter().all(known) && (1..items.len()).all(|i| !items[..i].contains(&items[i]))
}

fn is_row(row: &Value, fields: &[&str]) -> bool {
    let whole = |name: &&str| {
        row.field(name)
            .and_then(Value::as_int)
            .is_some_and(|n| (1..=i64::from(u32::MAX)).contains(&n))
    };
    matches!(row, Value::Table(table) if table.len() == fields.len()) && fields.iter().all(whole)
}

/// Checks that a text is a regular expression.
pub(crate) fn pattern(text: &str) -> Result<(), String> {
    match Regex::new(text) {
        Ok(_) => Ok(()),
        // The message of `regex` has several lines. The last one is the error.
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

fn check_ignore(items: &[Value]) -> Result<(), String> {
    let patterns: Option<Vec<&str>> = items.iter().map(Value::as_text).collect();
    Ignore::new(&patterns.ok_or("expected a list of regular expressions")?).map(drop)
}

fn globs(items: &[Value]) -> Result<(), String> {
    items.iter().try_for_each(|item| match item {
        Value::Text(text) => match Glob::new(text) {
            Ok(_) => Ok(()),
            Err(error) => Err(format!("expected globs: {}", error.kind())),
        },
        _ => Err("expected a list of globs".into()),
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
            Self::Int { min, max } => write!(f, "a whole number, {min}..{max}"),
            Self::Flag => f.write_str("true | false"),
            Self::Word(words) => f.write_str(&quoted(words)),
            Self::WordOrInt { words, min, max } => {
                write!(f, "{} | a whole number, {min}..{max}", quoted(words))
            }
            Self::Words(words) => write!(f, "a list of {}", quoted(words)),
            Self::Rising { min, max } => write!(f, "rising whole numbers, {min}..{max}"),
            Self::CharSet => f.write_str("a text of at least one char"),
            Self::Regex => f.write_str("a regular expression"),
            Self::Regexes => f.write_str("a list of regular expressions"),
            Self::Texts => f.write_str("a list of texts"),
            Self::Globs => f.write_str("a list of globs"),
            Self::Float { min, max } => write!(f, "a number, {min:?}..{max:?}"),
            Self::Rows(fields) => write!(f, "a list of tables {{ {} }}", fields.join(", ")),
            Self::Program => f.write_str("a list: a program and its arguments"),
            Self::Free => f.write_str("a table"),
        }
    }
}
