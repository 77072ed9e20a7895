//! [`Element`]: a word, sentence or line in the making, as a hash and a length.

use crate::word::Word;

/// Whether a sentence ends with this char; a line ends at `\n` alone.
#[inline]
pub(crate) fn ends_sentence(c: char) -> bool {
    matches!(c, '。' | '.' | '；' | ';' | '！' | '!' | '？' | '?' | '\n')
}

/// The chars of one element so far: blanks at both ends are left out, others taken together. Two
/// different ones have one hash once in 2^64 pairs, or 2^32 where only its high half is used.
///
/// What is hashed is a row of bytes, eight at a time however they came, so that most text can be
/// taken in eights too: an ASCII char is its byte, any other symbol four bytes, the last of which is
/// not ASCII.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Element {
    hash: u64,
    /// The bytes that wait for eight to be complete, the first of them lowest.
    held: u64,
    bytes: u64,
    chars: u64,
    blank: bool,
}

impl Element {
    /// Adds a char, or a symbol that stands for several.
    #[inline]
    pub(crate) fn add(&mut self, symbol: u32, blank: bool) {
        if blank {
            self.blank = !self.is_empty();
            return;
        }
        self.end_blank();
        self.chars += 1;
        self.push(match symbol {
            0..0x80 => Word::new(u64::from(symbol), 1),
            _ => Word::new(u64::from(symbol | 0x8000_0000), 4),
        });
    }

    /// Adds ASCII chars of which none but `' '` is blank, as [`add`](Self::add) would one by one,
    /// unless there are blanks to take together: then it adds none and says so.
    #[inline]
    pub(crate) fn add_word(&mut self, word: Word) -> bool {
        let spaces = word.equal(b' ');
        let first = spaces & 0x80 != 0;
        if spaces & (spaces << 8) != 0 || first && (self.blank || self.is_empty()) {
            return false;
        }
        if word.len == 0 {
            return true;
        }
        self.end_blank();
        // The last one waits for what follows.
        self.blank = word.ends_in(spaces);
        let word = Word::new(word.bytes, word.len - usize::from(self.blank));
        self.chars += word.len as u64;
        self.push(word);
        true
    }

    /// Whether a blank waits for what follows.
    #[inline]
    pub(crate) fn owes_blank(&self) -> bool {
        self.blank
    }

    /// Whether it has nothing but blanks.
    pub(crate) fn is_empty(&self) -> bool {
        self.chars == 0
    }

    /// The hash and the length of what was gathered; `None`: nothing but blanks.
    pub(crate) fn finish(&mut self) -> Option<(u64, u64)> {
        let mut done = std::mem::take(self);
        done.mix(done.held);
        done.mix(done.bytes);
        (!done.is_empty()).then_some((done.hash, done.chars))
    }

    #[inline]
    fn end_blank(&mut self) {
        if std::mem::take(&mut self.blank) {
            self.chars += 1;
            self.push(Word::new(u64::from(b' '), 1));
        }
    }

    #[inline]
    fn push(&mut self, Word { bytes, len }: Word) {
        let waiting = self.bytes as usize % Word::MOST;
        self.bytes += len as u64;
        self.held |= bytes << (8 * waiting);
        if waiting + len >= Word::MOST {
            self.mix(self.held);
            // In two steps, since with none waiting it would be a shift by all bits.
            self.held = bytes >> (8 * (Word::MOST - 1 - waiting)) >> 8;
        }
    }

    /// The two halves of a product, together: each bit of the word moves about half of all others.
    #[inline]
    fn mix(&mut self, word: u64) {
        let word = self.hash ^ word ^ 0x2545_F491_4F6C_DD1D;
        let product = u128::from(word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        self.hash = (product ^ (product >> 64)) as u64;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Char by char, in words where that is allowed and `words` says so.
    fn hashed(text: &str, words: bool) -> Option<(u64, u64)> {
        let mut element = Element::default();
        let mut rest = text;
        while let Some(c) = rest.chars().next() {
            let word = Word::first(rest.as_bytes());
            let word = word.before(word.foreign() | word.within(0, b' ' - 1));
            if words && element.add_word(word) && word.len > 0 {
                rest = &rest[word.len..];
            } else {
                element.add(u32::from(c), c.is_whitespace());
                rest = &rest[c.len_utf8()..];
            }
        }
        element.finish()
    }

    proptest! {
        #[test]
        fn words_are_as_their_chars(text in "([a-c]{1,9} {0,3}|[ab长🙂\t]{0,3}){0,9}") {
            prop_assert_eq!(hashed(&text, true), hashed(&text, false));
        }

        #[test]
        fn equal_where_the_blanks_alone_differ(a in "[ab长 \t]{0,24}", b in "[ab长 \t]{0,24}") {
            let plain = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
            prop_assert_eq!(hashed(&a, true) == hashed(&b, true), plain(&a) == plain(&b));
            let chars = plain(&a).chars().count() as u64;
            prop_assert_eq!(hashed(&a, true).map_or(0, |(_, chars)| chars), chars);
        }
    }

    #[test]
    fn like_texts_differ() {
        let mut seen = std::collections::HashSet::new();
        for n in 0..200_000 {
            let text = format!("Attempt {n} of the same thing, in all but its number {n}");
            assert!(seen.insert(hashed(&text, true).map(|(hash, _)| hash >> 32)) || n > 20_000);
        }
        // Of 2^32 values 200,000 draws meet in 4.7 pairs on average; in 30 almost never.
        assert!(seen.len() > 199_970, "{}", seen.len());
    }
}
