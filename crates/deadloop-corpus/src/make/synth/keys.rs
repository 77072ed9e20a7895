//! Every key of a spec: its bounds, default and meaning. The reader ([`super::fields`]) checks by
//! the tables in [`super::tables`] and [`super::items`], and `deadloop synth --keys` prints them, so that what is documented
//! is what is read.

use super::items::{CHARS, CHUNKS, DRIFT, ITEM};
use super::tables::{FORM, FORM_FILE, FORMS, SOURCE, SPEC, TOOL, UNIT};

/// What a key may hold.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Domain {
    /// Text, not empty.
    Text,
    /// One text or a list of them.
    Texts,
    /// A whole number between these.
    Whole(u64, u64),
    /// `n` or `[low, high]`, both within these.
    Range(u64, u64),
    /// A range, or a list of ranges.
    Ranges(u64, u64),
    /// Above 0 and at most 1.
    Share,
    /// From 0 to below 1.
    Part,
    /// true or false.
    Flag,
    /// One of these words.
    Word(&'static [&'static str]),
    /// One of these words, or a list of some.
    Words(&'static [&'static str]),
    /// A list of lists of texts, each of at least two.
    Groups,
    /// A table whose values are lists.
    Lists,
    /// A table with these keys.
    Table(&'static [Key]),
    /// A list of such tables.
    Tables(&'static [Key]),
}

/// One key.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Key {
    /// As it is written.
    pub(crate) name: &'static str,
    /// What it may hold.
    pub(crate) domain: Domain,
    /// What holds where it is left out; `required` where it may not be.
    pub(crate) default: &'static str,
    /// What it means.
    pub(crate) meaning: &'static str,
    /// The groups of kinds of an item that have it; 0: all.
    pub(super) groups: u16,
}

impl Domain {
    /// What is expected, for messages and the table of keys.
    pub(crate) fn expected(self) -> String {
        match self {
            Self::Text => "text".into(),
            Self::Texts => "text or a list of texts".into(),
            Self::Whole(_, high) if high > CHARS => "a whole number".into(),
            Self::Whole(low, high) => format!("a whole number from {low} to {high}"),
            Self::Range(low, high) => format!("n or [low, high] within {low} to {high}"),
            Self::Ranges(low, high) => {
                format!("[low, high] within {low} to {high}, or a list of such ranges")
            }
            Self::Share => "a number above 0, at most 1".into(),
            Self::Part => "a number from 0 to below 1".into(),
            Self::Flag => "true or false".into(),
            Self::Word(words) => words.join(" | "),
            Self::Words(words) => format!("{}, or a list of some", words.join(" | ")),
            Self::Groups => "a list of lists of at least two words".into(),
            Self::Lists => "a table of lists".into(),
            Self::Table(_) => "a table".into(),
            Self::Tables(_) => "tables".into(),
        }
    }
}

/// The tables of a spec and of a file of forms, in the order in which they are explained.
const TABLES: [(&str, &[Key]); 10] = [
    ("the spec", SPEC),
    ("[[source]]", SOURCE),
    ("[[unit]]", UNIT),
    ("[[tool]]", TOOL),
    ("[[forms]]", FORMS),
    ("[[item]]", ITEM),
    ("drift = { … }", DRIFT),
    ("chunks = { … }", CHUNKS),
    ("a file of forms", FORM_FILE),
    ("[[form]]", FORM),
];

/// One key, as `--keys` tells it.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct KeyText {
    /// The table it is in.
    pub table: &'static str,
    /// Its name.
    pub key: &'static str,
    /// What it may hold.
    pub expected: String,
    /// What holds where it is left out.
    pub default: &'static str,
    /// What it means, and of which kinds where not of all.
    pub meaning: String,
}

/// Every key there is.
pub fn key_texts() -> Vec<KeyText> {
    let text = |table, key: &Key| KeyText {
        table,
        key: key.name,
        expected: key.domain.expected(),
        default: key.default,
        meaning: match key.kinds().as_slice() {
            [] => key.meaning.to_owned(),
            kinds => format!("{} ({})", key.meaning, kinds.join(", ")),
        },
    };
    TABLES
        .iter()
        .flat_map(|(table, keys)| keys.iter().map(move |key| text(table, key)))
        .collect()
}
