//! The types of a spec's values.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Deref;

use serde::de::{Deserialize, DeserializeOwned, Deserializer, Error};
use serde_json::Value as Json;

use crate::planted_loops::Rng;

/// The maximum number of chars of any text.
pub(crate) const MAX_CHARS: u64 = 10_000_000;

/// An inclusive range of counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CountRange {
    pub(crate) low: usize,
    pub(crate) high: usize,
}

impl CountRange {
    pub(crate) const fn new(low: usize, high: usize) -> Self {
        Self { low, high }
    }

    pub(crate) fn draw(self, rng: &mut Rng) -> usize {
        rng.uniform(self.low, self.high)
    }

    pub(crate) fn contains(self, number: usize) -> bool {
        (self.low..=self.high).contains(&number)
    }
}

impl fmt::Display for CountRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.low == self.high {
            write!(f, "{}", self.low)
        } else {
            write!(f, "{} to {}", self.low, self.high)
        }
    }
}

/// A non-empty text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NonEmptyText(String);

/// A whole number from `LOW` to `HIGH`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WholeNumber<const LOW: u64, const HIGH: u64>(pub(crate) u64);

/// A range within `LOW` to `HIGH`, written as `n` or `[low, high]`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BoundedRange<const LOW: u64, const HIGH: u64>(pub(crate) CountRange);

/// A number above 0 and at most 1.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PositiveFraction(pub(crate) f64);

/// A number of at least 0 and below 1.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fraction(pub(crate) f64);

/// A non-empty list. A single value may be written without brackets.
#[derive(Clone, Debug)]
pub(crate) struct NonEmpty<T>(Vec<T>);

/// Groups of at least two words that may replace each other.
#[derive(Clone, Debug, Default)]
pub(crate) struct WordGroups(pub(crate) Vec<Vec<NonEmptyText>>);

/// Non-empty lists by name.
#[derive(Clone, Debug, Default)]
pub(crate) struct NamedLists(pub(crate) BTreeMap<String, Vec<Json>>);

/// The written form of a range: `n` or `[low, high]`.
#[derive(serde::Deserialize)]
#[serde(untagged)]
enum WrittenRange {
    One(u64),
    Two([u64; 2]),
}

impl WrittenRange {
    fn check_bounds(self, low: u64, high: u64) -> Option<CountRange> {
        let [first, last] = match self {
            Self::One(number) => [number; 2],
            Self::Two(ends) => ends,
        };
        let bounds = CountRange::new(first.try_into().ok()?, last.try_into().ok()?);
        (low <= first && first <= last && last <= high).then_some(bounds)
    }
}

/// Returns a range, or the default range from `low` to `high`.
pub(crate) fn range_or<const LOW: u64, const HIGH: u64>(
    range: Option<BoundedRange<LOW, HIGH>>,
    low: usize,
    high: usize,
) -> CountRange {
    range.map_or(CountRange::new(low, high), |range| range.0)
}

/// The written form of a list: a single value, or several.
#[derive(serde::Deserialize)]
#[serde(untagged)]
enum OneOrMany<T> {
    One(T),
    Many(Vec<T>),
}

/// Implements `Deserialize` for types that are deserialized as another type and then checked.
macro_rules! checked_deserialize {
    ($([$($generic:tt)*] $of:ty: |$written:ident: $as:ty| $read:expr;)+) => {$(
        impl<'de, $($generic)*> Deserialize<'de> for $of {
            fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                let $written = <$as>::deserialize(from)?;
                let read: Option<Self> = $read;
                read.ok_or_else(|| D::Error::custom("another value"))
            }
        }
    )+};
}

checked_deserialize! {
    [] NonEmptyText: |text: String| (!text.is_empty()).then_some(Self(text));
    [const LOW: u64, const HIGH: u64] WholeNumber<LOW, HIGH>:
        |number: u64| (LOW..=HIGH).contains(&number).then_some(Self(number));
    [const LOW: u64, const HIGH: u64] BoundedRange<LOW, HIGH>:
        |ends: WrittenRange| ends.check_bounds(LOW, HIGH).map(Self);
    [] PositiveFraction: |number: f64| (number > 0.0 && number <= 1.0).then_some(Self(number));
    [] Fraction: |number: f64| (0.0..1.0).contains(&number).then_some(Self(number));
    [T: DeserializeOwned] NonEmpty<T>: |written: OneOrMany<T>| match written {
        OneOrMany::One(one) => Some(Self(vec![one])),
        OneOrMany::Many(all) => (!all.is_empty()).then_some(Self(all)),
    };
    [] WordGroups: |groups: Vec<Vec<NonEmptyText>>|
        groups.iter().all(|group| group.len() > 1).then_some(Self(groups));
    [] NamedLists: |lists: BTreeMap<String, Vec<Json>>|
        lists.values().all(|list| has_no_tables(list)).then_some(Self(lists));
}

/// Returns whether a list is non-empty and contains neither tables nor dates.
fn has_no_tables(list: &[Json]) -> bool {
    let plain = |item: &Json| match item {
        Json::Array(list) => has_no_tables(list),
        item => !item.is_object(),
    };
    !list.is_empty() && list.iter().all(plain)
}

impl fmt::Display for NonEmptyText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
impl From<&str> for NonEmptyText {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

impl Deref for NonEmptyText {
    type Target = String;

    fn deref(&self) -> &String {
        &self.0
    }
}

impl<T> Deref for NonEmpty<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}
