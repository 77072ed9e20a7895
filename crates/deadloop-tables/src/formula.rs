//! Escaping of CSV cells that spreadsheets would run as formulas.
//!
//! Ids and model names come from outside, and most spreadsheets run a cell that begins with `=`, `+`, `-` or `@` as a
//! formula. Such a cell is written with a leading `'`, which marks text in those programs and is removed when deadloop
//! reads the table. Numbers are not escaped, nor are labels.csv and splits.csv, because other tools read those files
//! and their ids must equal those of transcripts.

use std::borrow::Cow;

/// Escapes a text that a spreadsheet would run as a formula. Other texts are returned unchanged.
pub fn escape_formula(text: &str) -> Cow<'_, str> {
    let runs = begins_formula(text) && !is_number(text);
    // Text that looks escaped is escaped too, since reading would remove its leading quote.
    if runs || text.strip_prefix('\'').is_some_and(looks_escaped) {
        Cow::Owned(format!("'{text}"))
    } else {
        Cow::Borrowed(text)
    }
}

/// Returns a cell's text without its escape.
pub(crate) fn remove_escape(cell: &str) -> &str {
    let inner = cell.strip_prefix('\'').filter(|rest| looks_escaped(rest));
    inner.unwrap_or(cell)
}

fn looks_escaped(rest: &str) -> bool {
    begins_formula(rest) || rest.starts_with('\'')
}

fn begins_formula(text: &str) -> bool {
    text.starts_with(['=', '+', '-', '@', '\t', '\r', '\n'])
}

fn is_number(text: &str) -> bool {
    let digits = |c: char| c.is_ascii_digit() || matches!(c, '+' | '-' | '.' | 'e' | 'E');
    text.chars().all(digits) && text.parse::<f64>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn formulas_are_text_and_numbers_stay() {
        for (text, written) in [
            ("=1+1", "'=1+1"),
            ("@sum(a1)", "'@sum(a1)"),
            ("-2+3", "'-2+3"),
            ("+cmd|x", "'+cmd|x"),
            ("\t=1", "'\t=1"),
            ("-2.5e3", "-2.5e3"),
            ("a=1", "a=1"),
            ("'quoted'", "'quoted'"),
            ("'=1", "''=1"),
            ("", ""),
        ] {
            assert_eq!(escape_formula(text), written);
            assert_eq!(remove_escape(written), text);
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_as_it_was(text in "['=@+a1\t\r\n-]{0,6}") {
            let written = escape_formula(&text);
            prop_assert_eq!(remove_escape(&written), &*text);
            prop_assert!(!begins_formula(&written) || is_number(&written));
        }
    }
}
