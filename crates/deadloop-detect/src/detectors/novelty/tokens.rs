//! Splits chars into tokens: hashes of words or, in scripts without blanks, of chars.
//!
//! A word is complete only with the char after it, so no token depends on unread text.

use std::ops::Range;

use crate::text::bytes::runs;
use crate::text::class::{CharClasses, NAMED, NUMBER as NUMERIC};
use crate::text::element::Hash;
use crate::text::hash::spread;
use crate::text::script::is_unspaced;

/// A token: its hash, and the number of chars before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct NoveltyToken {
    pub(super) hash: u64,
    pub(super) start: u64,
}

/// The maximum number of chars of a word. A longer word is cut, so that text without blanks is not one endless word.
const MAX_WORD: usize = 64;

/// The symbol of all folded numbers. No char has this value.
const NUMBER: u64 = 0xFF;

/// A tokenizer of one stream.
#[derive(Debug)]
pub(super) struct NoveltyTokenizer {
    /// Whether all numbers count as equal.
    fold: bool,
    classes: CharClasses,
    read: u64,
    /// The word in progress.
    word: Hash,
    start: u64,
    /// The length of the word in progress, in chars. 0 between words.
    length: usize,
    /// [`NUMBER`] if the last char belongs to a folded number.
    last: Option<u64>,
}

impl NoveltyTokenizer {
    pub(super) fn new(fold: bool) -> Self {
        Self {
            fold,
            classes: CharClasses::new(),
            read: 0,
            word: Hash::default(),
            start: 0,
            length: 0,
            last: None,
        }
    }

    /// Reads a text. Passes each token that it completes to `each`.
    pub(super) fn read(&mut self, text: &str, mut each: impl FnMut(NoveltyToken)) {
        let mut rest = text;
        while !rest.is_empty() {
            let before = self.read;
            let ascii = runs(rest.as_bytes(), b'_', |run, named| {
                self.read = before + run.start as u64;
                if named {
                    self.extend_all(rest, run, &mut each)
                } else {
                    self.finish().into_iter().for_each(&mut each)
                }
            });
            self.read = before + ascii as u64;
            rest = &rest[ascii..];
            let others = rest.chars().take_while(|c| !c.is_ascii());
            let others = others.fold(0, |bytes, c| {
                self.wide(c).into_iter().flatten().for_each(&mut each);
                self.read += 1;
                bytes + c.len_utf8()
            });
            rest = &rest[others..];
        }
    }

    /// Adds this range of a text, ASCII letters, digits and `_`, to the word in progress.
    #[inline]
    fn extend_all(&mut self, text: &str, run: Range<usize>, each: &mut impl FnMut(NoveltyToken)) {
        let word = &text[run.clone()];
        let folds = self.fold && word.bytes().any(|byte| byte.is_ascii_digit());
        if folds || self.length + word.len() >= MAX_WORD {
            for c in word.chars() {
                self.extend(c).into_iter().for_each(&mut *each);
                self.read += 1;
            }
            return;
        }
        self.begin();
        self.length += word.len();
        self.last = None;
        self.word.add_word(text.as_bytes(), run);
    }

    /// Reads a char that is not ASCII. Returns the word that it completes, and the char itself if it is a token.
    fn wide(&mut self, c: char) -> [Option<NoveltyToken>; 2] {
        if is_unspaced(c) {
            let own = NoveltyToken {
                hash: spread(u64::from(u32::from(c))),
                start: self.read,
            };
            return [self.finish(), Some(own)];
        }
        if self.classes.class(c) & NAMED != 0 {
            return [self.extend(c), None];
        }
        [self.finish(), None]
    }

    /// Returns [`NUMBER`] for a char of a folded number.
    fn number(&self, c: char) -> Option<u64> {
        (self.fold && self.classes.class(c) & NUMERIC != 0).then_some(NUMBER)
    }

    #[inline]
    fn begin(&mut self) {
        if self.length == 0 {
            (self.word, self.start, self.last) = (Hash::default(), self.read, None);
        }
    }

    /// Adds a char to the word. Returns the word if it is cut here.
    #[inline]
    fn extend(&mut self, c: char) -> Option<NoveltyToken> {
        self.begin();
        self.length += 1;
        let kind = self.number(c);
        match kind {
            None => add_lower(&mut self.word, c),
            Some(number) if self.last.is_none() => self.word.add_sign(number),
            Some(_) => {}
        }
        self.last = kind;
        (self.length == MAX_WORD).then(|| self.finish()).flatten()
    }

