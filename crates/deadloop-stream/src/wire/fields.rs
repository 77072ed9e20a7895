//! [`Fields`]: the fields of one JSON object. [`WireFault`]: a fault in a record.

use serde_json::{Map, Value};

use crate::Cost;
use crate::{Place, Problem};

/// The result of reading a part of a record.
pub type WireResult<T = ()> = Result<T, WireFault>;

/// A fault inside a record, without the record's location.
#[derive(Clone, Debug, PartialEq)]
pub struct WireFault {
    what: String,
    expected: String,
    cost: Cost,
}

impl WireFault {
    /// Returns a fault. `what` and `expected` are lower-case fragments.
    pub fn new(what: impl Into<String>, expected: impl Into<String>) -> Self {
        Self {
            what: what.into(),
            expected: expected.into(),
            cost: Cost::Itself,
        }
    }

    /// Converts the fault to a problem at `place`.
    pub fn at(self, place: Place) -> Problem {
        Problem::new(place, self.what, self.expected).costing(self.cost)
    }

    /// Sets the cost of the fault and returns the fault.
    pub fn costing(self, cost: Cost) -> Self {
        Self { cost, ..self }
    }

    /// Prefixes the description with the name of the faulty part.
    pub fn inside(self, part: &str) -> Self {
        Self {
            what: format!("{part}: {}", self.what),
            ..self
        }
    }

    /// Returns the fault for a value of the wrong type.
    pub fn wrong_type(name: &str, value: &Value, expected: &str) -> Self {
        Self::new(format!("`{name}` is {}", kind(value)), expected)
    }

    /// Converts a JSON parser's error on `source`: a syntax error, or one of the few type errors that the parser finds.
    pub fn json(error: &serde_json::Error, source: &str) -> Self {
        let text = error.to_string();
        if text.contains("hex escape")
            && let Some(escape) = find_lone_surrogate(source)
        {
            return Self::new(format!("lone surrogate {escape}"), "Unicode text");
        }
        let suffix = format!(" at line {} column {}", error.line(), error.column());
        let text = text.strip_suffix(&suffix).unwrap_or(&text);
        let column = error.column();
        if !error.is_data() {
            return Self::new(
                format!("not JSON: {text} (column {column})"),
                "one JSON object",
            );
        }
        match text.rsplit_once(", expected ") {
            Some((what, expected)) => Self::new(format!("{what} (column {column})"), expected),
            None => Self::new(format!("{text} (column {column})"), "a transcript"),
        }
    }
}

/// Returns the first escape that is an unpaired half of a surrogate pair.
fn find_lone_surrogate(source: &str) -> Option<&str> {
    let at = lone_surrogate_offset(source, 0)?;
    source.get(at..at + ESCAPE_BYTES)
}

/// The length of an escape such as `\ud83d`.
const ESCAPE_BYTES: usize = 6;

/// Returns the byte offset of the first unpaired surrogate escape at or after `from`, which must not lie inside an
/// escape.
fn lone_surrogate_offset(source: &str, from: usize) -> Option<usize> {
    let unit = |at: usize| {
        let digits = source.get(at..at + ESCAPE_BYTES)?.strip_prefix("\\u")?;
        u32::from_str_radix(digits, 16).ok()
    };
    let mut at = from;
    loop {
        at += source.get(at..)?.find('\\')?;
        match unit(at) {
            Some(0xd800..=0xdbff) => match unit(at + ESCAPE_BYTES) {
                Some(0xdc00..=0xdfff) => at += 2 * ESCAPE_BYTES,
                _ => return Some(at),
            },
            Some(0xdc00..=0xdfff) => return Some(at),
            // The escaped char is no beginning of an escape.
            _ => at += 1 + source.get(at + 1..)?.chars().next()?.len_utf8(),
        }
    }
}

