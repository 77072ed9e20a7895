//! Text in a CSV file that a spreadsheet would run: ids and names of models are other people's text, and a
//! cell that begins with `=`, `+`, `-` or `@` is a formula to most programs that people open tables with.
//!
//! Such a cell is written with a `'` before it, which those programs take as "this is text", and which is
//! taken off again where deadloop reads the table. A number is left as it is, and so are labels.csv and
//! splits.csv: those are data, read by other tools, and an id in them must be the id of a transcript.

use std::borrow::Cow;

/// Returns text that a spreadsheet does not run as a formula.
pub fn unrunnable(text: &str) -> Cow<'_, str> {
    let runs = begins(text) && !is_number(text);
    // What looks as if it had been changed is changed too, or reading would take off what was there.
    if runs || text.strip_prefix('\'').is_some_and(looks_changed) {
        Cow::Owned(format!("'{text}"))
    } else {
        Cow::Borrowed(text)
    }
}

/// The text that was written so.
pub(crate) fn as_it_was(cell: &str) -> &str {
    let inner = cell.strip_prefix('\'').filter(|rest| looks_changed(rest));
    inner.unwrap_or(cell)
}

fn looks_changed(rest: &str) -> bool {
    begins(rest) || rest.starts_with('\'')
}

fn begins(text: &str) -> bool {
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
            assert_eq!(unrunnable(text), written);
            assert_eq!(as_it_was(written), text);
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_as_it_was(text in "['=@+a1\t\r\n-]{0,6}") {
            let written = unrunnable(&text);
            prop_assert_eq!(as_it_was(&written), &*text);
            prop_assert!(!begins(&written) || is_number(&written));
        }
    }
}
