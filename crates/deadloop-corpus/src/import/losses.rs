//! What was not mapped: counted by the path of its field.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

/// Most paths that are told apart; what is over is counted under [`OTHER`].
const PATHS: usize = 1000;
const OTHER: &str = "(other fields)";

/// How often each field was left out, by format and path (`choices[].logprobs`).
#[derive(Clone, Debug, Default)]
pub struct Losses {
    counts: BTreeMap<&'static str, BTreeMap<String, u64>>,
    /// How many paths there are.
    paths: usize,
    format: &'static str,
}

/// A field that was left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss<'a> {
    /// The format.
    pub format: &'static str,
    /// The field's path in a record, or what else was left out.
    pub path: &'a str,
    /// How often.
    pub count: u64,
}

impl Losses {
    /// All of them, in order.
    pub fn iter(&self) -> impl Iterator<Item = Loss<'_>> {
        self.counts.iter().flat_map(|(format, paths)| {
            paths.iter().map(|(path, count)| Loss {
                format,
                path,
                count: *count,
            })
        })
    }

    /// Fields counted from now on are those of `format`.
    pub(super) fn begin(&mut self, format: &'static str) {
        self.format = format;
    }

    /// Whether fields are counted as those of this format.
    pub(super) fn is_of(&self, format: &str) -> bool {
        self.format == format
    }

    /// One field, or one of what `path` says.
    pub(crate) fn add(&mut self, path: &str) {
        let paths = self.counts.entry(self.format).or_default();
        if let Some(count) = paths.get_mut(path) {
            *count += 1;
            return;
        }
        let path = if self.paths < PATHS { path } else { OTHER };
        let count = paths.entry(path.to_owned()).or_insert(0);
        self.paths += usize::from(*count == 0);
        *count += 1;
    }

    /// What is left of an object whose known fields were taken out; `path`: where it is, empty
    /// for the record itself. Values that say nothing (null, empty) are no loss.
    pub(crate) fn rest(&mut self, path: &str, object: &Map<String, Value>) {
        // Servers write many fields as null: no path is made for those.
        for (name, value) in object.iter().filter(|(_, value)| !value.is_null()) {
            let inner = match path {
                "" => name.clone(),
                path => format!("{path}.{name}"),
            };
            self.value(&inner, value);
        }
    }

    /// A value that was not taken, by its fields where it has some.
    pub(crate) fn value(&mut self, path: &str, value: &Value) {
        match value {
            Value::Null => {}
            Value::String(text) if text.is_empty() => {}
            Value::Array(items) => {
                let path = format!("{path}[]");
                items.iter().for_each(|item| self.value(&path, item));
            }
            Value::Object(object) => self.rest(path, object),
            _ => self.add(path),
        }
    }
}
