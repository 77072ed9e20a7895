//! Prepares text for the tolerant parser.
//!
//! It removes a code fence and comments, and mends single quotes, raw line ends and escapes that JSON does not have.

use std::iter::Peekable;
use std::str::Chars;

/// Returns the text without the opening of a code fence and without comments, with double quotes and proper escapes.
/// Other text before the JSON stays, so that the parser rejects it: the beginning of the JSON would be a guess, since
/// other text may contain `{}` too.
pub(super) fn clean(text: &str) -> String {
    let mut rest = strip_fence(text).unwrap_or(text).chars().peekable();
    let mut all = String::with_capacity(text.len());
    while let Some(c) = rest.next() {
        match (c, rest.peek()) {
            ('/', Some('/')) => while rest.next_if(|c| *c != '\n').is_some() {},
            ('/', Some('*')) => skip_comment(&mut rest),
            ('"' | '\'', _) => read_string(c, &mut rest, &mut all),
            _ => all.push(c),
        }
    }
    all
}

/// Returns the text after the opening of a code fence and its language. `None` if there is no fence or no JSON begins
/// after it.
fn strip_fence(text: &str) -> Option<&str> {
    let inside = text.trim_start().strip_prefix("```")?;
    let inside = inside.trim_start_matches(|c: char| c.is_ascii_alphanumeric());
    let inside = inside.trim_start();
    inside.starts_with(['{', '[']).then_some(inside)
}

/// Skips a comment. `rest` begins with the `*` after `/`.
fn skip_comment(rest: &mut Peekable<Chars>) {
    let mut last = ' ';
    rest.next();
    for c in rest.by_ref() {
        if (last, c) == ('*', '/') {
            return;
        }
        last = c;
    }
}

/// Reads a string up to its closing quote. `rest` begins after the opening `quote`.
fn read_string(quote: char, rest: &mut Peekable<Chars>, all: &mut String) {
    all.push('"');
    while let Some(c) = rest.next() {
        match c {
            '\\' => escape(rest, all),
            '\n' => all.push_str("\\n"),
            '\r' => all.push_str("\\r"),
            '\t' => all.push_str("\\t"),
            '\0'..='\u{1f}' => all.push_str(&format!("\\u{:04x}", u32::from(c))),
            c if c == quote => return all.push('"'),
            '"' => all.push_str("\\\""),
            c => all.push(c),
        }
    }
}

/// Reads an escape. `rest` begins after the backslash. A backslash that does not begin an escape stands for itself.
fn escape(rest: &mut Peekable<Chars>, all: &mut String) {
    match rest.peek() {
        Some('"' | '\\' | '/' | 'b' | 'f' | 'n' | 'r' | 't') => {
            all.push('\\');
            all.extend(rest.next());
        }
        Some('\'') => all.extend(rest.next()),
        Some('u') => {
            let mut ahead = rest.clone().skip(1);
            let digits: String = ahead.by_ref().take(4).collect();
            let whole = digits.chars().count() == 4;
            let hex = digits.chars().all(|c| c.is_ascii_hexdigit());
            // The end of the text may cut the escape. The closer then leaves it out.
            all.push_str(if hex { "\\" } else { "\\\\" });
            if hex && !whole {
                all.push('u');
                all.extend(rest.skip(1));
            }
        }
        // The end of the text cuts the escape.
        None => all.push('\\'),
        Some(_) => all.push_str("\\\\"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_escapes_comments_and_text_before() {
        for (text, expected) in [
            ("{\"a\": \"x\ny\"}", "{\"a\": \"x\\ny\"}"),
            ("{\"re\": \"\\d+\\.\\n\"}", "{\"re\": \"\\\\d+\\\\.\\n\"}"),
            ("{'a': 'it\\'s \"x\"'}", "{\"a\": \"it's \\\"x\\\"\"}"),
            ("{/* \" */\"a\": 1 // \"\n}", "{\"a\": 1 \n}"),
            ("```json\n{\"a\": 1}", "{\"a\": 1}"),
            ("{\"a\": \"\\u00e9\\uZZ\"}", "{\"a\": \"\\u00e9\\\\uZZ\"}"),
            ("{\"a\": \"\\u00", "{\"a\": \"\\u00"),
            ("{\"a\": \"\\", "{\"a\": \"\\"),
            ("\"a\" {", "\"a\" {"),
            ("no JSON", "no JSON"),
            ("rm -f {}", "rm -f {}"),
            ("```bash\nrm {}", "```bash\nrm {}"),
        ] {
            assert_eq!(clean(text), expected, "{text}");
        }
    }
}
