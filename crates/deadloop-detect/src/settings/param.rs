//! [`Param`]: the description of one parameter of a detector.
//!
//! Validation, `deadloop detectors` and the documentation are derived from it.

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
    /// The part of the detector that the parameter belongs to: the meter or the rule.
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

/// Builders. A parameter is structural and has no unit, unless one of the methods below changes that.
impl Param {
    /// Returns a parameter of any domain. The functions below cover the frequent domains.
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

    /// Returns a whole number in `range`.
    pub const fn count(name: &'static str, default: i64, range: RangeInclusive<i64>) -> Self {
        let (min, max) = (*range.start(), *range.end());
        Self::new(name, Literal::Int(default), Domain::Int { min, max })
    }

    /// Returns a number in `range`.
    pub const fn number(name: &'static str, default: f64, range: RangeInclusive<f64>) -> Self {
        let (min, max) = (*range.start(), *range.end());
        Self::new(name, Literal::Float(default), Domain::Float { min, max })
    }

    /// Returns a number from 0 to 1.
    pub const fn share(name: &'static str, default: f64) -> Self {
        Self::number(name, default, 0.0..=1.0)
    }

    /// Returns a yes or no.
    pub const fn flag(name: &'static str, default: bool) -> Self {
        Self::new(name, Literal::Bool(default), Domain::Flag)
    }

    /// Returns a parameter with `words` as its values.
    pub const fn word(name: &'static str, default: &'static str, words: StaticTexts) -> Self {
        Self::new(name, Literal::Text(default), Domain::Word(words))
    }

    /// Returns a list of any of `words`, each at most once.
    pub const fn words(name: &'static str, default: StaticTexts, words: StaticTexts) -> Self {
        Self::new(name, Literal::Texts(default), Domain::Words(words))
    }

    /// Returns a parameter with `words` and the whole numbers in `range` as its values.
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

    /// Returns a list of texts that are not empty.
    pub const fn texts(name: &'static str, default: StaticTexts) -> Self {
        Self::new(name, Literal::Texts(default), Domain::Texts)
    }

    /// Returns a list of globs, empty by default.
    pub const fn globs(name: &'static str) -> Self {
        Self::new(name, Literal::Texts(&[]), Domain::Globs)
    }

    /// Returns a table of any values, empty by default.
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

    /// Makes the parameter a threshold that a fact's bound has to reach.
    pub const fn at_most(self) -> Self {
        self.threshold(Threshold::AT_MOST)
    }

    /// Makes the parameter a threshold that a fact's bound must not exceed.
    pub const fn at_least(self) -> Self {
        self.threshold(Threshold::AT_LEAST)
    }

    /// Makes the parameter a threshold that a number of copies has to reach.
    pub const fn copies(self) -> Self {
        self.threshold(Threshold::COPIES)
    }

    /// Sets the meaning of a written 0, for a threshold.
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

/// The part of the detector that a parameter belongs to: the meter or the rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParamRole {
    /// The parameter changes the measurement. A sweep measures once for each value.
    Structural,
    /// The parameter changes only the acceptance. A sweep decides about each value on the same facts.
    Threshold(Threshold),
}

/// The comparison of a threshold with a fact's bound. Numbers are compared as whole numbers; others are converted into
/// [millionths](DECIMAL).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Threshold {
    /// The side of a fact's bound on which the setting's value must be.
    pub side: ThresholdSide,
    /// Whether the threshold counts copies. Among equally good settings, the one that requires more copies is the safer
    /// choice.
    pub repeats: bool,
    /// The meaning of a written 0.
    pub zero: ZeroMeaning,
    /// The factor by which a written value is multiplied before it is compared: 1, or [`DECIMAL`].
    pub scale: i64,
}

/// The scale of thresholds that are not whole numbers.
pub const DECIMAL: i64 = 1_000_000;

/// The side of a fact's bound on which a setting's value accepts the fact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThresholdSide {
    /// Accepts while value <= bound. A higher value is more careful.
    AtMost,
    /// Accepts while value >= bound. A lower value is more careful.
    AtLeast,
}

/// The meaning of a written 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ZeroMeaning {
    /// The number 0.
    Number,
    /// No bound.
    NoBound,
    /// "The value of another parameter". It satisfies no bound except [`Bound::Exactly`](crate::harness::Bound) with
    /// its own effective value, [`Threshold::elsewhere`].
    Elsewhere,
}

impl Threshold {
    /// A whole number that a fact's bound has to reach.
    pub const AT_MOST: Self = Self {
        side: ThresholdSide::AtMost,
        repeats: false,
        zero: ZeroMeaning::Number,
        scale: 1,
    };
    /// A whole number that a fact's bound must not exceed.
    pub const AT_LEAST: Self = Self {
        side: ThresholdSide::AtLeast,
        ..Self::AT_MOST
    };

    /// A number of copies that a fact's bound has to reach.
    pub const COPIES: Self = Self {
        repeats: true,
        ..Self::AT_MOST
    };

    /// Makes the threshold one of decimal numbers, which are compared in millionths.
    pub const fn decimal(self) -> Self {
        Self {
            scale: DECIMAL,
            ..self
        }
    }

    /// Returns the number that a written value is compared as.
    pub fn number(self, written: &Value) -> i64 {
        match (self.scale, written) {
            (1, Value::Int(n)) => self.effective(*n),
            // Domains keep written numbers small enough for this.
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

    /// Returns the written value of a compared number.
    pub fn written(self, number: i64) -> Value {
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

    /// Returns the effective value of a 0 that refers to another parameter: the strictest value except the bound that
    /// all values satisfy.
    pub fn elsewhere(self) -> i64 {
        match self.side {
            ThresholdSide::AtMost => i64::MAX - 1,
            ThresholdSide::AtLeast => i64::MIN + 1,
        }
    }

    /// Returns whether a written value accepts everything: a 0 that means no bound, or that every bound reaches.
    pub fn is_idle(self, written: &Value) -> bool {
        *written == Value::Int(0)
            && (self.zero != ZeroMeaning::Number || self.side == ThresholdSide::AtMost)
    }

    /// Returns whether a setting's (effective) value accepts a fact with this bound.
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
    /// Any of these words, each at most once.
    Words(&'static [&'static str]),
    /// Whole numbers from `min` to `max`, at least one, each greater than the one before.
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
    /// A list of tables, each with exactly these whole numbers, none below 1.
    Rows(&'static [&'static str]),
    /// A program and its arguments.
    Program,
    /// Any values under any names.
    Free,
}

impl Domain {
    /// Returns whether a grid's list is one value of this parameter rather than several values.
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
    /// Returns a description of the allowed values.
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
            (Self::Regexes, Value::List(items)) => return white_list(items),
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

/// Checks that a text is a regular expression. Returns the error in it if not.
pub(crate) fn pattern(text: &str) -> Result<(), String> {
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

fn white_list(items: &[Value]) -> Result<(), String> {
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