/// Replaces each unpaired surrogate escape in JSON text with the escape of U+FFFD. Returns `None` if there is no such
/// escape.
pub fn fix_surrogates(json: &[u8]) -> Option<String> {
    let is_surrogate = |at: &usize| matches!(json.get(at + 2), Some(b'd' | b'D'));
    memchr::memmem::find_iter(json, b"\\u").find(is_surrogate)?;
    let json = read_utf8(json).ok()?;
    let mut whole = String::new();
    let mut taken = 0;
    while let Some(at) = lone_surrogate_offset(json, taken) {
        whole.push_str(json.get(taken..at)?);
        whole.push_str("\\ufffd");
        taken = at + ESCAPE_BYTES;
    }
    (taken > 0).then(|| whole + json.get(taken..).unwrap_or_default())
}

/// Decodes a line as UTF-8.
pub fn read_utf8(line: &[u8]) -> WireResult<&str> {
    simdutf8::compat::from_utf8(line).map_err(|e| {
        let what = format!("not UTF-8 at byte {}", e.valid_up_to() + 1);
        WireFault::new(what, "UTF-8 text")
    })
}

/// The error message of the parser for a field that occurs twice in an object.
pub const REPEATED_FIELD: &str = "a field stands here twice, expected each field once";

/// Returns the name of a JSON value's type, such as "a string", for error messages.
pub fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

fn check_string(name: &str, value: Value) -> WireResult<String> {
    match value {
        Value::String(text) => Ok(text),
        other => Err(WireFault::wrong_type(name, &other, "a string")),
    }
}

/// The fields of one JSON object: the known ones in the order of `names`, then the unknown ones.
#[derive(Debug)]
pub struct Fields<const N: usize> {
    names: &'static [&'static str; N],
    values: [Option<Value>; N],
    rest: Map<String, Value>,
}

impl<const N: usize> Fields<N> {
    /// Returns an empty set of fields. `names` are the known ones.
    pub fn new(names: &'static [&'static str; N]) -> Self {
        Self {
            names,
            values: [const { None }; N],
            rest: Map::new(),
        }
    }

    /// Adds a field. Returns `false` if the field was added before. A known field that is null counts as absent.
    pub fn put(&mut self, name: String, value: Value) -> bool {
        match self.names.iter().position(|known| *known == name) {
            Some(_) if value.is_null() => true,
            Some(at) => self.values[at].replace(value).is_none(),
            None => self.rest.insert(name, value).is_none(),
        }
    }

    /// Removes a known field and returns its value.
    pub fn take(&mut self, name: &str) -> Option<Value> {
        let at = self.names.iter().position(|known| *known == name)?;
        self.values[at].take()
    }

    /// Removes and returns an optional string.
    ///
    /// # Errors
    /// The value is not a string.
    pub fn take_string(&mut self, name: &str) -> WireResult<Option<String>> {
        self.take(name)
            .map(|value| check_string(name, value))
            .transpose()
    }

    /// Removes and returns a required string.
    ///
    /// # Errors
    /// The string is missing, or the value is not a string.
    pub fn need_string(&mut self, name: &str) -> WireResult<String> {
        let missing = || WireFault::new(format!("no `{name}`"), format!("`{name}`, a string"));
        self.take_string(name)?.ok_or_else(missing)
    }

    /// Removes and returns an optional number, which `read` parses.
    ///
    /// # Errors
    /// `read` returns `None` for the value.
    pub(crate) fn take_number<T>(
        &mut self,
        name: &str,
        expected: &str,
        read: fn(&Value) -> Option<T>,
    ) -> WireResult<Option<T>> {
        let Some(value) = self.take(name) else {
            return Ok(None);
        };
        let wrong = || match &value {
            Value::Number(n) => WireFault::new(format!("`{name}` is {n}"), expected),
            other => WireFault::wrong_type(name, other, expected),
        };
        read(&value).map(Some).ok_or_else(wrong)
    }

    /// Returns the unknown fields, and the known ones that were not taken.
    pub fn into_rest(self) -> Map<String, Value> {
        let mut rest = self.rest;
        for (name, value) in self.names.iter().zip(self.values) {
            if let Some(value) = value {
                rest.insert((*name).to_owned(), value);
            }
        }
        rest
    }
}
