//! JSON Schemas of a spec and of a file of forms, made from the same [`Key`]s that read them: what an editor can
//! know before `deadloop synth` runs.

use serde_json::{Map, Value as Json, json};

use super::items::ITEM;
use super::keys::{Domain, Key};
use super::tables::{FORM_FILE, REQUIRED, SPEC};

/// The schema of a spec (draft 2020-12), as the object that it is.
pub fn spec_schema() -> Map<String, Json> {
    table(SPEC)
}

/// The schema of a file of forms.
pub fn forms_schema() -> Map<String, Json> {
    table(FORM_FILE)
}

/// A table with these keys and no others.
fn table(keys: &'static [Key]) -> Map<String, Json> {
    let mut properties = Map::new();
    for key in keys {
        let mut schema = of(key.domain);
        if let Some(schema) = schema.as_object_mut() {
            let told = format!("{} [default: {}]", key.meaning, key.default);
            schema.insert("description".into(), told.into());
        }
        properties.insert(key.name.into(), schema);
    }
    let required = keys.iter().filter(|key| key.default == REQUIRED);
    let required: Vec<&str> = required.map(|key| key.name).collect();
    let mut schema = Map::new();
    schema.insert("type".into(), "object".into());
    schema.insert("properties".into(), properties.into());
    schema.insert("required".into(), required.into());
    schema.insert("additionalProperties".into(), false.into());
    if std::ptr::eq(keys, ITEM) {
        schema.insert("allOf".into(), of_kinds(keys).into());
    }
    schema
}

/// Which keys an item of some kind does not have.
fn of_kinds(keys: &'static [Key]) -> Vec<Json> {
    let kinds = keys.iter().find_map(|key| match (key.name, key.domain) {
        ("kind", Domain::Word(kinds)) => Some(kinds),
        _ => None,
    });
    let of = |kind: &&str| {
        let foreign = keys.iter().filter(|key| !key.is_of(kind));
        let foreign: Map<String, Json> = foreign
            .map(|key| (key.name.to_owned(), Json::Bool(false)))
            .collect();
        json!({
            "if": {"properties": {"kind": {"const": kind}}, "required": ["kind"]},
            "then": {"properties": foreign},
        })
    };
    kinds.unwrap_or_default().iter().map(of).collect()
}

fn of(domain: Domain) -> Json {
    let text = || json!({"type": "string", "minLength": 1});
    let or_list =
        |one: Json| json!({"anyOf": [one, {"type": "array", "items": one, "minItems": 1}]});
    let whole = |low: u64, high: u64| json!({"type": "integer", "minimum": low, "maximum": high});
    let range = |low, high| {
        let end = whole(low, high);
        json!({"anyOf": [end, {"type": "array", "items": end, "minItems": 2, "maxItems": 2}]})
    };
    match domain {
        Domain::Text => text(),
        Domain::Texts => or_list(text()),
        Domain::Whole(low, high) => whole(low, high),
        Domain::Range(low, high) => range(low, high),
        Domain::Ranges(low, high) => or_list(range(low, high)),
        Domain::Share => json!({"type": "number", "exclusiveMinimum": 0, "maximum": 1}),
        Domain::Part => json!({"type": "number", "minimum": 0, "exclusiveMaximum": 1}),
        Domain::Flag => json!({"type": "boolean"}),
        Domain::Word(words) => json!({"enum": words}),
        Domain::Words(words) => or_list(json!({"enum": words})),
        Domain::Groups => json!({
            "type": "array", "minItems": 1,
            "items": {"type": "array", "items": text(), "minItems": 2},
        }),
        Domain::Lists => json!({
            "type": "object", "additionalProperties": {"type": "array", "minItems": 1},
        }),
        Domain::Table(keys) => table(keys).into(),
        Domain::Tables(keys) => json!({"type": "array", "items": table(keys)}),
    }
}
