//! Paths in a record: `a.b`, `a[].b`, `a[0].b`, `a.*`.
//!
//! `a.b` is a nested field. `a[].b` is a field of every list element, and `a[0].b` of the first element. `a.*` is every
//! field of an object.
//!
//! Exports write the same record nested, flat or as a string. So a field name may contain dots (`context.trace_id`), and a
//! string that is JSON is parsed.

use std::borrow::Cow;

use serde_json::Value;

use crate::source::records;
use deadloop_stream::fields::{Object, ReadFields};

/// A step of a parsed path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PathStep<'a> {
    /// `a`: the field with this name.
    Field(&'a str),
    /// `*`: every field of an object.
    Any,
    /// `[]`: every element of a list.
    Each,
    /// `[0]`: the element at this index.
    Index(usize),
}

/// Parses a path into its steps.
fn parse_steps(path: &str) -> Vec<PathStep<'_>> {
    let mut steps = Vec::new();
    for part in path.split('.').filter(|part| !part.is_empty()) {
        let (name, mut rest) = part.split_at(part.find('[').unwrap_or(part.len()));
        match name {
            "" => {}
            "*" => steps.push(PathStep::Any),
            name => steps.push(PathStep::Field(name)),
        }
        while let Some((index, more)) = rest.strip_prefix('[').and_then(|r| r.split_once(']')) {
            steps.push(index.parse().map_or(PathStep::Each, PathStep::Index));
            rest = more;
        }
    }
    steps
}

/// Takes the first non-null value at a path. A list with a single element needs no `[]`.
pub(crate) fn take_at(object: &mut Object, path: &str) -> Option<Value> {
    let there = object.may_have_field(path);
    let found = match there.then(|| object.remove(path)).flatten() {
        Some(found) => Some(found),
        None if path.contains(['.', '[', '*']) => {
            let mut found = Vec::new();
            take_from_fields(object, &parse_steps(path), true, &mut found);
            found.into_iter().next()
        }
        None => None,
    };
    found.filter(|value| !value.is_null())
}

/// Takes the value at the first of several paths that has one.
pub(crate) fn take_first_of(object: &mut Object, paths: &[impl AsRef<str>]) -> Option<Value> {
    paths.iter().find_map(|path| take_at(object, path.as_ref()))
}

/// Takes all values at a path, in order.
pub(crate) fn take_all(object: &mut Object, path: &str) -> Vec<Value> {
    let mut found = Vec::new();
    take_from_fields(object, &parse_steps(path), false, &mut found);
    found
}

/// Takes a list field. Returns an empty list if the field is missing or not a list.
pub(crate) fn take_list(object: &mut Object, name: &str) -> Vec<Value> {
    match object.remove(name) {
        Some(Value::Array(items)) => items,
        _ => Vec::new(),
    }
}

/// Takes an object field. Returns an empty object if the field is missing or not an object.
pub(crate) fn take_object(object: &mut Object, name: &str) -> Object {
    object.remove(name).map(object_or_empty).unwrap_or_default()
}

/// Converts a value to an object. Returns an empty object for any other value.
pub(crate) fn object_or_empty(value: Value) -> Object {
    match value {
        Value::Object(object) => object,
        _ => Object::new(),
    }
}

/// Returns the first non-null value at a path, without removing the value.
pub(crate) fn get_at<'a>(object: &'a Object, path: &str) -> Option<Cow<'a, Value>> {
    let mut begins = false;
    // Most records have no matching field, which comparing first bytes shows faster than hashing.
    for (name, value) in object {
        let same = name.as_bytes().first() == path.as_bytes().first();
        if same && name == path {
            return non_null(value);
        }
        begins |= (same || name.is_empty()) && path.starts_with(name.as_str());
    }
    begins.then(|| find_in_fields(object, &parse_steps(path)))?
}

fn non_null(value: &Value) -> Option<Cow<'_, Value>> {
    (!value.is_null()).then_some(Cow::Borrowed(value))
}

