//! Fits arguments to the expected fields.

use serde_json::{Map, Value};

use deadloop_detect::harness::{NearestName, Params};

/// The type of a field's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum JsonType {
    String,
    Integer,
    Number,
    Boolean,
    Object,
    Array,
    Any,
}

impl JsonType {
    /// The names of the types, in the order of the variants.
    pub(super) const NAMES: [&str; 7] = [
        "string", "integer", "number", "boolean", "object", "array", "any",
    ];
    const ALL: [Self; 7] = [
        Self::String,
        Self::Integer,
        Self::Number,
        Self::Boolean,
        Self::Object,
        Self::Array,
        Self::Any,
    ];

    /// Returns the type with this name.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        let at = Self::NAMES.iter().position(|known| *known == name)?;
        Self::ALL.get(at).copied()
    }

    /// Returns whether a value is of this type.
    pub(crate) fn holds(self, value: &Value) -> bool {
        match self {
            Self::String => value.is_string(),
            Self::Integer => value.is_i64() || value.is_u64(),
            Self::Number => value.is_number(),
            Self::Boolean => value.is_boolean(),
            Self::Object => value.is_object(),
            Self::Array => value.is_array(),
            Self::Any => true,
        }
    }

    /// Converts a value to this type: a number or boolean to its text, or a text to the value that it spells.
    fn cast(self, value: &Value) -> Option<Value> {
        match (self, value) {
            (_, value) if self.holds(value) => Some(value.clone()),
            (Self::String, Value::Number(_) | Value::Bool(_)) => Some(value.to_string().into()),
            (_, Value::String(text)) => {
                let spelt = serde_json::from_str(text.trim()).ok()?;
                self.holds(&spelt).then_some(spelt)
            }
            _ => None,
        }
    }
}

/// Fields by name, with their types.
#[derive(Clone, Debug, Default)]
pub(super) struct TypedFields(Vec<(String, JsonType)>);

/// The maximum number of edits by which the name of a field may differ from an expected one.
const EDITS: usize = 2;

impl TypedFields {
    /// Returns the fields of a setting.
    pub(super) fn new(params: &Params) -> Self {
        match params.get("fields") {
            Some(deadloop_detect::Value::Table(table)) => {
                Self::from_fields(table.iter().filter_map(|(name, kind)| {
                    Some((name.clone(), JsonType::from_name(kind.as_text()?)?))
                }))
            }
            _ => Self::default(),
        }
    }

    /// Returns fields from their names and types.
    fn from_fields(fields: impl IntoIterator<Item = (String, JsonType)>) -> Self {
        Self(fields.into_iter().collect())
    }

    /// Returns the JSON with names and types of fields as expected. `None` if it is not an object, or a value does not
    /// fit its type.
    pub(super) fn fit(&self, json: &str) -> Option<String> {
        let value: Value = serde_json::from_str(json).ok()?;
        let object = value.as_object()?;
        let known: Vec<String> = self.0.iter().map(|(name, _)| name.clone()).collect();
        let nearest = NearestName::new(known, true, EDITS);
        let meant = object.keys().map(|name| {
            let exact = self.0.iter().position(|(known, _)| known == name);
            exact.or_else(|| Some(nearest.find(name, &mut 0)?.0))
        });
        let meant: Vec<Option<usize>> = meant.collect();
        let mut times = vec![0_u32; self.0.len()];
        for field in meant.iter().flatten() {
            times[*field] += 1;
        }
        let mut fitted = Map::new();
        for ((name, value), field) in object.iter().zip(&meant) {
            // Of several names that are similar to an expected one, none can be chosen. An exact name always counts.
            let field = field.and_then(|field| {
                let alone = times[field] == 1;
                self.0
                    .get(field)
                    .filter(|(known, _)| alone || known == name)
            });
            match field {
                Some((field, kind)) => fitted.insert(field.clone(), kind.cast(value)?),
                None => fitted.insert(name.clone(), value.clone()),
            };
        }
        let fitted = Value::Object(fitted);
        Some(if fitted == value {
            json.to_owned()
        } else {
            fitted.to_string()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_types_are_put_right() {
        let fields = [("city", JsonType::String), ("days", JsonType::Integer)];
        let fields = TypedFields::from_fields(fields.map(|(name, kind)| (name.to_owned(), kind)));
        for (json, expected) in [
            (
                "{ \"city\": \"Bonn\",\"days\":3}",
                Some("{ \"city\": \"Bonn\",\"days\":3}"),
            ),
            (
                "{\"City\": \"Bonn\", \"dayz\": \"3\"}",
                Some("{\"city\":\"Bonn\",\"days\":3}"),
            ),
            (
                "{\"city\": 12, \"more\": []}",
                Some("{\"city\":\"12\",\"more\":[]}"),
            ),
            (
                "{\"citi\": \"Bonn\", \"cyty\": 7, \"days\": \"3\"}",
                Some("{\"citi\":\"Bonn\",\"cyty\":7,\"days\":3}"),
            ),
            (
                "{\"city\":\"a\",\"citi\":\"b\"}",
                Some("{\"city\":\"a\",\"citi\":\"b\"}"),
            ),
            ("{\"days\": \"three\"}", None),
            ("[1]", None),
        ] {
            assert_eq!(fields.fit(json).as_deref(), expected, "{json}");
        }
    }
}