    #[inline]
    fn finish(&mut self) -> Option<NoveltyToken> {
        let length = std::mem::take(&mut self.length);
        (length > 0).then(|| NoveltyToken {
            hash: spread(self.word.value()),
            start: self.start,
        })
    }
}

/// Adds the lower-case form of a char.
fn add_lower(hash: &mut Hash, c: char) {
    match c {
        '_' | '0'..='9' | 'a'..='z' | 'A'..='Z' => {
            let mut byte = [0];
            c.encode_utf8(&mut byte);
            hash.add_word(&byte, 0..1);
        }
        // Most other chars have no case, and the look-up is slow.
        _ if is_unspaced(c) => hash.add(c),
        _ => c.to_lowercase().for_each(|c| hash.add(c)),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Returns the start of each token, and its number among the different tokens in the order of their first
    /// occurrence.
    fn tokens(fold: bool, text: &str) -> Vec<(u64, usize)> {
        let mut tokens = NoveltyTokenizer::new(fold);
        let mut known = Vec::new();
        let mut all = Vec::new();
        tokens.read(text, |token| all.push(token));
        all.into_iter()
            .map(|token| {
                let place = known.iter().position(|h| *h == token.hash);
                let place = place.unwrap_or_else(|| {
                    known.push(token.hash);
                    known.len() - 1
                });
                (token.start, place)
            })
            .collect()
    }

    /// Returns the start and the text of each token, by the definition.
    fn slow(fold: bool, text: &str) -> Vec<(u64, String)> {
        let (mut all, mut word) = (Vec::new(), None);
        for (at, c) in (0_u64..).zip(text.chars()) {
            let own = !c.is_ascii() && is_unspaced(c);
            let (_, text, length) = match own {
                true => {
                    all.extend(word.take());
                    word.insert((at, String::new(), 0))
                }
                _ if c.is_alphanumeric() || c == '_' => word.get_or_insert((at, String::new(), 0)),
                _ => {
                    all.extend(word.take());
                    continue;
                }
            };
            *length += 1;
            match c {
                _ if !own && fold && c.is_numeric() => {
                    if !text.ends_with('#') {
                        text.push('#');
                    }
                }
                _ if own => text.push(c),
                _ => text.extend(c.to_lowercase()),
            }
            if own || *length == MAX_WORD {
                all.extend(word.take());
            }
        }
        all.into_iter().map(|(at, text, _)| (at, text)).collect()
    }

    proptest! {
        #[test]
        fn as_char_by_char(
            pieces in prop::collection::vec("(?s)[aB1２_é长か .]{0,20}|[a-z ]{0,70}|[aA1_]{0,150}|.{0,5}", 0..8),
            fold in any::<bool>(),
        ) {
            let mut tokens = NoveltyTokenizer::new(fold);
            let mut all = Vec::new();
            pieces.iter().for_each(|piece| tokens.read(piece, |token| all.push(token)));
            // In the reference, `#` is a folded number. Words have no other `#`.
            let text = pieces.concat().replace('#', "");
            let mut again = NoveltyTokenizer::new(fold);
            let mut whole = Vec::new();
            again.read(&text, |token| whole.push(token));
            if !pieces.concat().contains('#') {
                prop_assert_eq!(&all, &whole);
            }
            let slow = slow(fold, &text);
            prop_assert_eq!(whole.len(), slow.len());
            for (token, (start, text)) in whole.iter().zip(&slow) {
                prop_assert_eq!(token.start, *start);
                for (other, (_, same)) in whole.iter().zip(&slow) {
                    prop_assert_eq!(token.hash == other.hash, text == same);
                }
            }
        }
    }

    #[test]
    fn words_are_lowered_and_complete() {
        let all = tokens(false, "The the, THE_x tail");
        assert_eq!(all, [(0, 0), (4, 0), (9, 1)]);
        assert_eq!(
            tokens(false, "a思考b思 "),
            [(0, 0), (1, 1), (2, 2), (3, 3), (4, 1)]
        );
        assert_eq!(
            tokens(false, &"ab".repeat(100)),
            [(0, 0), (64, 0), (128, 0)]
        );
    }

    #[test]
    fn numbers_can_be_one() {
        let text = "try17 try2b x2y x33y 1,234 7 ";
        let kept: Vec<usize> = tokens(false, text).iter().map(|t| t.1).collect();
        assert_eq!(kept, [0, 1, 2, 3, 4, 5, 6]);
        let folded: Vec<usize> = tokens(true, text).iter().map(|t| t.1).collect();
        assert_eq!(folded, [0, 1, 2, 2, 3, 3, 3]);
    }
}