/// Returns the first value that [`take_from_value`] would take.
fn find_in_value<'a>(value: &'a Value, steps: &[PathStep<'_>]) -> Option<Cow<'a, Value>> {
    let Some(step) = steps.first() else {
        return non_null(value);
    };
    match (value, step) {
        (Value::String(text), _) if text.trim_ascii_start().starts_with(['{', '[']) => {
            let inside = records::parse_nested(text).ok()?;
            find_in_value(&inside, steps).map(|found| Cow::Owned(found.into_owned()))
        }
        (Value::Object(object), PathStep::Field(_) | PathStep::Any) => {
            find_in_fields(object, steps)
        }
        (Value::Array(items), PathStep::Each) => {
            let mut items = items.iter();
            items.find_map(|item| find_in_value(item, &steps[1..]))
        }
        (Value::Array(items), PathStep::Index(at)) => find_in_value(items.get(*at)?, &steps[1..]),
        (Value::Array(items), PathStep::Field(_)) => match &items[..] {
            [only] => find_in_value(only, steps),
            _ => None,
        },
        _ => None,
    }
}

/// Returns the first value that [`take_from_fields`] would take.
fn find_in_fields<'a>(object: &'a Object, steps: &[PathStep<'_>]) -> Option<Cow<'a, Value>> {
    match steps.first()? {
        PathStep::Field(name) => {
            let mut named = Cow::Borrowed(*name);
            for next in 1..=steps.len() {
                let inner = object.get(&*named);
                if let Some(inner) = inner.filter(|_| next == steps.len()) {
                    return non_null(inner);
                }
                if let Some(found) = inner.and_then(|inner| find_in_value(inner, &steps[next..])) {
                    return Some(found);
                }
                let Some(PathStep::Field(more)) = steps.get(next) else {
                    return None;
                };
                named = format!("{named}.{more}").into();
            }
            None
        }
        PathStep::Any => {
            let mut inner = object.values();
            inner.find_map(|inner| find_in_value(inner, &steps[1..]))
        }
        _ => None,
    }
}

/// Takes the values at the steps below a value. If `first`, stops after the first.
fn take_from_value(value: &mut Value, steps: &[PathStep<'_>], first: bool, found: &mut Vec<Value>) {
    let Some(step) = steps.first() else {
        if !value.is_null() {
            found.push(value.take());
        }
        return;
    };
    if let Value::String(text) = value
        && text.trim_ascii_start().starts_with(['{', '['])
        && let Ok(inside) = records::parse_nested(text)
    {
        *value = inside;
    }
    match (value, step) {
        (Value::Object(object), PathStep::Field(_) | PathStep::Any) => {
            take_from_fields(object, steps, first, found)
        }
        (Value::Array(items), PathStep::Each) => {
            for item in items {
                take_from_value(item, &steps[1..], first, found);
                if first && !found.is_empty() {
                    return;
                }
            }
        }
        (Value::Array(items), PathStep::Index(at)) => {
            if let Some(item) = items.get_mut(*at) {
                take_from_value(item, &steps[1..], first, found);
            }
        }
        (Value::Array(items), PathStep::Field(_)) => {
            if let [only] = &mut items[..] {
                take_from_value(only, steps, first, found);
            }
        }
        _ => {}
    }
}

/// Takes the values at the steps below the fields of an object. If `first`, stops after the first.
fn take_from_fields(
    object: &mut Object,
    steps: &[PathStep<'_>],
    first: bool,
    found: &mut Vec<Value>,
) {
    match steps.first() {
        Some(PathStep::Field(name)) => {
            let mut named = (*name).to_owned();
            for next in 1..=steps.len() {
                if next == steps.len() && object.contains_key(&named) {
                    found.extend(object.remove(&named).filter(|value| !value.is_null()));
                    return;
                }
                if let Some(inner) = object.get_mut(&named) {
                    let before = found.len();
                    take_from_value(inner, &steps[next..], first, found);
                    if found.len() > before {
                        return;
                    }
                }
                let Some(PathStep::Field(more)) = steps.get(next) else {
                    return;
                };
                named = format!("{named}.{more}");
            }
        }
        Some(PathStep::Any) => {
            for inner in object.values_mut() {
                take_from_value(inner, &steps[1..], first, found);
                if first && !found.is_empty() {
                    return;
                }
            }
        }
        _ => {}
    }
}

/// Lists up to `max` paths of a record's values, for messages.
pub(crate) fn list_paths(object: &Object, max: usize) -> Vec<String> {
    fn collect(path: &str, value: &Value, depth: usize, max: usize, found: &mut Vec<String>) {
        if found.len() >= max {
            return;
        }
        match value {
            Value::Object(inner) if depth > 0 && !inner.is_empty() => {
                for (name, value) in inner {
                    collect(&format!("{path}.{name}"), value, depth - 1, max, found);
                }
            }
            Value::Array(items) if depth > 0 && items.first().is_some_and(Value::is_object) => {
                collect(&format!("{path}[]"), &items[0], depth - 1, max, found);
            }
            _ => found.push(path.to_owned()),
        }
    }
    let mut found = Vec::new();
    for (name, value) in object {
        collect(name, value, 3, max, &mut found);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn object(value: Value) -> Object {
        value.as_object().cloned().unwrap_or_default()
    }

    #[test]
    fn a_path_leads_through_fields_lists_dotted_names_and_texts() {
        let record = object(json!({
            "a": {"b": 1, "c": null}, "l": [{"t": "x"}, {"t": "y"}, {}], "one": [{"t": "z"}],
            "d.e": {"f.g": 2}, "s": "{\"in\": [3]}", "any": {"readCall": {"args": 4}},
        }));
        for (path, expected) in [
            ("a.b", json!([1])),
            ("a.c", json!([])),
            ("a.b.c", json!([])),
            ("l[].t", json!(["x", "y"])),
            ("l[1].t", json!(["y"])),
            ("l[7].t", json!([])),
            ("l.t", json!([])),
            ("one.t", json!(["z"])),
            ("d.e.f.g", json!([2])),
            ("s.in[0]", json!([3])),
            ("any.*.args", json!([4])),
            ("nothing", json!([])),
            ("", json!([])),
        ] {
            let mut taken = record.clone();
            assert_eq!(Value::Array(take_all(&mut taken, path)), expected, "{path}");
            let mut taken = record.clone();
            let one = expected.get(0).cloned();
            assert_eq!(take_at(&mut taken, path), one, "{path}");
            let got = get_at(&record, path).map(Cow::into_owned);
            assert_eq!(got, one, "{path}");
        }
    }
}
