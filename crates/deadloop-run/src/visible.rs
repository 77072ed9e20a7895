//! Escapes untrusted text, so that it is safe and fully visible on a terminal.

use std::sync::LazyLock;

use regex::Regex;

/// A pattern for chars that a terminal obeys or hides: control and format chars (escape codes, directions, joiners),
/// private and unassigned chars, line and paragraph separators.
static HIDDEN: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"^[\p{C}\p{Zl}\p{Zp}]$").ok());

/// Returns the escape of a char. `None` if the char is shown unchanged.
pub fn escaped(c: char) -> Option<String> {
    match c {
        ' '..='~' => None,
        '\n' => Some("⏎".into()),
        '\t' | '\r' => Some(c.escape_default().collect()),
        _ if is_hidden(c) => Some(c.escape_unicode().collect()),
        _ => None,
    }
}

/// Returns whether a char must be escaped. If the pattern cannot be compiled, every char must be.
fn is_hidden(c: char) -> bool {
    let hidden = HIDDEN.as_ref();
    hidden.is_none_or(|hidden| hidden.is_match(c.encode_utf8(&mut [0; 4])))
}

/// Escapes a text to one line.
pub fn visible(text: &str) -> String {
    let shown = |c: char| escaped(c).unwrap_or_else(|| c.into());
    text.chars().map(shown).collect()
}

/// Escapes a text, and keeps its line breaks.
pub fn visible_lines(text: &str) -> String {
    text.split('\n').map(visible).collect::<Vec<_>>().join("\n")
}

/// Escapes the hidden chars of a JSON text. The JSON value stays the same.
pub fn visible_json(json: &str) -> String {
    let mut shown = String::with_capacity(json.len());
    for c in json.chars() {
        if c.is_ascii() || !is_hidden(c) {
            shown.push(c);
        } else {
            for unit in c.encode_utf16(&mut [0; 2]) {
                shown.push_str(&format!("\\u{unit:04x}"));
            }
        }
    }
    shown
}

/// Returns the first `most` chars of a text in quotes, with `…` if the text is longer.
pub fn quoted(text: &str, most: usize) -> String {
    let start: String = text.chars().take(most).collect();
    let more = if start.len() < text.len() { "…" } else { "" };
    format!("\"{}{more}\"", visible(&start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_a_terminal_obeys_is_left() {
        let hostile = "a\u{1b}[2J\u{9b}31m\u{202e}b\u{200b}\r\t\n\u{7}\u{feff}\u{2028}思é\u{301}";
        let shown = visible(hostile);
        assert_eq!(
            shown,
            "a\\u{1b}[2J\\u{9b}31m\\u{202e}b\\u{200b}\\r\\t⏎\\u{7}\\u{feff}\\u{2028}思é\u{301}"
        );
        let json = serde_json::to_string(&format!("{hostile}\u{e0001}")).unwrap();
        let shown = visible_json(&json);
        assert!(shown.contains("\\u202e") && !shown.chars().any(|c| !c.is_ascii() && is_hidden(c)));
        let [a, b] = [json, shown].map(|text| serde_json::from_str::<String>(&text).unwrap());
        assert_eq!(a, b);
        assert_eq!(quoted("ab\u{1b}c", 3), "\"ab\\u{1b}…\"");
    }
}
