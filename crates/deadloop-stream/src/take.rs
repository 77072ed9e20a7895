//! Taking fields out of an object: what is then left was not understood, and counts as a loss.
//!
//! Null counts as absent. A field of the wrong type is a fault of the record.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::{Map, Value};

use crate::wire::{WireFault, kind};

/// An object, of which fields are taken.
pub type Object = Map<String, Value>;

/// What an object has besides the fields that a typed reading names; nulls are left away.
#[derive(Debug, Default)]
pub struct Rest(pub Object);

impl<'de> Deserialize<'de> for Rest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fields;
        impl<'de> Visitor<'de> for Fields {
            type Value = Rest;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a JSON object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Rest, A::Error> {
                let mut rest = Object::new();
                while let Some(name) = map.next_key::<String>()? {
                    if let Some(value) = map.next_value::<Option<Value>>()? {
                        rest.insert(name, value);
                    }
                }
                Ok(Rest(rest))
            }
        }
        deserializer.deserialize_map(Fields)
    }
}

/// A field that is not null.
pub fn any(object: &mut Object, name: &str) -> Option<Value> {
    let taken = may_have(object, name).then(|| object.remove(name))?;
    taken.filter(|value| !value.is_null())
}

/// Whether an object may have a field: nearly always it is small and has not, which is seen sooner without a hash.
pub fn may_have(object: &Object, name: &str) -> bool {
    object.len() > 16 || object.keys().any(|key| key == name)
}

/// A field, be it null; of a small object without a hash.
pub fn get<'a>(object: &'a Object, name: &str) -> Option<&'a Value> {
    if object.len() > 16 {
        return object.get(name);
    }
    let mut fields = object.iter();
    fields.find_map(|(key, value)| (key == name).then_some(value))
}

/// Takes several fields in one go, each in its place. Of an object with many fields this takes a fraction of the time
/// of taking one after the other.
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

/// Takes fields away that say nothing that others do not; blanks are between their names.
pub fn away(object: &mut Object, names: &str) {
    for name in names.split(' ') {
        any(object, name);
    }
}

/// Gives fields the names that others have for them: theirs, ours.
pub fn rename(object: &mut Object, names: &[(&str, &str)]) {
    for (theirs, ours) in names {
        if let Some(value) = object.remove(*theirs) {
            object.insert((*ours).to_owned(), value);
        }
    }
}

/// The text of a field; empty where the field is no string. The field stays in the object.
pub fn word<'a>(object: &'a Object, name: &str) -> &'a str {
    let value = get(object, name);
    value.and_then(Value::as_str).unwrap_or_default()
}

/// The first of these fields that is there, a string.
pub fn first_string(object: &mut Object, names: &[&str]) -> Result<Option<String>, WireFault> {
    let mut found = names.iter().map(|name| string(object, name));
    found.find_map(Result::transpose).transpose()
}

/// A list that has to be there.
pub fn need_list(object: &mut Object, name: &str, expected: &str) -> Result<Vec<Value>, WireFault> {
    list(object, name)?.ok_or_else(|| missing(name, expected))
}

/// A string.
pub fn string(object: &mut Object, name: &str) -> Result<Option<String>, WireFault> {
    text(name, any(object, name))
}

/// What was taken, which has to be a string.
pub fn text(name: &str, taken: Option<Value>) -> Result<Option<String>, WireFault> {
    match taken {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(other) => Err(wrong(name, &other, "a string")),
    }
}

/// A whole number of at least 0.
pub fn count(object: &mut Object, name: &str) -> Result<Option<u64>, WireFault> {
    let taken = any(object, name);
    let number = taken.map(|value| value.as_u64().ok_or(value)).transpose();
    number.map_err(|other| wrong(name, &other, "a whole number"))
}

/// An object.
pub fn object(object: &mut Object, name: &str) -> Result<Option<Object>, WireFault> {
    match any(object, name) {
        None => Ok(None),
        Some(Value::Object(map)) => Ok(Some(map)),
        Some(other) => Err(wrong(name, &other, "an object")),
    }
}

/// A list.
pub fn list(object: &mut Object, name: &str) -> Result<Option<Vec<Value>>, WireFault> {
    match any(object, name) {
        None => Ok(None),
        Some(Value::Array(items)) => Ok(Some(items)),
        Some(other) => Err(wrong(name, &other, "a list")),
    }
}

/// A value that has to be an object.
pub fn as_object(name: &str, value: Value) -> Result<Object, WireFault> {
    match value {
        Value::Object(map) => Ok(map),
        other => Err(wrong(name, &other, "an object")),
    }
}

/// A field of another type than expected.
pub fn wrong(name: &str, value: &Value, expected: &str) -> WireFault {
    WireFault::new(format!("`{name}` is {}", kind(value)), expected)
}

/// A field that has to be there.
pub fn missing(name: &str, expected: &str) -> WireFault {
    WireFault::new(format!("no `{name}`"), expected)
}

/// A name or id: a string, or a number as some servers write it. Anything else stays.
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
