//! Argument faults: broken JSON.
//!
//! A text that is not JSON remains unchanged.

use deadloop_detect::harness::JsonScan;
use serde::de::IgnoredAny;

use super::DamageRng;

/// Faults of JSON, in the order in which they are applied.
const JSON_FAULTS: [fn(&str, &mut DamageRng) -> String; 7] = [
    remove_quote,
    remove_bracket,
    insert_comment,
    insert_comma,
    break_line_end,
    repeat_document,
    cut_end,
];

/// Breaks JSON by up to `severity` faults. A fault that does not apply to the text has no effect.
pub(super) fn break_json(intact: &str, severity: usize, rng: &mut DamageRng) -> String {
    if serde_json::from_str::<IgnoredAny>(intact).is_err() {
        return intact.to_owned();
    }
    let ways = rng.choose_some(JSON_FAULTS.to_vec(), severity);
    ways.into_iter()
        .fold(intact.to_owned(), |text, way| way(&text, rng))
}

/// Returns the byte offsets of the chars outside quotes for which `is_match` holds.
fn find_offsets(text: &str, is_match: impl Fn(char) -> bool) -> Vec<usize> {
    let mut scan = JsonScan::default();
    let place = |(at, c)| scan.outside(c).is_some_and(&is_match).then_some(at);
    text.char_indices().filter_map(place).collect()
}

fn remove_at(text: &str, at: Option<&usize>) -> String {
    let mut text = text.to_owned();
    if let Some(at) = at {
        text.remove(*at);
    }
    text
}

fn insert_at(text: &str, at: Option<&usize>, inserted: &str) -> String {
    let mut text = text.to_owned();
    if let Some(at) = at {
        text.insert_str(*at, inserted);
    }
    text
}

/// Removes a quote at the beginning or end of a string.
fn remove_quote(text: &str, rng: &mut DamageRng) -> String {
    let mut scan = JsonScan::default();
    let borders = text.char_indices().filter_map(|(at, c)| {
        let before = scan.is_quoted();
        scan.outside(c);
        (scan.is_quoted() != before).then_some(at)
    });
    remove_at(text, rng.choose(&borders.collect::<Vec<_>>()))
}

fn remove_bracket(text: &str, rng: &mut DamageRng) -> String {
    let brackets = find_offsets(text, |c| matches!(c, '}' | ']'));
    remove_at(text, rng.choose(&brackets))
}

fn insert_comment(text: &str, rng: &mut DamageRng) -> String {
    let offsets = find_offsets(text, |c| matches!(c, ',' | '}' | ']'));
    let comment = rng.choose(&[" /* as asked */ ", " // as asked\n"]).copied();
    insert_at(text, rng.choose(&offsets), comment.unwrap_or(""))
}

fn insert_comma(text: &str, rng: &mut DamageRng) -> String {
    let offsets = find_offsets(text, |c| matches!(c, '}' | ']'));
    insert_at(text, rng.choose(&offsets), ",")
}

/// Replaces an escaped line break in a string by a raw one.
fn break_line_end(text: &str, rng: &mut DamageRng) -> String {
    let (mut escaped, mut ends) = (false, Vec::new());
    for (at, c) in text.char_indices() {
        if escaped && c == 'n' {
            ends.push(at - 1);
        }
        escaped = !escaped && c == '\\';
    }
    match rng.choose(&ends) {
        Some(at) => format!("{}\n{}", &text[..*at], &text[at + 2..]),
        None => text.to_owned(),
    }
}

fn repeat_document(text: &str, _: &mut DamageRng) -> String {
    format!("{text}\n{text}")
}

fn cut_end(text: &str, rng: &mut DamageRng) -> String {
    let at = rng.char_boundary(text, text.len() / 2, text.len().saturating_sub(1));
    text[..text.floor_char_boundary(at)].to_owned()
}
