//! Turns chars into tokens, the hashes of words or chars.
//!
//! A word is complete only with the char after it, so no token depends on text that has not been read.

use crate::hash::{join, spread};
use crate::script::is_unspaced;

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum By {
    /// A word, or one char of a script that writes without blanks between words.
    Auto,
    /// A char; several blanks in a row are one token.
    Chars,
    /// A word, in any script.
    Words,
}

/// A token: its hash, and the number of chars before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) hash: u64,
    pub(super) start: u64,
}

/// The most chars of a word; a longer one is cut, so that text without blanks is not one endless word.
const MAX_WORD: u32 = 64;

/// The symbol for every number where numbers are folded. It is above every char.
const NUMBER: u32 = 0x11_0000;
/// The symbol for blanks, also above every char.
const BLANK: u32 = 0x11_0001;

/// Cuts one stream into tokens.
#[derive(Debug)]
pub(super) struct Tokens {
    by: By,
    /// Whether all numbers count as equal.
    fold: bool,
    read: u64,
    /// The word that is being read.
    word: Token,
    /// The length of that word in chars; 0 between words.
    length: u32,
    /// The symbol of the last char. [`NUMBER`] and [`BLANK`] extend over all chars of their kind.
    last: u32,
}

impl Tokens {
    pub(super) fn new(by: By, fold: bool) -> Self {
        Self {
            by,
            fold,
            read: 0,
            word: Token::default(),
            length: 0,
            last: 0,
        }
    }

    /// Reads a char: the word that it completes, and itself where it is a token.
    #[inline]
    pub(super) fn read(&mut self, c: char) -> [Option<Token>; 2] {
        let start = self.read;
        self.read += 1;
        if self.by != By::Chars && c.is_ascii() {
            let within = c.is_ascii_alphanumeric() || c == '_';
            return [
                if within {
                    self.extend(c, start)
                } else {
                    self.finish()
                },
                None,
            ];
        }
        if self.by == By::Chars {
            return [None, self.char_token(c, start)];
        }
        if self.by == By::Auto && is_unspaced(c) {
            let own = Token {
                hash: spread(u64::from(u32::from(c))),
                start,
            };
            return [self.finish(), Some(own)];
        }
        if c.is_alphanumeric() || c == '_' {
            return [self.extend(c, start), None];
        }
        [self.finish(), None]
    }

    fn char_token(&mut self, c: char, start: u64) -> Option<Token> {
        let symbol = self.symbol(c);
        let goes_on = symbol >= NUMBER && symbol == self.last;
        self.last = symbol;
        let hash = match symbol {
            NUMBER | BLANK => u64::from(symbol),
            _ => lower(0, c),
        };
        (!goes_on).then_some(Token {
            hash: spread(hash),
            start,
        })
    }

    #[inline]
    fn symbol(&self, c: char) -> u32 {
        match c {
            'a'..='z' | 'A'..='Z' => u32::from(c),
            _ if c.is_whitespace() => BLANK,
            _ if self.fold && c.is_numeric() => NUMBER,
            _ => u32::from(c),
        }
    }

    /// Adds a char to the word that is read; the word, where it is cut here.
    #[inline]
    fn extend(&mut self, c: char, start: u64) -> Option<Token> {
        if self.length == 0 {
            self.word = Token { hash: 0, start };
            self.last = 0;
        }
        self.length += 1;
        let symbol = self.symbol(c);
        if symbol != NUMBER {
            self.word.hash = lower(self.word.hash, c);
        } else if self.last != NUMBER {
            self.word.hash = add(self.word.hash, NUMBER);
        }
        self.last = symbol;
        (self.length == MAX_WORD).then(|| self.finish()).flatten()
    }

    #[inline]
    fn finish(&mut self) -> Option<Token> {
        let length = std::mem::take(&mut self.length);
        (length > 0).then_some(Token {
            hash: spread(self.word.hash),
            start: self.word.start,
        })
    }
}

/// Extends a hash by the lower-case form of a char.
fn lower(hash: u64, c: char) -> u64 {
    if c.is_ascii() {
        return add(hash, u32::from(c.to_ascii_lowercase()));
    }
    c.to_lowercase().fold(hash, |h, c| add(h, u32::from(c)))
}

fn add(hash: u64, symbol: u32) -> u64 {
    join(hash, u64::from(symbol))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where tokens begin, and which of them are equal: numbered as they appear.
    fn tokens(by: By, fold: bool, text: &str) -> Vec<(u64, usize)> {
        let mut tokens = Tokens::new(by, fold);
        let mut known = Vec::new();
        text.chars()
            .flat_map(|c| tokens.read(c))
            .flatten()
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

    #[test]
    fn words_are_lowered_and_complete() {
        let all = tokens(By::Auto, false, "The the, THE_x tail");
        assert_eq!(all, [(0, 0), (4, 0), (9, 1)]);
        assert_eq!(tokens(By::Words, false, "思考，思考，"), [(0, 0), (3, 0)]);
        assert_eq!(
            tokens(By::Auto, false, "a思考b思 "),
            [(0, 0), (1, 1), (2, 2), (3, 3), (4, 1)]
        );
        assert_eq!(
            tokens(By::Words, false, &"ab".repeat(100)),
            [(0, 0), (64, 0), (128, 0)]
        );
    }

    #[test]
    fn numbers_can_be_one() {
        let text = "try17 try2b x2y x33y 1,234 7 ";
        let kept: Vec<usize> = tokens(By::Auto, false, text).iter().map(|t| t.1).collect();
        assert_eq!(kept, [0, 1, 2, 3, 4, 5, 6]);
        let folded: Vec<usize> = tokens(By::Auto, true, text).iter().map(|t| t.1).collect();
        assert_eq!(folded, [0, 1, 2, 2, 3, 3, 3]);
        assert_eq!(
            tokens(By::Chars, true, "1 22  A a"),
            [(0, 0), (1, 1), (2, 0), (4, 1), (6, 2), (7, 1), (8, 2)]
        );
    }
}
