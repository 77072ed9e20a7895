//! The keys of a spec and of a file of forms, as the tables in [`super::tables`] have them: for `deadloop synth --keys`.

use super::kinds::{KINDS, Kind};
use super::tables::{
    Chunks, Drift, Form, FormFile, FormsTable, ItemTable, SourceTable, SpecTable, Tool, Unit,
};

/// One key.
pub(crate) struct Key {
    /// The field that it fills: its name, and `r#` before a word of Rust.
    pub(super) field: &'static str,
    /// What holds where it is left out; empty where it may not be.
    pub(super) default: &'static str,
    /// What it means.
    pub(super) meaning: &'static str,
    /// What it may hold.
    pub(super) expected: fn() -> String,
}

impl Key {
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

/// The tables, in the order in which they are explained.
const TABLES: [(&str, &[Key]); 10] = [
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
    let text = |table: &'static str, key: &Key| {
        let has = |kind: &&Kind| table == "[[item]]" && kind.has(key.name());
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
