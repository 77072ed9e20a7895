//! Suggestions for misspelt words: the nearest known word.

/// The minimum similarity of two words, from 0 to 1: about one wrong letter in three.
const MIN_SIMILARITY: f64 = 0.6;

/// The maximum length of a compared word, in bytes. The time grows with the product of both lengths.
const MAX_BYTES: usize = 200;

/// Returns the suggestion at the end of an error: ` (did you mean "periodic"?)` for `periodc`. Empty if `word` is
/// known, or not similar to a known word.
pub fn did_you_mean<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    if word.len() > MAX_BYTES {
        return String::new();
    }
    let mut best: Option<(f64, &str)> = None;
    for name in known.into_iter().filter(|name| name.len() <= MAX_BYTES) {
        let alike =
            strsim::normalized_damerau_levenshtein(&word.to_lowercase(), &name.to_lowercase());
        if alike >= MIN_SIMILARITY && best.is_none_or(|(most, _)| alike > most) {
            best = Some((alike, name));
        }
    }
    match best {
        Some((_, name)) if name != word => format!(" (did you mean {name:?}?)"),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_near_word_is_suggested() {
        let known = ["periodic", "checkpoint", "recurrence"];
        assert_eq!(
            did_you_mean("periodc", known),
            " (did you mean \"periodic\"?)"
        );
        assert_eq!(
            did_you_mean("Periodic", known),
            " (did you mean \"periodic\"?)"
        );
        assert_eq!(
            did_you_mean("chekpiont", known),
            " (did you mean \"checkpoint\"?)"
        );
        assert_eq!(did_you_mean("periodic", known), "");
        assert_eq!(did_you_mean("loops", known), "");
        assert_eq!(did_you_mean("", known), "");
        assert_eq!(did_you_mean(&"periodic".repeat(1000), known), "");
    }
}
