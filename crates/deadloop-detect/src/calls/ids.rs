//! Finds ids in text: generated tokens such as UUIDs and hashes.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::{Captures, Regex};

/// The minimum length of an id, in chars. Shorter parts are versions, sizes and names.
const MIN_ID: usize = 6;
/// The maximum number of digits after a word, as in `step12`.
const MAX_SUFFIX: usize = 4;
/// The maximum number of digits of a counter.
const MAX_DIGITS: usize = 9;
/// The maximum number of letters of a unit after a number, as in `1024px`.
const MAX_UNIT: usize = 3;

/// The pattern of a token: letters and digits, with single hyphens or underscores inside, as in `resp-78304142`.
static TOKEN: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"[A-Za-z0-9]+(?:[-_][A-Za-z0-9]+)*").ok());

/// A part of a text that may differ between equal results.
pub(super) enum VolatilePart<'t> {
    Id(&'t str),
    /// A whole number that is not part of a name, version, decimal or fraction.
    Number(i64),
}

/// Replaces each id by the result of `put`.
pub(super) fn replace_ids<'t>(text: &'t str, mut put: impl FnMut(&str) -> String) -> Cow<'t, str> {
    replace_volatile(text, false, |mark| match mark {
        VolatilePart::Id(id) => Some(put(id)),
        VolatilePart::Number(_) => None,
    })
}

/// Replaces each id, and with `numbers` each number, by the result of `put`. `None` leaves the token as it is.
pub(super) fn replace_volatile<'t>(
    text: &'t str,
    numbers: bool,
    mut put: impl FnMut(VolatilePart<'_>) -> Option<String>,
) -> Cow<'t, str> {
    let Some(token) = &*TOKEN else {
        return Cow::Borrowed(text);
    };
    token.replace_all(text, |found: &Captures<'_>| {
        let token = &found[0];
        let put = match found.get(0) {
            _ if is_id(token) => put(VolatilePart::Id(token)),
            Some(at) if numbers => whole_number(text, at.start(), at.end())
                .and_then(|number| put(VolatilePart::Number(number))),
            _ => None,
        };
        put.unwrap_or_else(|| token.to_owned())
    })
}

/// Returns the value of a token that is a whole number, and not part of a larger token.
fn whole_number(text: &str, start: usize, end: usize) -> Option<i64> {
    let token = text.get(start..end)?;
    let (before, after) = (text.get(..start)?, text.get(end..)?);
    let digit_after = |rest: &str| rest.starts_with(|c: char| c.is_ascii_digit());
    let digit_before = |rest: &str| rest.ends_with(|c: char| c.is_ascii_digit());
    let decimal = after.strip_prefix(['.', ',']).is_some_and(digit_after)
        || before.strip_suffix(['.', ',']).is_some_and(digit_before);
    let share = after.trim_start_matches(' ').starts_with('%')
        || after.strip_prefix(" of ").is_some_and(digit_after);
    let alone = !decimal && !share && token.len() <= MAX_DIGITS;
    alone.then(|| token.parse().ok()).flatten()
}

/// Returns whether a token is an id: a UUID, a ULID, letters and digits mixed, or a long number after a prefix. A word,
/// a plain number, a word with a number (`step12`) and a number with a unit (`1024px`) are not ids.
pub(super) fn is_id(token: &str) -> bool {
    let parts = || token.split(['-', '_']);
    let prefixed = parts().nth(1).is_some() && token.contains(|c: char| c.is_ascii_alphabetic());
    parts().any(|part| {
        let digits = part.chars().filter(char::is_ascii_digit).count();
        let drawn = match part.len() - digits {
            0 => prefixed,
            letters => digits > 0 && !is_counted(part, letters, digits),
        };
        part.len() >= MIN_ID && drawn
    })
}

/// Returns whether a part is a word followed by a short number, or a number followed by a unit. Hexadecimal parts are
/// neither.
fn is_counted(part: &str, letters: usize, digits: usize) -> bool {
    let is_letter = |c: &char| c.is_ascii_alphabetic();
    let hexadecimal = part.chars().all(|c| c.is_ascii_hexdigit());
    let word = part.chars().take_while(is_letter).count() == letters && digits <= MAX_SUFFIX;
    let unit = part.chars().rev().take_while(is_letter).count() == letters && letters <= MAX_UNIT;
    !hexadecimal && (word || unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generated_tokens_are_ids_and_counters_are_not() {
        for id in [
            "resp-78304142",
            "req-1a18bd",
            "toolu_01QZk3FzE6NJzC4MfSguzu2o",
            "6ba7b810-9dad-11d1-80b4-00c04fd430c8",
            "01ARZ3NDEKTSV4RRFFQ69G5FAV",
            "call_9f8e7d",
            "a94a8fe5ccb19ba61c4c0873d391e987982fbbd3",
        ] {
            assert!(is_id(id), "{id}");
        }
        for none in [
            "checking",
            "step12",
            "step-12",
            "file10",
            "1024px",
            "250000usd",
            "1782793997",
            "plan-7c2e-2201",
            "v2",
            "read_file",
            "2026-06-30",
            "42",
        ] {
            assert!(!is_id(none), "{none}");
        }
    }

    #[test]
    fn only_ids_are_replaced() {
        let text =
            "{\"ref\": \"request:req-1a18bd/response:resp-78304142\", \"n\": 12, \"文\": \"x\"}";
        let replaced = replace_ids(text, |_| "#".into());
        assert_eq!(
            replaced,
            "{\"ref\": \"request:#/response:#\", \"n\": 12, \"文\": \"x\"}"
        );
    }
}
