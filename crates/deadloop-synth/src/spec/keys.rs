//! The keys of specs and forms, for `deadloop synth --keys`.
//!
//! They are those of the tables in [`super::tables`].

use super::kinds::{ItemKind, KINDS};
use super::tables::{
    Chunks, Drift, Form, FormFile, FormsTable, ItemTable, SourceTable, SpecTable, Tool, Unit,
};

/// A key of a table.
pub(crate) struct SpecKey {
    /// The name of the field, with `r#` before a keyword of Rust.
    pub(super) field: &'static str,
    /// The default. Empty if the key is required.
    pub(super) default: &'static str,
    /// The meaning of the key.
    pub(super) meaning: &'static str,
    /// The function that returns the allowed values in words.
    pub(super) expected: fn() -> String,
}

impl SpecKey {
    pub(super) fn name(&self) -> &'static str {
        self.field.trim_start_matches("r#")
    }

    fn default(&self) -> &'static str {
        if self.default.is_empty() {
            "required"
        } else {
            self.default
        }
    }
}

/// The tables, in the order of the explanation.
const TABLES: [(&str, &[SpecKey]); 10] = [
    ("the spec", SpecTable::KEYS),
    ("[[source]]", SourceTable::KEYS),
    ("[[unit]]", Unit::KEYS),
    ("[[tool]]", Tool::KEYS),
    ("[[forms]]", FormsTable::KEYS),
    ("[[item]]", ItemTable::KEYS),
    ("drift = { … }", Drift::KEYS),
    ("chunks = { … }", Chunks::KEYS),
    ("a file of forms", FormFile::KEYS),
    ("[[form]]", Form::KEYS),
];

/// A key, as `--keys` prints it.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct KeyText {
    /// The table of the key.
    pub table: &'static str,
    /// The name of the key.
    pub key: &'static str,
    /// The allowed values.
    pub expected: String,
    /// The default, or `required`.
    pub default: &'static str,
    /// The meaning, with the kinds of items that have the key, unless all have it.
    pub meaning: String,
}

/// Returns every key of every table.
pub fn key_texts() -> Vec<KeyText> {
    let text = |table: &'static str, key: &SpecKey| {
        let has = |kind: &&ItemKind| table == "[[item]]" && kind.has(key.name());
        let kinds: Vec<&str> = KINDS.iter().filter(has).map(|kind| kind.name).collect();
        let kinds = match kinds.len() {
            0 => String::new(),
            all if all == KINDS.len() => String::new(),
            _ => format!(" ({})", kinds.join(", ")),
        };
        KeyText {
            table,
            key: key.name(),
            expected: (key.expected)(),
            default: key.default(),
            meaning: format!("{}{kinds}", key.meaning.trim()),
        }
    };
    let keys = TABLES
        .iter()
        .flat_map(|(table, keys)| keys.iter().map(move |key| (*table, key)));
    keys.map(|(table, key)| text(table, key)).collect()
}
