//! The keys of specs and forms, for `deadloop synth --keys`: `keys.toml`.

use serde::{Deserialize, Serialize};

use super::kinds::{ItemKind, KINDS};

/// A key, as `--keys` prints it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct KeyText {
    /// The table of the key.
    pub table: String,
    /// The name of the key.
    pub key: String,
    /// The allowed values.
    pub expected: String,
    /// The default, or `required`.
    pub default: String,
    /// The meaning, with the kinds of items that have the key, unless all have it.
    pub meaning: String,
}

#[derive(Deserialize)]
struct KeyFile {
    key: Vec<KeyText>,
}

/// Returns the allowed values of a key in a table. An empty table is the file as a whole. For the free keys of a table, these
/// are the values of the table.
pub(super) fn expected_value(table: &str, key: &str) -> String {
    let tables = match table {
        "" => ["the spec".to_owned(), "a file of forms".to_owned()],
        table => [format!("[[{table}]]"), format!("{table} = {{ … }}")],
    };
    let mut keys = key_texts().into_iter();
    let text = keys.find(|text| text.key == key && tables.contains(&text.table));
    match text {
        Some(text) => text.expected,
        None if table.is_empty() => "another value".to_owned(),
        None => expected_value("", table),
    }
}

/// Returns every key of every table.
pub fn key_texts() -> Vec<KeyText> {
    let file: Result<KeyFile, _> = toml::from_str(include_str!("keys.toml"));
    let mut keys = file.map_or_else(|why| unreachable!("keys.toml: {why}"), |file| file.key);
    for text in keys.iter_mut().filter(|text| text.table == "[[item]]") {
        let has = |kind: &&ItemKind| kind.has(&text.key);
        let kinds: Vec<&str> = KINDS.iter().filter(has).map(|kind| kind.name).collect();
        if kinds.len() < KINDS.len() {
            text.meaning += &format!(" ({})", kinds.join(", "));
        }
    }
    keys
}
