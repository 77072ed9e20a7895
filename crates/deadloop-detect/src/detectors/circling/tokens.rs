//! Splits chars into tokens: hashes of words or, in scripts without blanks, of chars.

use crate::text::fence::Fence;
use crate::text::hash::{join, spread};
use crate::text::script::is_unspaced;

/// A token: its hash, and the number of chars up to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CirclingToken {
    pub(super) hash: u64,
    pub(super) end: u64,
}

/// The maximum number of chars of a word. A longer word is cut, so that text without blanks is not one endless word.
const MAX_WORD: u32 = 64;

/// A tokenizer of one stream. A word is complete only with the char after it, so no token depends on unread text.
#[derive(Clone, Copy, Debug)]
pub(super) struct CirclingTokenizer {
    skip_code: bool,
    fence: Fence,
    /// The number of chars read so far.
    read: u64,
    /// The length of the word in progress, in chars. 0 between words.
    length: u32,
    /// The word in progress, so far.
    word: CirclingToken,
}

impl CirclingTokenizer {
    pub(super) fn new(skip_code: bool) -> Self {
        Self {
            skip_code,
            fence: Fence::default(),
            read: 0,
            length: 0,
            word: CirclingToken { hash: 0, end: 0 },
        }
    }

    /// Returns the number of chars read so far.
    pub(super) fn read(&self) -> u64 {
        self.read
    }

    /// Reads a char. Returns the word that it completes, and the char itself if it is a token.
    pub(super) fn push(&mut self, c: char) -> [Option<CirclingToken>; 2] {
        self.read += 1;
        if self.skip_code {
            self.fence.step(c);
            if self.fence.is_inside() {
                return [self.finish(), None];
            }
        }
        let end = self.read;
        if !c.is_alphanumeric() && c != '_' {
            return [self.finish(), None];
        }
        if is_unspaced(c) {
            let hash = spread(u64::from(u32::from(c)));
            return [self.finish(), Some(CirclingToken { hash, end })];
        }
        // The lower case of İ has two chars. Only the first is used, so that positions do not change.
        let lower = c.to_lowercase().next().unwrap_or(c);
        let hash = if self.length == 0 { 0 } else { self.word.hash };
        self.word = CirclingToken {
            hash: join(hash, u64::from(u32::from(lower))),
            end,
        };
        self.length += 1;
        if self.length == MAX_WORD {
            [self.finish(), None]
        } else {
            [None; 2]
        }
    }

    /// Ends the word in progress and returns it.
    pub(super) fn finish(&mut self) -> Option<CirclingToken> {
        let length = std::mem::take(&mut self.length);
        (length > 0).then_some(CirclingToken {
            hash: spread(self.word.hash),
            ..self.word
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ends(text: &str, skip_code: bool) -> Vec<u64> {
        let mut tokens = CirclingTokenizer::new(skip_code);
        let all = text.chars().flat_map(|c| tokens.push(c)).flatten();
        all.map(|token| token.end).collect()
    }

    #[test]
    fn tokens_end_at_words() {
        assert_eq!(ends("It doesn't, x_y tail", false), [2, 8, 10, 15]);
        assert_eq!(ends("a思考b ", false), [1, 2, 3, 4]);
        assert_eq!(ends(&"ab".repeat(100), false), [64, 128, 192]);
        assert_eq!(ends("a\n```\nb c\n```\nd ", true), [1, 15]);
    }

    #[test]
    fn case_does_not_count() {
        let hashes = |text: &str| -> Vec<u64> {
            let mut tokens = CirclingTokenizer::new(false);
            let all = text.chars().flat_map(|c| tokens.push(c)).flatten();
            all.map(|token| token.hash).collect()
        };
        assert_eq!(hashes("Wait É "), hashes("wAIT é "));
        assert_ne!(hashes("wait "), hashes("waits "));
    }
}
