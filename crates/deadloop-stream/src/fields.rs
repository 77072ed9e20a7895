//! Functions that remove fields from a JSON object and check their types.
//!
//! Null is treated as absent. A field of the wrong type is a fault of the record. Fields that remain in the object were
//! not understood, and are counted as a loss.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::{Map, Value};

use crate::wire::{WireFault, WireResult, kind};

/// A JSON object.
pub type Object = Map<String, Value>;

/// The fields of an object that its type does not declare, without nulls.
#[derive(Debug, Default)]
pub struct RestFields(pub Object);

impl<'de> Deserialize<'de> for RestFields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct RestVisitor;
        impl<'de> Visitor<'de> for RestVisitor {
            type Value = RestFields;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a JSON object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<RestFields, A::Error> {
                let mut rest = Object::new();
                while let Some(name) = map.next_key::<String>()? {
                    if let Some(value) = map.next_value::<Option<Value>>()? {
                        rest.insert(name, value);
                    }
                }
                Ok(RestFields(rest))
            }
        }
        deserializer.deserialize_map(RestVisitor)
    }
}

/// Removes a field and returns its value. `None` if it is absent or null.
pub fn any(object: &mut Object, name: &str) -> Option<Value> {
    let taken = may_have(object, name).then(|| object.remove(name))?;
    taken.filter(|value| !value.is_null())
}

/// Returns whether an object may have a field. Exact for up to 16 fields, and needs no hash there; always true for
/// more.
pub fn may_have(object: &Object, name: &str) -> bool {
    object.len() > 16 || object.keys().any(|key| key == name)
}

/// Returns the value of a field, null included. Searches small objects without a hash.
pub fn get<'a>(object: &'a Object, name: &str) -> Option<&'a Value> {
    if object.len() > 16 {
        return object.get(name);
    }
    let mut fields = object.iter();
    fields.find_map(|(key, value)| (key == name).then_some(value))
}

/// Removes several fields and returns their values in the order of `names`. For large objects this is many times faster
/// than single removals.
pub fn several<const N: usize>(object: &mut Object, names: [&str; N]) -> [Option<Value>; N] {
    let mut found = [const { None }; N];
    for (name, value) in std::mem::take(object) {
        match names.iter().position(|known| *known == name) {
            Some(at) => found[at] = Some(value).filter(|value| !value.is_null()),
            None => drop(object.insert(name, value)),
        }
    }
    found
}

/// Removes fields that carry no further information. `names` are separated by spaces.
pub fn remove_all(object: &mut Object, names: &str) {
    for name in names.split(' ') {
        any(object, name);
    }
}

/// Renames fields. Each pair is the old and the new name.
pub fn rename(object: &mut Object, names: &[(&str, &str)]) {
    for (theirs, ours) in names {
        if let Some(value) = object.remove(*theirs) {
            object.insert((*ours).to_owned(), value);
        }
    }
}

/// Returns the text of a field without removing it. Empty if the field is not a string.
pub fn word<'a>(object: &'a Object, name: &str) -> &'a str {
    let value = get(object, name);
    value.and_then(Value::as_str).unwrap_or_default()
}

/// Removes and returns the first of these fields that is present. It must be a string.
pub fn first_string(object: &mut Object, names: &[&str]) -> WireResult<Option<String>> {
    let mut found = names.iter().map(|name| string(object, name));
    found.find_map(Result::transpose).transpose()
}

/// Removes and returns a required list.
pub fn need_list(object: &mut Object, name: &str, expected: &str) -> WireResult<Vec<Value>> {
    list(object, name)?.ok_or_else(|| missing(name, expected))
}

/// Removes a field and returns its text: a string unchanged, another value as JSON. Empty if absent.
pub fn text_or_json(object: &mut Object, name: &str) -> String {
    match any(object, name) {
        Some(Value::String(text)) => text,
        other => other.map(|value| value.to_string()).unwrap_or_default(),
    }
}

/// Removes and returns an optional string.
pub fn string(object: &mut Object, name: &str) -> WireResult<Option<String>> {
    text(name, any(object, name))
}

/// Converts the removed value of field `name` to a string.
pub fn text(name: &str, taken: Option<Value>) -> WireResult<Option<String>> {
    match taken {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(other) => Err(wrong(name, &other, "a string")),
    }
}

/// Removes and returns an optional whole number of at least 0.
pub fn count(object: &mut Object, name: &str) -> WireResult<Option<u64>> {
    let taken = any(object, name);
    let number = taken.map(|value| value.as_u64().ok_or(value)).transpose();
    number.map_err(|other| wrong(name, &other, "a whole number"))
}

/// Removes and returns an optional object.
pub fn object(object: &mut Object, name: &str) -> WireResult<Option<Object>> {
    match any(object, name) {
        None => Ok(None),
        Some(Value::Object(map)) => Ok(Some(map)),
        Some(other) => Err(wrong(name, &other, "an object")),
    }
}

/// Removes and returns an optional list.
pub fn list(object: &mut Object, name: &str) -> WireResult<Option<Vec<Value>>> {
    match any(object, name) {
        None => Ok(None),
        Some(Value::Array(items)) => Ok(Some(items)),
        Some(other) => Err(wrong(name, &other, "a list")),
    }
}

/// Converts the value of field `name` to an object.
pub fn as_object(name: &str, value: Value) -> WireResult<Object> {
    match value {
        Value::Object(map) => Ok(map),
        other => Err(wrong(name, &other, "an object")),
    }
}

/// Returns the fault for a field of the wrong type.
pub fn wrong(name: &str, value: &Value, expected: &str) -> WireFault {
    WireFault::new(format!("`{name}` is {}", kind(value)), expected)
}

/// Returns the fault for a missing field.
pub fn missing(name: &str, expected: &str) -> WireFault {
    WireFault::new(format!("no `{name}`"), expected)
}

/// Removes and returns a name or id: a string, or the number that some servers send. Other values are left in the
/// object.
pub fn label(object: &mut Object, name: &str) -> Option<String> {
    if !matches!(get(object, name)?, Value::String(_) | Value::Number(_)) {
        return None;
    }
    let text = match object.remove(name)? {
        Value::String(text) => text,
        number => number.to_string(),
    };
    Some(text).filter(|text| !text.is_empty())
}
