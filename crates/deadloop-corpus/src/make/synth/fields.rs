//! Reads a TOML table by a list of [`Key`]s: unknown keys, wrong types and numbers out of bounds are
//! told with their line before anything looks at a value.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;

use serde_json::Value as Json;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::keys::{Domain, Key};
use crate::make::plant::Rng;

/// What is wrong with a spec or a file of forms, and in which line of it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{line}: {what}, expected {expected}")]
pub struct SpecError {
    /// Line, from 1.
    pub line: usize,
    /// What is wrong, a lower-case fragment.
    pub what: String,
    /// What was expected.
    pub expected: String,
}

impl SpecError {
    pub(crate) fn at(line: usize, what: impl Into<String>, expected: impl Into<String>) -> Self {
        Self {
            line,
            what: what.into(),
            expected: expected.into(),
        }
    }
}

/// Both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bounds {
    pub(crate) low: usize,
    pub(crate) high: usize,
}

impl Bounds {
    pub(crate) const fn new(low: usize, high: usize) -> Self {
        Self { low, high }
    }

    pub(crate) fn draw(self, rng: &mut Rng) -> usize {
        rng.between(self.low, self.high)
    }

    pub(crate) fn holds(self, number: usize) -> bool {
        (self.low..=self.high).contains(&number)
    }
}

impl fmt::Display for Bounds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.low == self.high {
            write!(f, "{}", self.low)
        } else {
            write!(f, "{} to {}", self.low, self.high)
        }
    }
}

#[derive(Clone, Debug)]
enum Value {
    Texts(Vec<String>),
    Whole(u64),
    Ranges(Vec<Bounds>),
    Number(f64),
    Flag(bool),
    Groups(Vec<Vec<String>>),
    Lists(BTreeMap<String, Vec<Json>>),
    Table(Fields),
    Tables(Vec<Fields>),
}

/// A table whose keys are known and whose values are within their bounds.
#[derive(Clone, Debug)]
pub(crate) struct Fields {
    /// The line on which it begins.
    pub(crate) line: usize,
    values: BTreeMap<&'static str, (Value, usize)>,
}

impl Fields {
    /// Reads a file.
    pub(crate) fn parse(text: &str, keys: &'static [Key]) -> Result<Self, SpecError> {
        let lines = Lines(text);
        let table = DeTable::parse(text).map_err(|e| {
            let what = e.message().trim().replace('\n', ", ");
            SpecError::at(lines.of(e.span().unwrap_or(0..0)), what, "TOML")
        })?;
        lines.table(table.get_ref(), 1, keys)
    }

    fn get(&self, name: &str) -> Option<&Value> {
        self.values.get(name).map(|(value, _)| value)
    }

    /// The line of a key; of the table where it was left out.
    pub(crate) fn line_of(&self, name: &str) -> usize {
        self.values.get(name).map_or(self.line, |(_, line)| *line)
    }

    /// The names of the keys that were given.
    pub(crate) fn given(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.values.keys().copied()
    }

    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.texts(name).first().map(String::as_str)
    }

    pub(crate) fn string(&self, name: &str) -> String {
        self.text(name).unwrap_or_default().to_owned()
    }

    pub(crate) fn texts(&self, name: &str) -> &[String] {
        match self.get(name) {
            Some(Value::Texts(texts)) => texts,
            _ => &[],
        }
    }

    pub(crate) fn whole(&self, name: &str) -> Option<u64> {
        match self.get(name) {
            Some(Value::Whole(number)) => Some(*number),
            _ => None,
        }
    }

    pub(crate) fn ranges(&self, name: &str) -> &[Bounds] {
        match self.get(name) {
            Some(Value::Ranges(ranges)) => ranges,
            _ => &[],
        }
    }

    pub(crate) fn range(&self, name: &str) -> Option<Bounds> {
        self.ranges(name).first().copied()
    }

    pub(crate) fn number(&self, name: &str) -> Option<f64> {
        match self.get(name) {
            Some(Value::Number(number)) => Some(*number),
            _ => None,
        }
    }

    pub(crate) fn flag(&self, name: &str) -> Option<bool> {
        match self.get(name) {
            Some(Value::Flag(flag)) => Some(*flag),
            _ => None,
        }
    }

    pub(crate) fn groups(&self, name: &str) -> &[Vec<String>] {
        match self.get(name) {
            Some(Value::Groups(groups)) => groups,
            _ => &[],
        }
    }

    pub(crate) fn lists(&self, name: &str) -> BTreeMap<String, Vec<Json>> {
        match self.get(name) {
            Some(Value::Lists(lists)) => lists.clone(),
            _ => BTreeMap::new(),
        }
    }

    pub(crate) fn table(&self, name: &str) -> Option<&Self> {
        match self.get(name) {
            Some(Value::Table(table)) => Some(table),
            _ => None,
        }
    }

    pub(crate) fn tables(&self, name: &str) -> &[Self] {
        match self.get(name) {
            Some(Value::Tables(tables)) => tables,
            _ => &[],
        }
    }
}

