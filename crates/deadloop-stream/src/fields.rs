//! [`ReadFields`]: methods that remove fields from a JSON object and check their types.
//!
//! A null field counts as absent. A field of the wrong type is a fault of the record. Fields that remain in the object
//! after reading were not understood, and are counted as losses.

use std::borrow::BorrowMut;
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

/// Methods of a JSON object that read or remove its fields and check their types.
pub trait ReadFields: BorrowMut<Object> {
    /// Removes a field and returns its value. `None` if it is absent or null.
    fn take(&mut self, name: &str) -> Option<Value> {
        let found = self.may_have_field(name);
        let object: &mut Object = self.borrow_mut();
        let taken = found.then(|| object.remove(name))?;
        taken.filter(|value| !value.is_null())
    }

    /// Returns whether the object may have this field. The answer is exact for objects of up to 16 fields, and always
    /// true for larger ones, so that no hash is computed.
    fn may_have_field(&self, name: &str) -> bool {
        let object: &Object = self.borrow();
        object.len() > 16 || object.keys().any(|key| key == name)
    }

    /// Returns the value of a field, even if it is null. Small objects are searched without computing a hash.
    fn get_field(&self, name: &str) -> Option<&Value> {
        let object: &Object = self.borrow();
        if object.len() > 16 {
            return object.get(name);
        }
        let mut fields = object.iter();
        fields.find_map(|(key, value)| (key == name).then_some(value))
    }

    /// Removes fields whose values are not needed. `names` is a list separated by spaces.
    fn remove_fields(&mut self, names: &str) {
        for name in names.split(' ') {
            self.take(name);
        }
    }

    /// Renames fields. Each pair holds the old name and the new name.
    fn rename_fields(&mut self, names: &[(&str, &str)]) {
        let object: &mut Object = self.borrow_mut();
        for (theirs, ours) in names {
            if let Some(value) = object.remove(*theirs) {
                object.insert((*ours).to_owned(), value);
            }
        }
    }

    /// Returns the text of a string field, which stays in the object. The text is empty if the field is not a string.
    fn get_str(&self, name: &str) -> &str {
        let value = self.get_field(name);
        value.and_then(Value::as_str).unwrap_or_default()
    }

    /// Removes the first of the named fields that is present, and returns its string.
    fn take_first_string(&mut self, names: &[&str]) -> WireResult<Option<String>> {
        let mut found = names.iter().map(|name| self.take_string(name));
        found.find_map(Result::transpose).transpose()
    }

    /// Removes a required list field and returns its elements.
    fn require_list(&mut self, name: &str, expected: &str) -> WireResult<Vec<Value>> {
        self.take_list(name)?
            .ok_or_else(|| missing_field(name, expected))
    }

    /// Removes a field and returns its value as text: a string unchanged, any other value as JSON, an absent value as
    /// an empty text.
    fn take_text(&mut self, name: &str) -> String {
        match self.take(name) {
            Some(Value::String(text)) => text,
            other => other.map(|value| value.to_string()).unwrap_or_default(),
        }
    }

    /// Removes an optional string field and returns its value.
    fn take_string(&mut self, name: &str) -> WireResult<Option<String>> {
        into_string(name, self.take(name))
    }

    /// Removes an optional field with a whole number of at least 0, and returns the number.
    fn take_count(&mut self, name: &str) -> WireResult<Option<u64>> {
        let taken = self.take(name);
        let number = taken.map(|value| value.as_u64().ok_or(value)).transpose();
        number.map_err(|other| wrong_type(name, &other, "a whole number"))
    }

    /// Removes an optional object field and returns its value.
    fn take_object(&mut self, name: &str) -> WireResult<Option<Object>> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::Object(map)) => Ok(Some(map)),
            Some(other) => Err(wrong_type(name, &other, "an object")),
        }
    }

    /// Removes an optional list field and returns its elements.
    fn take_list(&mut self, name: &str) -> WireResult<Option<Vec<Value>>> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::Array(items)) => Ok(Some(items)),
            Some(other) => Err(wrong_type(name, &other, "a list")),
        }
    }

    /// Removes a field with a name or an id, and returns it as text. Some servers send a number instead of a string.
    /// Values of other types stay in the object.
    fn take_label(&mut self, name: &str) -> Option<String> {
        if !matches!(self.get_field(name)?, Value::String(_) | Value::Number(_)) {
            return None;
        }
        let text = match self.take(name)? {
            Value::String(text) => text,
            number => number.to_string(),
        };
        Some(text).filter(|text| !text.is_empty())
    }
}

impl ReadFields for Object {}

/// Converts the value of the field `name`, which was already removed, to a string.
pub fn into_string(name: &str, taken: Option<Value>) -> WireResult<Option<String>> {
    match taken {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(other) => Err(wrong_type(name, &other, "a string")),
    }
}

/// Converts the value of the field `name` to an object.
pub fn as_object(name: &str, value: Value) -> WireResult<Object> {
    match value {
        Value::Object(map) => Ok(map),
        other => Err(wrong_type(name, &other, "an object")),
    }
}

/// Returns the fault for a field of the wrong type.
pub fn wrong_type(name: &str, value: &Value, expected: &str) -> WireFault {
    WireFault::new(format!("`{name}` is {}", kind(value)), expected)
}

/// Returns the fault for a missing field.
pub fn missing_field(name: &str, expected: &str) -> WireFault {
    WireFault::new(format!("no `{name}`"), expected)
}
