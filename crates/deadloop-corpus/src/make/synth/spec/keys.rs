//! The keys of a spec and of a file of forms, as the tables in [`super::tables`] have them: for `deadloop synth --keys`,
//! and as JSON Schemas, which tell an editor what can be known before `deadloop synth` runs.

use serde_json::{Map, Value as Json, json};

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
    /// The same as a JSON Schema.
    pub(super) schema: fn() -> Json,
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

/// The schema of a spec (draft 2020-12), as the object that it is.
pub fn spec_schema() -> Map<String, Json> {
    let mut schema = table(SpecTable::KEYS);
    let of = |kind: &Kind| {
        let foreign = ItemTable::KEYS.iter().map(Key::name);
        let foreign = foreign.filter(|key| !kind.has(key));
        let foreign: Map<String, Json> = foreign.map(|key| (key.into(), false.into())).collect();
        json!({
            "if": {"properties": {"kind": {"const": kind.name}}, "required": ["kind"]},
            "then": {"properties": foreign},
        })
    };
    schema["properties"]["item"]["items"]["allOf"] = KINDS.iter().map(of).collect();
    schema
}

/// The schema of a file of forms.
pub fn forms_schema() -> Map<String, Json> {
    table(FormFile::KEYS)
}

/// A table with these keys and no others.
pub(super) fn table(keys: &[Key]) -> Map<String, Json> {
    let one = |key: &Key| {
        let mut schema = (key.schema)();
        let told = format!("{} [default: {}]", key.meaning.trim(), key.default());
        schema["description"] = told.into();
        (key.name().to_owned(), schema)
    };
    let required = keys.iter().filter(|key| key.default.is_empty());
    Map::from_iter([
        ("type".into(), "object".into()),
        (
            "properties".into(),
            Json::Object(keys.iter().map(one).collect()),
        ),
        ("required".into(), required.map(Key::name).collect()),
        ("additionalProperties".into(), false.into()),
    ])
}
