//! The words of command line options whose values are an enum, with their help.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use serde::de::value::Error;
use serde::de::{DeserializeOwned, IntoDeserializer};

/// A word of an option, and its help.
pub type WordHelp = (&'static str, &'static str);

/// The option words for `Unit`, with their help.
pub const UNITS: &[WordHelp] = &[
    ("chars", "Chars of text"),
    ("calls", "Tool calls"),
    ("turns", "Turns of an agent"),
];
/// The option words for `TextScope`, with their help.
pub const PER: &[WordHelp] = &[
    ("turn", "Each turn is a text of its own"),
    ("run", "A channel of the whole run is one text"),
];
/// The option words for `Transient`, with their help.
pub const TRANSIENT: &[WordHelp] = &[
    ("ignore", "In columns of their own, in no ratio"),
    ("clean", "As clean text"),
    ("loop", "As loops"),
];
/// The option words for `StreamFormat`, with their help.
pub const FORMATS: &[WordHelp] = &[
    ("text", "Plain text, though it may look like JSON"),
    ("jsonl", "JSON lines, one object a line"),
    ("sse", "Server-sent events"),
];
/// The option words for `FailCondition`, with their help.
pub const FAILS: &[WordHelp] = &[
    ("regressed", "Significantly worse, by more than noise"),
    ("inconclusive", "These transcripts cannot tell"),
    ("equivalent", "The same, but for noise"),
    ("improved", "Significantly better"),
    (
        "inferior",
        "The rate of wrong alarms may be worse by more than the margin",
    ),
    ("flips", "Any verdict that changed"),
    ("never", "Nothing: report only"),
];

/// Returns a parser of these words into the library's enum.
pub fn word<T>(words: &'static [WordHelp]) -> impl TypedValueParser<Value = T>
where
    T: DeserializeOwned + Clone + Send + Sync + 'static,
{
    let possible = words
        .iter()
        .map(|(word, help)| PossibleValue::new(*word).help(*help));
    let read = |word: String| -> Result<T, Error> { T::deserialize(word.into_deserializer()) };
    PossibleValuesParser::new(possible).try_map(read)
}

#[cfg(test)]
mod tests {
    use deadloop_corpus::StreamFormat;
    use deadloop_detect::Unit;
    use deadloop_detect::harness::TextScope;
    use deadloop_score::{FailCondition, Transient};

    use super::*;

    fn all_read<T: DeserializeOwned>(words: &[WordHelp]) -> usize {
        let read = |(word, _): &&WordHelp| {
            let word = word.to_owned().to_owned();
            let read: Result<T, Error> = T::deserialize(word.into_deserializer());
            read.is_ok()
        };
        words.iter().filter(read).count()
    }

    #[test]
    fn every_word_is_one_of_its_library() {
        assert_eq!(all_read::<Unit>(UNITS), Unit::ALL.len());
        assert_eq!(all_read::<TextScope>(PER), TextScope::ALL.len());
        assert_eq!(all_read::<Transient>(TRANSIENT), 3);
        assert_eq!(all_read::<StreamFormat>(FORMATS), StreamFormat::ALL.len());
        assert_eq!(all_read::<FailCondition>(FAILS), FAILS.len());
    }
}
