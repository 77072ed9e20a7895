//! Folds arguments of calls that consist of copies of one text.
//!
//! So a command is equal to the same command repeated several times.

use serde_json::Value;

/// The maximum number of bytes between two copies (` && `).
const MAX_GAP: usize = 4;
/// The minimum number of bytes of a copy.
const MIN_COPY: usize = 3;

/// Replaces each text of the arguments that consists of copies by one copy.
pub(super) fn fold_copies(canonical: &str) -> String {
    let Ok(mut value) = serde_json::from_str::<Value>(canonical) else {
        return repeated_unit(canonical).unwrap_or(canonical).to_owned();
    };
    if fold(&mut value) {
        value.to_string()
    } else {
        canonical.to_owned()
    }
}

/// Folds the texts in a value. Returns whether one consisted of copies.
fn fold(value: &mut Value) -> bool {
    match value {
        Value::String(text) => match repeated_unit(text).map(str::to_owned) {
            Some(one) => {
                *text = one;
                true
            }
            None => false,
        },
        Value::Object(fields) => fields.values_mut().fold(false, |any, one| fold(one) | any),
        Value::Array(all) => all.iter_mut().fold(false, |any, one| fold(one) | any),
        _ => false,
    }
}

/// Returns the unit of a text that consists of two or more copies, with the same punctuation between them.
fn repeated_unit(text: &str) -> Option<&str> {
    let period = period(text.as_bytes())?;
    let signs =
        (1..=MAX_GAP.min(period)).find(|signs| (text.len() + signs).is_multiple_of(period))?;
    let unit = text.get(..period - signs)?;
    let between = text.get(period - signs..period)?;
    let is_sign = |c: char| !c.is_alphanumeric();
    (unit.len() >= MIN_COPY && text.len() > period && between.chars().all(is_sign)).then_some(unit)
}

/// Returns the smallest period of a text, in bytes, if it is shorter than the text. It is computed by the prefix
/// function of Knuth, Morris and Pratt.
fn period(text: &[u8]) -> Option<usize> {
    let mut borders = vec![0; text.len()];
    let mut length = 0;
    for at in 1..text.len() {
        while length > 0 && text[at] != text[length] {
            length = borders[length - 1];
        }
        length += usize::from(text[at] == text[length]);
        borders[at] = length;
    }
    let border = *borders.last()?;
    (border > 0).then_some(text.len() - border)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_of_a_text_are_folded_to_one() {
        let cases = [
            ("ls -l && ls -l && ls -l", "ls -l"),
            ("make; make", "make"),
            ("sed 1p\nsed 1p", "sed 1p"),
            (
                "{\"cmd\":\"cat a; cat a\",\"n\":1}",
                "{\"cmd\":\"cat a\",\"n\":1}",
            ),
        ];
        for (text, expected) in cases {
            assert_eq!(fold_copies(text), expected);
        }
    }

    #[test]
    fn other_texts_are_unchanged() {
        for text in [
            "",
            "a",
            "aaaa",
            "make && test",
            "abcabc",
            "one, two, one",
            "{\"b\":1.0,\"a\":\"x y\"}",
        ] {
            assert_eq!(fold_copies(text), text);
        }
    }
}
