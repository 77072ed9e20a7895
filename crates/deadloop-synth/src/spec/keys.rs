//! The keys of specs and forms, for `deadloop synth --keys`.

use serde::{Deserialize, Serialize};

use super::kinds::{ItemKind, KINDS};

/// The documentation of a key, which `--keys` prints.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct KeyDoc {
    /// Table of the key.
    pub table: String,
    /// Name of the key.
    pub key: String,
    /// Allowed values.
    pub expected: String,
    /// Default value, or `required`.
    pub default: String,
    /// Meaning of the key. If only some kinds of items have the key, they follow in parentheses.
    pub meaning: String,
}

#[derive(Deserialize)]
struct KeyFile {
    key: Vec<KeyDoc>,
}

/// Returns the allowed values of a key in a table. The table name is empty for keys of the whole file. Keys of a
/// free-form table have the allowed values of that table.
pub(super) fn expected_value(table: &str, key: &str) -> String {
    let tables = match table {
        "" => ["the spec".to_owned(), "a file of forms".to_owned()],
        table => [format!("[[{table}]]"), format!("{table} = {{ … }}")],
    };
    let mut keys = describe_keys().into_iter();
    let text = keys.find(|text| text.key == key && tables.contains(&text.table));
    match text {
        Some(text) => text.expected,
        None if table.is_empty() => "another value".to_owned(),
        None => expected_value("", table),
    }
}

/// Returns the documentation of all keys, from `keys.toml`.
pub fn describe_keys() -> Vec<KeyDoc> {
    let file: Result<KeyFile, _> = toml::from_str(include_str!("keys.toml"));
    let mut keys = file.map_or_else(|why| unreachable!("keys.toml: {why}"), |file| file.key);
    for text in keys.iter_mut().filter(|text| text.table == "[[item]]") {
        let has = |kind: &&ItemKind| kind.has_key(&text.key);
        let kinds: Vec<&str> = KINDS.iter().filter(has).map(|kind| kind.name).collect();
        if kinds.len() < KINDS.len() {
            text.meaning += &format!(" ({})", kinds.join(", "));
        }
    }
    keys
}