/// Turns byte positions of a text into lines.
struct Lines<'a>(&'a str);

type Item<'a> = Spanned<DeValue<'a>>;

impl Lines<'_> {
    fn of(&self, span: Range<usize>) -> usize {
        let before = self.0.as_bytes().iter().take(span.start);
        1 + before.filter(|byte| **byte == b'\n').count()
    }

    fn table(
        &self,
        table: &DeTable<'_>,
        line: usize,
        keys: &'static [Key],
    ) -> Result<Fields, SpecError> {
        let mut values = BTreeMap::new();
        for (name, item) in table {
            let at = self.of(name.span());
            let Some(key) = keys.iter().find(|key| key.name == name.get_ref().as_ref()) else {
                let known: Vec<&str> = keys.iter().map(|key| key.name).collect();
                let what = format!("unknown key {}", name.get_ref());
                return Err(SpecError::at(
                    at,
                    what,
                    format!("one of {}", known.join(", ")),
                ));
            };
            let value = self.value(key.domain, item).map_err(|error| match error {
                Refused::Here => {
                    let shown = self.0.get(item.span()).unwrap_or_default();
                    let short: String = shown.chars().take(40).collect();
                    let what = format!("{} = {}", key.name, short.replace('\n', " "));
                    SpecError::at(self.of(item.span()), what, key.domain.expected())
                }
                Refused::Inside(error) => error,
            })?;
            values.insert(key.name, (value, at));
        }
        let missing = |key: &&Key| key.default == "required" && !values.contains_key(key.name);
        match keys.iter().find(missing) {
            Some(key) => Err(SpecError::at(
                line,
                format!("no {}", key.name),
                key.domain.expected(),
            )),
            None => Ok(Fields { line, values }),
        }
    }

    fn value(&self, domain: Domain, item: &Item<'_>) -> Result<Value, Refused> {
        let value = item.get_ref();
        let some = match domain {
            Domain::Text => text(value).map(|text| Value::Texts(vec![text])),
            Domain::Texts => texts(value).map(Value::Texts),
            Domain::Word(words) => text(value)
                .filter(|text| words.contains(&text.as_str()))
                .map(|text| Value::Texts(vec![text])),
            Domain::Words(words) => texts(value)
                .filter(|texts| texts.iter().all(|text| words.contains(&text.as_str())))
                .map(Value::Texts),
            Domain::Whole(low, high) => whole(value)
                .filter(|number| (low..=high).contains(number))
                .map(Value::Whole),
            Domain::Range(low, high) => {
                range(value, low, high).map(|range| Value::Ranges(vec![range]))
            }
            Domain::Ranges(low, high) => ranges(value, low, high).map(Value::Ranges),
            Domain::Share => number(value)
                .filter(|number| *number > 0.0 && *number <= 1.0)
                .map(Value::Number),
            Domain::Part => number(value)
                .filter(|number| (0.0..1.0).contains(number))
                .map(Value::Number),
            Domain::Flag => value.as_bool().map(Value::Flag),
            Domain::Groups => list(value, texts)
                .filter(|groups| groups.iter().all(|group| group.len() > 1))
                .map(Value::Groups),
            Domain::Lists => lists(value).map(Value::Lists),
            Domain::Table(keys) => match value.as_table() {
                Some(table) => Some(Value::Table(self.table(
                    table,
                    self.of(item.span()),
                    keys,
                )?)),
                None => None,
            },
            Domain::Tables(keys) => return self.tables(item, keys),
        };
        some.ok_or(Refused::Here)
    }

    fn tables(&self, item: &Item<'_>, keys: &'static [Key]) -> Result<Value, Refused> {
        let items = item.get_ref().as_array().ok_or(Refused::Here)?;
        let mut tables = Vec::new();
        for item in items.iter() {
            let table = item.get_ref().as_table().ok_or(Refused::Here)?;
            tables.push(self.table(table, self.of(item.span()), keys)?);
        }
        Ok(Value::Tables(tables))
    }
}

