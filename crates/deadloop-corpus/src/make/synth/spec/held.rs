//! What a key of a spec may hold: serde reads it, and it describes itself in words.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Deref;

use serde::de::{Deserialize, DeserializeOwned, Deserializer, Error};
use serde_json::Value as Json;

use crate::make::plant::Rng;

/// Most chars of anything: what a recording can be expected to hold.
pub(crate) const CHARS: u64 = 10_000_000;

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

/// What a key may hold.
pub(crate) trait Held {
    /// In words, for messages and for `--keys`.
    fn expected() -> String;
}

/// A text, not empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Text(String);

/// A whole number between these.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Whole<const LOW: u64, const HIGH: u64>(pub(crate) u64);

/// `n` or `[low, high]`, both within these.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Within<const LOW: u64, const HIGH: u64>(pub(crate) Bounds);

/// Above 0 and at most 1.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Share(pub(crate) f64);

/// From 0 to below 1.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part(pub(crate) f64);

/// One of the words that name a `T`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Word<T>(pub(crate) T);

/// One, or a list of at least one.
#[derive(Clone, Debug)]
pub(crate) struct Many<T>(Vec<T>);

/// Lists of at least two words, each of which may stand for the others of its list.
#[derive(Clone, Debug, Default)]
pub(crate) struct Groups(pub(crate) Vec<Vec<Text>>);

/// Lists under names, none of them empty.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lists(pub(crate) BTreeMap<String, Vec<Json>>);

/// What is chosen by its name.
pub(crate) trait Named: Copy + 'static {
    /// All that there is.
    fn all() -> Vec<Self>;

    /// As it is written.
    fn name(self) -> &'static str;
}

/// `n` or `[low, high]`, as it is written.
#[derive(serde::Deserialize)]
#[serde(untagged)]
enum Ends {
    One(u64),
    Two([u64; 2]),
}

impl Ends {
    fn within(self, low: u64, high: u64) -> Option<Bounds> {
        let [first, last] = match self {
            Self::One(number) => [number; 2],
            Self::Two(ends) => ends,
        };
        let bounds = Bounds::new(first.try_into().ok()?, last.try_into().ok()?);
        (low <= first && first <= last && last <= high).then_some(bounds)
    }
}

/// The ends of a range, or its default.
pub(crate) fn ends<const LOW: u64, const HIGH: u64>(
    range: Option<Within<LOW, HIGH>>,
    low: usize,
    high: usize,
) -> Bounds {
    range.map_or(Bounds::new(low, high), |range| range.0)
}

/// One or several, as it is written.
#[derive(serde::Deserialize)]
#[serde(untagged)]
enum OneOrMany<T> {
    One(T),
    Many(Vec<T>),
}

/// Reads what serde can make a `W`, if `of` makes something of that.
fn read<'de, D: Deserializer<'de>, W: Deserialize<'de>, T: Held>(
    from: D,
    of: impl FnOnce(W) -> Option<T>,
) -> Result<T, D::Error> {
    let refused = |what: &str| D::Error::custom(format!("{what}, expected {}", T::expected()));
    let written = W::deserialize(from).map_err(|error| refused(error.to_string().trim()))?;
    of(written).ok_or_else(|| refused("another value"))
}

/// A type that is read from another one, where that is in its bounds.
macro_rules! held {
    ($([$($generic:tt)*] $of:ty: |$written:ident: $as:ty| $read:expr, $expected:expr;)+) => {$(
        impl<$($generic)*> Held for $of {
            fn expected() -> String {
                $expected
            }
        }

        impl<'de, $($generic)*> Deserialize<'de> for $of {
            fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                read(from, |$written: $as| $read)
            }
        }
    )+};
}

held! {
    [] Text: |text: String| (!text.is_empty()).then_some(Self(text)),
        "text".into();
    [const LOW: u64, const HIGH: u64] Whole<LOW, HIGH>:
        |number: u64| (LOW..=HIGH).contains(&number).then_some(Self(number)),
        if HIGH > CHARS { "a whole number".into() } else { format!("a whole number from {LOW} to {HIGH}") };
    [const LOW: u64, const HIGH: u64] Within<LOW, HIGH>:
        |ends: Ends| ends.within(LOW, HIGH).map(Self),
        format!("n or [low, high] within {LOW} to {HIGH}");
    [] Share: |number: f64| (number > 0.0 && number <= 1.0).then_some(Self(number)),
        "a number above 0, at most 1".into();
    [] Part: |number: f64| (0.0..1.0).contains(&number).then_some(Self(number)),
        "a number from 0 to below 1".into();
    [T: Named] Word<T>:
        |word: String| T::all().into_iter().find(|of| of.name() == word).map(Self),
        names::<T>().join(" | ");
    [T: Held + DeserializeOwned] Many<T>:
        |written: OneOrMany<T>| match written {
            OneOrMany::One(one) => Some(Self(vec![one])),
            OneOrMany::Many(all) => (!all.is_empty()).then_some(Self(all)),
        },
        format!("{}, or a list of such", T::expected());
    [] Groups:
        |groups: Vec<Vec<Text>>| groups.iter().all(|group| group.len() > 1).then_some(Self(groups)),
        "a list of lists of at least two words".into();
    [] Lists:
        |lists: BTreeMap<String, Vec<Json>>| lists.values().all(|list| is_plain(list)).then_some(Self(lists)),
        "a table of lists".into();
}

fn names<T: Named>() -> Vec<&'static str> {
    T::all().into_iter().map(T::name).collect()
}

/// Whether a list has something in it, and neither a table nor a date.
fn is_plain(list: &[Json]) -> bool {
    let plain = |item: &Json| match item {
        Json::Array(list) => is_plain(list),
        item => !item.is_object(),
    };
    !list.is_empty() && list.iter().all(plain)
}

impl Held for bool {
    fn expected() -> String {
        "true or false".into()
    }
}

/// A key that may be left out.
impl<T: Held> Held for Option<T> {
    fn expected() -> String {
        T::expected()
    }
}

/// Tables of one name.
impl<T: Held> Held for Vec<T> {
    fn expected() -> String {
        "tables".into()
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

impl<T> Deref for Word<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl Deref for Text {
    type Target = String;

    fn deref(&self) -> &String {
        &self.0
    }
}

impl<T> Deref for Many<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}
