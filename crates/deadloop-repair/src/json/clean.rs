//! Preparation of text for the tolerant parser.
//!
//! Removes a code fence and comments, and repairs single quotes, raw line ends and invalid escapes.

use std::iter::Peekable;
use std::str::Chars;

/// Returns the text without an opening code fence and comments, with double quotes and valid escapes.
///
/// Other text before the JSON is kept, so that the parser rejects it. That text may contain `{}` too, so the beginning
/// of the JSON would be a guess.
pub(super) fn clean(text: &str) -> String {
    let mut rest = strip_fence(text).unwrap_or(text).chars().peekable();
    let mut output = String::with_capacity(text.len());
    while let Some(c) = rest.next() {
        match (c, rest.peek()) {
            ('/', Some('/')) => while rest.next_if(|c| *c != '\n').is_some() {},
            ('/', Some('*')) => skip_comment(&mut rest),
            ('"' | '\'', _) => read_string(c, &mut rest, &mut output),
            _ => output.push(c),
        }
    }
    output
}

/// Returns the text after an opening code fence and its language. `None` if there is no fence before JSON.
fn strip_fence(text: &str) -> Option<&str> {
    let inside = text.trim_start().strip_prefix("```")?;
    let inside = inside.trim_start_matches(|c: char| c.is_ascii_alphanumeric());
    let inside = inside.trim_start();
    inside.starts_with(['{', '[']).then_some(inside)
}

/// Skips a comment, from the `*` at the start of `rest`.
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

/// Reads the rest of a string up to its closing `quote`, and appends it to `output`.
fn read_string(quote: char, rest: &mut Peekable<Chars>, output: &mut String) {
    output.push('"');
    while let Some(c) = rest.next() {
        match c {
            '\\' => read_escape(rest, output),
            '\n' => output.push_str("\\n"),
            '\r' => output.push_str("\\r"),
            '\t' => output.push_str("\\t"),
            '\0'..='\u{1f}' => output.push_str(&format!("\\u{:04x}", u32::from(c))),
            c if c == quote => return output.push('"'),
            '"' => output.push_str("\\\""),
            c => output.push(c),
        }
    }
}

/// Reads an escape after its backslash, and appends it to `output`. A backslash that begins no valid escape is taken
/// literally.
fn read_escape(rest: &mut Peekable<Chars>, output: &mut String) {
    match rest.peek() {
        Some('"' | '\\' | '/' | 'b' | 'f' | 'n' | 'r' | 't') => {
            output.push('\\');
            output.extend(rest.next());
        }
        Some('\'') => output.extend(rest.next()),
        Some('u') => {
            let mut ahead = rest.clone().skip(1);
            let digits: String = ahead.by_ref().take(4).collect();
            let whole = digits.chars().count() == 4;
            let hex = digits.chars().all(|c| c.is_ascii_hexdigit());
            // The end of the text may cut the escape. The closer then leaves it out.
            output.push_str(if hex { "\\" } else { "\\\\" });
            if hex && !whole {
                output.push('u');
                output.extend(rest.skip(1));
            }
        }
        // The end of the text cuts the escape.
        None => output.push('\\'),
        Some(_) => output.push_str("\\\\"),
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
