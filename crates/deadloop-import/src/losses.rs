//! [`Losses`]: fields that were not mapped, counted by path.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

/// The maximum number of distinct paths. Further paths count under [`OTHER_FIELDS`].
const MAX_PATHS: usize = 1000;
const OTHER_FIELDS: &str = "(other fields)";

/// Counts of unmapped fields, by format and path (such as `choices[].logprobs`).
#[derive(Clone, Debug, Default)]
pub struct Losses {
    counts: BTreeMap<&'static str, BTreeMap<String, u64>>,
    /// Number of distinct paths.
    paths: usize,
    format: &'static str,
}

/// An unmapped field and how often it occurred.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss<'a> {
    /// Name of the format.
    pub format: &'static str,
    /// Path of the field in a record, or a name for another kind of loss.
    pub path: &'a str,
    /// Number of occurrences.
    pub count: u64,
}

impl Losses {
    /// Iterates over all losses, sorted by format and path.
    pub fn iter(&self) -> impl Iterator<Item = Loss<'_>> {
        self.counts.iter().flat_map(|(format, paths)| {
            paths.iter().map(|(path, count)| Loss {
                format,
                path,
                count: *count,
            })
        })
    }

    /// Makes `format` the format to which further losses are attributed.
    pub(super) fn begin_format(&mut self, format: &'static str) {
        self.format = format;
    }

    /// Returns whether further losses are attributed to this format.
    pub(super) fn is_current_format(&self, format: &str) -> bool {
        self.format == format
    }

    /// Counts one loss under `path`.
    pub(crate) fn add(&mut self, path: &str) {
        let paths = self.counts.entry(self.format).or_default();
        if let Some(count) = paths.get_mut(path) {
            *count += 1;
            return;
        }
        let is_full = self.paths >= MAX_PATHS;
        let path = if is_full { OTHER_FIELDS } else { path };
        let count = paths.entry(path.to_owned()).or_insert(0);
        self.paths += usize::from(*count == 0);
        *count += 1;
    }

    /// Counts each remaining field of an object as a loss, after the mapped fields were removed.
    ///
    /// `path` is the path of the object, empty for the record itself. Null and empty values are no losses.
    pub(crate) fn add_fields(&mut self, path: &str, object: &Map<String, Value>) {
        // Servers write many fields as null, so no path is built for them.
        for (name, value) in object.iter().filter(|(_, value)| !value.is_null()) {
            let inner = match path {
                "" => name.clone(),
                path => format!("{path}.{name}"),
            };
            self.add_value(&inner, value);
        }
    }

    /// Counts an unmapped value as a loss. An object counts as one loss for each of its fields.
    pub(crate) fn add_value(&mut self, path: &str, value: &Value) {
        match value {
            Value::Null => {}
            Value::String(text) if text.is_empty() => {}
            Value::Array(items) => {
                let path = format!("{path}[]");
                items.iter().for_each(|item| self.add_value(&path, item));
            }
            Value::Object(object) => self.add_fields(path, object),
            _ => self.add(path),
        }
    }
}
