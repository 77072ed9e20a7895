//! Changes to a recording that leave it JSON: values of other types, fields taken away, doubled and
//! swapped, lines out of order. What changes bytes would mostly end in the parser.

use serde_json::Value;

/// Changes a line, or the one document, of what stands after the two bytes of options.
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

/// What is put into a text: tags, ends of lines, broken JSON.
const PIECES: [&str; 8] = [
    "<think>", "</think>", "\n", "\u{0}", "0", "{\"a\":[", "é", " ",
];

/// What a value becomes, as JSON.
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

/// The document with one of its values changed.
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

/// The n-th value of a document, itself the first.
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

/// Numbers in no order, the same for the same seed.
struct Random(u64);

impl Random {
    /// A number below `most`, which is at least 1.
    fn below(&mut self, most: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % most.max(1)
    }
}
