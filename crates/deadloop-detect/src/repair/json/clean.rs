//! What is put right before a tolerant parser sees it: a code fence, comments, quotes that are
//! single, raw line ends, escapes that JSON does not have.

use std::iter::Peekable;
use std::str::Chars;

/// The text without the line that opens a code fence, without comments, with double quotes and proper
/// escapes. Any other text before the JSON stays, and nothing reads it: a command may hold `{}` too.
pub(super) fn clean(text: &str) -> String {
    let mut rest = unfenced(text).unwrap_or(text).chars().peekable();
    let mut all = String::with_capacity(text.len());
    while let Some(c) = rest.next() {
        match (c, rest.peek()) {
            ('/', Some('/')) => while rest.next_if(|c| *c != '\n').is_some() {},
            ('/', Some('*')) => comment(&mut rest),
            ('"' | '\'', _) => quoted(c, &mut rest, &mut all),
            _ => all.push(c),
        }
    }
    all
}

/// What stands behind the mark of a code fence and its language, if JSON begins there.
fn unfenced(text: &str) -> Option<&str> {
    let inside = text.trim_start().strip_prefix("```")?;
    let inside = inside.trim_start_matches(|c: char| c.is_ascii_alphanumeric());
    let inside = inside.trim_start();
    inside.starts_with(['{', '[']).then_some(inside)
}

/// Behind `/`, at `*`.
fn comment(rest: &mut Peekable<Chars>) {
    let mut last = ' ';
    rest.next();
    for c in rest.by_ref() {
        if (last, c) == ('*', '/') {
            return;
        }
        last = c;
    }
}

/// Behind a quote.
fn quoted(quote: char, rest: &mut Peekable<Chars>, all: &mut String) {
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

/// Behind a backslash: one that is no escape stands for itself.
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
            // Cut by the end: what closes it leaves it out.
            all.push_str(if hex { "\\" } else { "\\\\" });
            if hex && !whole {
                all.push('u');
                all.extend(rest.skip(1));
            }
        }
        // Cut by the end.
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
