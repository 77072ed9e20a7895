//! The text of a turn, and the share that two texts have in common.

use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use crate::calls::{fold_text, hash};
use crate::measure::fact::UNIT_CHARS;
use crate::settings::param::DECIMAL;

/// The number of chars at the start of a text that are folded for comparison. The rest is compared unchanged.
pub(super) const HEAD: usize = 10_000;

/// The number of tokens of a trigram.
const GRAM: usize = 3;

/// The text of a turn in progress.
#[derive(Default)]
pub(super) struct TurnText {
    head: String,
    /// The number of chars in `head`.
    chars: usize,
    /// The hash of the text after `head`, if there is any.
    rest: Option<Box<Xxh3>>,
}

impl TurnText {
    /// Adds the next piece.
    pub(super) fn push(&mut self, piece: &str) {
        let room = HEAD - self.chars;
        let end = piece
            .char_indices()
            .nth(room)
            .map_or(piece.len(), |(at, _)| at);
        let (head, rest) = piece.split_at(end);
        self.head.push_str(head);
        self.chars += head.chars().count();
        if !rest.is_empty() {
            let hasher = self.rest.get_or_insert_with(|| Box::new(Xxh3::new()));
            hasher.update(rest.as_bytes());
        }
    }

    /// Returns the first chars, for display in an alarm.
    pub(super) fn head(&self) -> String {
        self.head.trim_start().chars().take(UNIT_CHARS).collect()
    }
}

/// The text of a turn, prepared for comparison.
pub(super) struct TurnSignature {
    /// The number of chars of the folded text.
    pub(super) chars: u64,
    whole: u128,
    /// The sorted hashes of the trigrams. `None` if texts must be equal.
    grams: Option<Vec<u64>>,
}

impl TurnSignature {
    /// Prepares the text of an ended turn: dates, ids, numbers, white space and case are folded.
    pub(super) fn new(said: &TurnText, trigrams: bool) -> Self {
        let text = fold_text(&said.head);
        let rest = said.rest.as_ref().map_or(0, |rest| rest.digest128());
        Self {
            chars: text.chars().count() as u64,
            whole: hash(&[&text, &rest.to_string()]),
            grams: trigrams.then(|| grams(&text)),
        }
    }

    /// Returns the common share of two texts, in millionths: a million for equal texts, else the share of trigrams that
    /// occur in both.
    pub(super) fn share(&self, other: &Self) -> i64 {
        let (Some(a), Some(b)) = (&self.grams, &other.grams) else {
            return if self.whole == other.whole {
                DECIMAL
            } else {
                0
            };
        };
        let both = a
            .iter()
            .filter(|gram| b.binary_search(gram).is_ok())
            .count();
        let all = a.len() + b.len() - both;
        // Both numbers are at most [`HEAD`], so the casts succeed.
        i64::try_from(both).unwrap_or(0) * DECIMAL / i64::try_from(all.max(1)).unwrap_or(i64::MAX)
    }
}

/// Returns the distinct hashes of the trigrams of a folded text. A text of fewer tokens has one hash.
fn grams(text: &str) -> Vec<u64> {
    let tokens = tokens(text);
    let hashed = |gram: &[&str]| xxh3_64(gram.join("\0").as_bytes());
    let mut grams: Vec<u64> = match tokens.len() {
        0 => Vec::new(),
        1..GRAM => vec![hashed(&tokens)],
        _ => tokens.windows(GRAM).map(hashed).collect(),
    };
    grams.sort_unstable();
    grams.dedup();
    grams
}

/// Splits a text into words. Each ideograph, kana and hangul syllable is a word.
fn tokens(text: &str) -> Vec<&str> {
    let is_single = |c: char| ('\u{2e80}'..='\u{d7ff}').contains(&c) || c == '#';
    let mut tokens = Vec::new();
    let mut word = None;
    for (at, c) in text.char_indices() {
        let goes_on = c.is_alphanumeric() && !is_single(c);
        if let (false, Some(start)) = (goes_on, word) {
            tokens.extend(text.get(start..at));
            word = None;
        }
        if goes_on && word.is_none() {
            word = Some(at);
        }
        if is_single(c) {
            tokens.extend(text.get(at..at + c.len_utf8()));
        }
    }
    tokens.extend(word.and_then(|start| text.get(start..)));
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_words_and_ideographs() {
        assert_eq!(
            tokens("i'll read # files"),
            ["i", "ll", "read", "#", "files"]
        );
        assert_eq!(tokens("我读 abc文"), ["我", "读", "abc", "文"]);
        assert_eq!(tokens(""), Vec::<&str>::new());
    }

    #[test]
    fn pieces_of_a_long_text_do_not_matter() {
        let text = "ab 好".repeat(HEAD);
        let (mut whole, mut pieces) = (TurnText::default(), TurnText::default());
        whole.push(&text);
        let mut rest = text.as_str();
        while let Some(c) = rest.chars().next() {
            let (piece, after) = rest.split_at(c.len_utf8());
            pieces.push(piece);
            rest = after;
        }
        assert_eq!(whole.head, pieces.head);
        let digest = |said: &TurnText| said.rest.as_ref().map(|rest| rest.digest128());
        assert_eq!(digest(&whole), digest(&pieces));
        assert!(digest(&whole).is_some());
    }
}