/// Why a value is refused.
enum Refused {
    /// It is outside the domain of its key.
    Here,
    /// It is a table, and something in that table is wrong.
    Inside(SpecError),
}

impl From<SpecError> for Refused {
    fn from(error: SpecError) -> Self {
        Self::Inside(error)
    }
}

fn text(value: &DeValue<'_>) -> Option<String> {
    value
        .as_str()
        .filter(|text| !text.is_empty())
        .map(str::to_owned)
}

fn list<T>(value: &DeValue<'_>, of: impl Fn(&DeValue<'_>) -> Option<T>) -> Option<Vec<T>> {
    let items = value.as_array()?;
    let list: Option<Vec<T>> = items.iter().map(|item| of(item.get_ref())).collect();
    list.filter(|list| !list.is_empty())
}

fn texts(value: &DeValue<'_>) -> Option<Vec<String>> {
    text(value)
        .map(|text| vec![text])
        .or_else(|| list(value, text))
}

fn whole(value: &DeValue<'_>) -> Option<u64> {
    let number = value.as_integer()?;
    u64::from_str_radix(number.as_str(), number.radix()).ok()
}

fn number(value: &DeValue<'_>) -> Option<f64> {
    let float = value.as_float().map(|float| float.as_str().parse().ok());
    float.unwrap_or_else(|| whole(value).map(|number| number as f64))
}

fn range(value: &DeValue<'_>, low: u64, high: u64) -> Option<Bounds> {
    let ends = match whole(value) {
        Some(number) => vec![number],
        None => list(value, whole).filter(|ends| ends.len() == 2)?,
    };
    let (first, last) = (*ends.first()?, *ends.last()?);
    let within = low <= first && first <= last && last <= high;
    let bounds = || Some(Bounds::new(first.try_into().ok()?, last.try_into().ok()?));
    within.then(bounds).flatten()
}

fn ranges(value: &DeValue<'_>, low: u64, high: u64) -> Option<Vec<Bounds>> {
    let single = range(value, low, high).map(|range| vec![range]);
    single.or_else(|| list(value, |value| range(value, low, high)))
}

fn lists(value: &DeValue<'_>) -> Option<BTreeMap<String, Vec<Json>>> {
    let table = value.as_table()?;
    let entry = |(name, item): (&Spanned<_>, &Item<'_>)| {
        let name: &std::borrow::Cow<'_, str> = name.get_ref();
        Some((name.to_string(), list(item.get_ref(), json)?))
    };
    table.iter().map(entry).collect()
}

fn json(value: &DeValue<'_>) -> Option<Json> {
    match value {
        DeValue::String(text) => Some(Json::from(text.as_ref())),
        DeValue::Boolean(flag) => Some(Json::from(*flag)),
        DeValue::Integer(_) => whole(value).map(Json::from),
        DeValue::Array(_) => list(value, json).map(Json::from),
        _ => None,
    }
}
