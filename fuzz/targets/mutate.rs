//! A mutator that keeps a recording valid JSON.
//!
//! It replaces, removes, doubles and swaps values, fields and lines. Changes to bytes would mostly end in the parser.

use serde_json::Value;

/// Changes a line, or the whole document, behind the two bytes of options. Returns the new size.
pub fn mutate(data: &mut [u8], size: usize, most: usize, seed: u32) -> usize {
    let mut random = Random(u64::from(seed) + 1);
    let changed = match random.below(3) {
        0 => None,
        _ => data
            .get(2..size)
            .and_then(|file| changed(file, &mut random)),
    };
    match changed {
        Some(file) if file.len() + 2 <= most => {
            data[2..file.len() + 2].copy_from_slice(&file);
            file.len() + 2
        }
        _ => libfuzzer_sys::fuzzer_mutate(data, size, most),
    }
}

fn changed(file: &[u8], random: &mut Random) -> Option<Vec<u8>> {
    if let Ok(document) = serde_json::from_slice(file) {
        return serde_json::to_vec(&change(document, random)).ok();
    }
    let lines = file.split(|byte| *byte == b'\n');
    let mut lines: Vec<Vec<u8>> = lines.map(<[u8]>::to_vec).collect();
    let (at, other) = (random.below(lines.len()), random.below(lines.len()));
    match random.below(8) {
        0 => lines.swap(at, other),
        1 => lines.insert(at, lines[other].clone()),
        2 => drop(lines.remove(at)),
        _ => {
            let begin = lines[at].iter().position(|byte| b"{[".contains(byte))?;
            let value = serde_json::from_slice(&lines[at][begin..]).ok()?;
            lines[at].truncate(begin);
            lines[at].extend(serde_json::to_vec(&change(value, random)).ok()?);
        }
    }
    Some(lines.join(&b'\n'))
}

/// Pieces inserted into a text: tags, line ends, broken JSON.
const PIECES: [&str; 8] = [
    "<think>", "</think>", "\n", "\u{0}", "0", "{\"a\":[", "é", " ",
];

/// Replacements of a value, as JSON.
const VALUES: [&str; 10] = [
    r#""""#,
    "null",
    "true",
    "0",
    "-1",
    "1e308",
    "18446744073709551615",
    "[]",
    "{}",
    r#""x""#,
];

/// Changes one value of the document.
fn change(mut document: Value, random: &mut Random) -> Value {
    let nodes = count(&document);
    let (at, other) = (random.below(nodes), random.below(nodes));
    let Some(other) = nth(&mut document, &mut { other }).cloned() else {
        return document;
    };
    let Some(value) = nth(&mut document, &mut { at }) else {
        return document;
    };
    match (random.below(6), value) {
        (0, value) => *value = other,
        (1, value) => *value = Value::Array(vec![value.take()]),
        (2 | 3, Value::Object(fields)) if !fields.is_empty() => {
            let at = random.below(fields.len());
            let field = fields.iter().nth(at);
            let field = field.map(|(name, field)| (name.clone(), field.clone()));
            let (name, field) = field.unwrap_or_default();
            match (random.below(3), other) {
                (0, _) => drop(fields.shift_remove(&name)),
                // Under the name of another field, or of what a text says.
                (1, Value::String(other)) => drop(fields.insert(other, field)),
                _ => fields.values_mut().for_each(|other| *other = field.clone()),
            }
        }
        (2 | 3, Value::Array(items)) if !items.is_empty() => {
            let item = items[random.below(items.len())].clone();
            items.insert(random.below(items.len() + 1), item);
        }
        (2 | 3, Value::String(text)) => {
            let starts = text.char_indices().map(|(at, _)| at);
            let ends: Vec<usize> = starts.chain([text.len()]).collect();
            let at = ends[random.below(ends.len())];
            text.insert_str(at, PIECES[random.below(PIECES.len())]);
        }
        (_, value) => {
            *value = serde_json::from_str(VALUES[random.below(VALUES.len())]).unwrap_or_default();
        }
    }
    document
}

fn count(value: &Value) -> usize {
    1 + match value {
        Value::Array(items) => items.iter().map(count).sum(),
        Value::Object(fields) => fields.values().map(count).sum(),
        _ => 0,
    }
}

/// Returns the n-th value of a document, from 0. The document itself is the first.
fn nth<'a>(value: &'a mut Value, n: &mut usize) -> Option<&'a mut Value> {
    if *n == 0 {
        return Some(value);
    }
    *n -= 1;
    match value {
        Value::Array(items) => items.iter_mut().find_map(|item| nth(item, n)),
        Value::Object(fields) => fields.values_mut().find_map(|field| nth(field, n)),
        _ => None,
    }
}

/// A seeded generator of random numbers.
struct Random(u64);

impl Random {
    /// Returns a number below `most`. A `most` of 0 counts as 1.
    fn below(&mut self, most: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % most.max(1)
    }
}
