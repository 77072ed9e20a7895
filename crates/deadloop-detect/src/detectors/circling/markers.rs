//! [`Markers`]: phrases of doubt, as hashes of their words.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

use super::tokens::{CirclingToken, CirclingTokenizer};
use crate::text::hash::{join, spread};

/// The maximum number of words of a phrase.
pub(super) const MAX_LEN: usize = 4;

/// A list of `markers.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MarkerList {
    #[allow(dead_code, reason = "for who reads the file")]
    version: u32,
    #[allow(dead_code, reason = "for who reads the file")]
    source: String,
    pub(super) phrases: Vec<String>,
}

#[allow(
    clippy::expect_used,
    reason = "a constant text; every test would see it fail"
)]
static LISTS: LazyLock<BTreeMap<String, MarkerList>> =
    LazyLock::new(|| toml::from_str(include_str!("markers.toml")).expect("lists of phrases"));

/// Returns the list with this name.
pub(super) fn list(name: &str) -> Option<&'static MarkerList> {
    LISTS.get(name)
}

/// Returns the hashes of a phrase's words.
pub(super) fn tokens_of(phrase: &str) -> Vec<u64> {
    let mut tokens = CirclingTokenizer::new(false);
    let read: Vec<CirclingToken> = phrase
        .chars()
        .flat_map(|c| tokens.push(c))
        .flatten()
        .collect();
    let all = read.into_iter().chain(tokens.finish());
    all.map(|token| token.hash).collect()
}

/// The phrases that mark doubt.
#[derive(Debug)]
pub(super) struct Markers {
    /// The last word and all words of each phrase, sorted.
    phrases: Vec<(u64, Vec<u64>)>,
}

impl Markers {
    /// Returns the phrases of the named lists. A name without a list is a phrase.
    pub(super) fn new<'a>(names: impl Iterator<Item = &'a str>) -> Self {
        let phrases = names.flat_map(|name| match list(name) {
            Some(list) => list.phrases.iter().map(String::as_str).collect(),
            None => vec![name],
        });
        let with_last = |phrase| {
            let tokens = tokens_of(phrase);
            tokens.last().map(|last| (*last, tokens.clone()))
        };
        let mut phrases: Vec<_> = phrases.filter_map(with_last).collect();
        phrases.sort();
        Self { phrases }
    }

    /// Returns whether there are no phrases.
    pub(super) fn is_empty(&self) -> bool {
        self.phrases.is_empty()
    }

    /// Returns whether a phrase ends with the last of these tokens.
    pub(super) fn end(&self, last: &LastTokens) -> bool {
        let Some(token) = last.tokens().last() else {
            return false;
        };
        let from = self.phrases.partition_point(|(end, _)| end < token);
        let own = self.phrases[from..].iter();
        own.take_while(|(end, _)| end == token)
            .any(|(_, phrase)| last.tokens().ends_with(phrase))
    }
}

/// The last tokens of a stream.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LastTokens {
    tokens: [u64; MAX_LEN],
    count: usize,
}

impl LastTokens {
    /// Adds a token. Returns the hash of the pair that it ends.
    pub(super) fn push(&mut self, token: u64) -> Option<u64> {
        let before = self.tokens().last().copied();
        if self.count < MAX_LEN {
            self.count += 1;
        } else {
            self.tokens.rotate_left(1);
        }
        self.tokens[self.count - 1] = token;
        before.map(|before| spread(join(join(0, before), token)))
    }

    fn tokens(&self) -> &[u64] {
        &self.tokens[..self.count]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns, for each word of a text, whether it ends a marker.
    fn marked(names: &[&str], text: &str) -> Vec<bool> {
        let markers = Markers::new(names.iter().copied());
        let mut last = LastTokens::default();
        let mut end = |token| {
            last.push(token);
            markers.end(&last)
        };
        tokens_of(text).into_iter().map(&mut end).collect()
    }

    #[test]
    fn phrases_end_where_they_end() {
        let text = "Wait, it doesn't make sense. Let me";
        let all = [true, false, false, false, false, true, false, true];
        assert_eq!(marked(&["en"], text), all);
        assert_eq!(marked(&["zh"], "等等，让我"), [false, true, false, true]);
        assert_eq!(marked(&["it doesn"], text)[..3], [false, false, true]);
        assert_eq!(marked(&["let", "me", "let me"], "let me"), [true, true]);
    }

    #[test]
    fn every_phrase_is_short_enough() {
        for list in LISTS.values() {
            for phrase in &list.phrases {
                assert!((1..=MAX_LEN).contains(&tokens_of(phrase).len()), "{phrase}");
            }
        }
        assert!(
            LISTS
                .values()
                .all(|list| list.version == 1 && !list.source.is_empty())
        );
    }
}
