//! Faults of arguments: broken JSON.
//!
//! A text that is not JSON is left as it is.

use deadloop_detect::harness::JsonScan;
use serde::de::IgnoredAny;

use super::DamageDraws;

/// The ways to break JSON, in the order in which they are used. Cutting comes last.
const BREAKS: [fn(&str, &mut DamageDraws) -> String; 7] = [
    remove_quote,
    remove_bracket,
    insert_comment,
    insert_comma,
    break_line_end,
    repeat_document,
    cut_end,
];

/// Breaks JSON in up to `severity` ways. A way that does not apply to the text changes nothing.
pub(super) fn break_json(intact: &str, severity: usize, draw: &mut DamageDraws) -> String {
    if serde_json::from_str::<IgnoredAny>(intact).is_err() {
        return intact.to_owned();
    }
    let ways = draw.pick_some(BREAKS.to_vec(), severity);
    ways.into_iter()
        .fold(intact.to_owned(), |text, way| way(&text, draw))
}

/// Returns the places, in bytes, of the chars outside of quotes for which `what` returns true.
fn find_places(text: &str, what: impl Fn(char) -> bool) -> Vec<usize> {
    let mut scan = JsonScan::default();
    let place = |(at, c)| scan.outside(c).is_some_and(&what).then_some(at);
    text.char_indices().filter_map(place).collect()
}

fn remove_char(text: &str, at: Option<&usize>) -> String {
    let mut text = text.to_owned();
    if let Some(at) = at {
        text.remove(*at);
    }
    text
}

fn insert_text(text: &str, at: Option<&usize>, what: &str) -> String {
    let mut text = text.to_owned();
    if let Some(at) = at {
        text.insert_str(*at, what);
    }
    text
}

/// Removes a quote that begins or ends a string.
fn remove_quote(text: &str, draw: &mut DamageDraws) -> String {
    let mut scan = JsonScan::default();
    let borders = text.char_indices().filter_map(|(at, c)| {
        let before = scan.is_quoted();
        scan.outside(c);
        (scan.is_quoted() != before).then_some(at)
    });
    remove_char(text, draw.pick(&borders.collect::<Vec<_>>()))
}

fn remove_bracket(text: &str, draw: &mut DamageDraws) -> String {
    let brackets = find_places(text, |c| matches!(c, '}' | ']'));
    remove_char(text, draw.pick(&brackets))
}

fn insert_comment(text: &str, draw: &mut DamageDraws) -> String {
    let places = find_places(text, |c| matches!(c, ',' | '}' | ']'));
    let comment = draw.pick(&[" /* as asked */ ", " // as asked\n"]).copied();
    insert_text(text, draw.pick(&places), comment.unwrap_or(""))
}

fn insert_comma(text: &str, draw: &mut DamageDraws) -> String {
    let places = find_places(text, |c| matches!(c, '}' | ']'));
    insert_text(text, draw.pick(&places), ",")
}

/// Replaces an escaped line end in a string by a raw one.
fn break_line_end(text: &str, draw: &mut DamageDraws) -> String {
    let (mut escaped, mut ends) = (false, Vec::new());
    for (at, c) in text.char_indices() {
        if escaped && c == 'n' {
            ends.push(at - 1);
        }
        escaped = !escaped && c == '\\';
    }
    match draw.pick(&ends) {
        Some(at) => format!("{}\n{}", &text[..*at], &text[at + 2..]),
        None => text.to_owned(),
    }
}

fn repeat_document(text: &str, _: &mut DamageDraws) -> String {
    format!("{text}\n{text}")
}

fn cut_end(text: &str, draw: &mut DamageDraws) -> String {
    let at = draw.place(text, text.len() / 2, text.len().saturating_sub(1));
    text[..text.floor_char_boundary(at)].to_owned()
}
