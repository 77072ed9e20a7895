//! Untrusted text in which hidden chars are made visible.

use regex::Regex;
use std::borrow::Cow;
use std::sync::LazyLock;

/// The pattern of hidden chars: control and format chars, private and unassigned chars, and separators of lines and
/// paragraphs.
///
/// `None` if the pattern does not compile, which a test would catch.
static HIDDEN_CHARS: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"[\p{C}\p{Zl}\p{Zp}]").ok());

/// Replaces every hidden char of a text by its visible form, including line breaks.
pub(crate) fn visible(text: &str) -> Cow<'_, str> {
    match HIDDEN_CHARS.as_ref().filter(|hidden| hidden.is_match(text)) {
        None => Cow::Borrowed(text),
        Some(hidden) => hidden.replace_all(text, |found: &regex::Captures<'_>| {
            found[0].chars().map(visible_form).collect::<String>()
        }),
    }
}

fn visible_form(c: char) -> String {
    match c {
        '\n' => "⏎".into(),
        '\t' => "⇥".into(),
        c => c.escape_unicode().collect(),
    }
}

/// Returns the visible form of a char in a text of several lines. Line breaks are kept.
pub(crate) fn in_lines(c: char) -> Cow<'static, str> {
    match c {
        '\n' => Cow::Borrowed("⏎\n"),
        ' '..='~' => Cow::Owned(c.into()),
        c => Cow::Owned(visible(c.encode_utf8(&mut [0; 4])).into_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_hidden_and_nothing_else_is_changed() {
        assert_eq!(
            visible("a\u{202e}b\u{0}\u{200b}\n思é\u{301}"),
            "a\\u{202e}b\\u{0}\\u{200b}⏎思é\u{301}"
        );
        assert_eq!(visible("<b>&amp;"), "<b>&amp;");
        let lines: String = "a\n\u{2066}想".chars().map(in_lines).collect();
        assert_eq!(lines, "a⏎\n\\u{2066}想");
    }
}
