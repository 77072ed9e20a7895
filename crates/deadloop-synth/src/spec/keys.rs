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
