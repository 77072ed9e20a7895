//! [`ElementChars`]: the hash and the length of a partly read word, sentence or line.

use std::ops::Range;

/// Returns whether this char ends a sentence.
#[inline]
pub(crate) fn ends_sentence(c: char) -> bool {
    matches!(c, '。' | '.' | '；' | ';' | '！' | '!' | '？' | '?' | '\n')
}

/// Returns whether this char ends a clause of Chinese or Japanese, but not a sentence.
#[inline]
pub(crate) fn ends_clause(c: char) -> bool {
    matches!(c, '，' | '、' | '､')
}

/// The chars of one element so far. Blanks at both ends are ignored, and inner blanks count as one. The hash has 64
/// bits.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ElementChars {
    hash: Hash,
    chars: u64,
    blank: bool,
}

impl ElementChars {
    /// Adds a char.
    #[inline]
    pub(crate) fn add(&mut self, c: char, blank: bool) {
        if blank {
            self.blank = !self.is_empty();
            return;
        }
        if std::mem::take(&mut self.blank) {
            self.mix(' ');
        }
        self.mix(c);
    }

    /// Adds the ASCII letters and digits of this range of a text, in lower case.
    #[inline]
    pub(crate) fn add_word(&mut self, text: &[u8], word: Range<usize>) {
        self.chars += word.len() as u64;
        self.hash.add_word(text, word);
    }

    /// Adds the ASCII of this range of a text. The range has only single spaces, and does not begin with one if
    /// [`leaves_out_blanks`](Self::leaves_out_blanks).
    #[inline]
    pub(crate) fn add_ascii(&mut self, text: &[u8], mut range: Range<usize>) {
        let spaced = text[range.clone()].last() == Some(&b' ');
        range.end -= usize::from(spaced);
        if !range.is_empty() && std::mem::take(&mut self.blank) {
            self.mix(' ');
        }
        self.blank |= spaced;
        self.chars += range.len() as u64;
        self.hash.add_ascii(text, range);
    }

    /// Returns whether a blank would be ignored: the element is empty, or ends with a blank.
    pub(crate) fn leaves_out_blanks(&self) -> bool {
        self.blank || self.is_empty()
    }

    /// Returns whether the element has only blanks.
    pub(crate) fn is_empty(&self) -> bool {
        self.chars == 0
    }

    /// Returns the hash and the length of the element, and begins a new one. `None` if the element has only blanks.
    #[inline]
    pub(crate) fn finish(&mut self) -> Option<(u64, u64)> {
        let done = std::mem::take(self);
        (!done.is_empty()).then(|| (done.hash.value(), done.chars))
    }

    #[inline]
    fn mix(&mut self, c: char) {
        self.chars += 1;
        self.hash.add(c);
    }
}

/// The hash of a text that is read in pieces. It mixes blocks of eight bytes, whatever the pieces.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Hash {
    /// The hash of the whole blocks of eight bytes.
    hash: u64,
    /// The bytes after the blocks, the first one lowest.
    rest: u64,
    /// The number of bits in `rest`.
    bits: u32,
}

impl Hash {
    /// Adds a char.
    #[inline]
    pub(crate) fn add(&mut self, c: char) {
        if c.is_ascii() {
            return self.bytes(u64::from(c), 8);
        }
        let mut bytes = [0; 8];
        let length = c.encode_utf8(&mut bytes).len();
        self.bytes(u64::from_le_bytes(bytes), 8 * length as u32);
    }

    /// Adds a byte that no char has: 0xF8 to 0xFF.
    #[inline]
    pub(crate) fn add_sign(&mut self, byte: u64) {
        self.bytes(byte, 8);
    }

    /// Adds the ASCII letters, digits and `_` of this range of a text, with letters in lower case. `_` becomes a byte
    /// that no other char has.
    #[inline]
    pub(crate) fn add_word(&mut self, text: &[u8], word: Range<usize>) {
        self.add_all(text, word, 0x2020_2020_2020_2020);
    }

    /// Adds the ASCII of this range of a text.
    #[inline]
    pub(crate) fn add_ascii(&mut self, text: &[u8], range: Range<usize>) {
        self.add_all(text, range, 0);
    }

    /// Adds bytes, with the bits `set` set in each block of eight.
    #[inline]
    fn add_all(&mut self, text: &[u8], range: Range<usize>, set: u64) {
        let mut at = range.start;
        while at < range.end {
            let count = (range.end - at).min(8);
            let eight = text[at..].first_chunk().copied().unwrap_or_else(|| {
                let mut eight = [0; 8];
                eight[..count].copy_from_slice(&text[at..at + count]);
                eight
            });
            let bits = 8 * count as u32;
            let bytes = u64::from_le_bytes(eight) | set;
            self.bytes(bytes & u64::MAX >> (64 - bits), bits);
            at += count;
        }
    }

    /// Returns the hash of all added bytes.
    #[inline]
    pub(crate) fn value(self) -> u64 {
        mix_word(mix_word(self.hash, self.rest), u64::from(self.bits))
    }

    /// Adds up to eight bytes, which have `bits` bits.
    #[inline]
    fn bytes(&mut self, bytes: u64, bits: u32) {
        self.rest |= bytes << self.bits;
        self.bits += bits;
        if self.bits >= 64 {
            self.hash = mix_word(self.hash, self.rest);
            self.bits -= 64;
            // The bytes that did not fit, or 0.
            self.rest = bytes.checked_shr(bits - self.bits).unwrap_or(0);
        }
    }
}

/// Multiplies, and combines both halves of the product. So each bit of the word changes about half of the bits.
#[inline]
fn mix_word(hash: u64, word: u64) -> u64 {
    let word = hash ^ word ^ 0x2545_F491_4F6C_DD1D;
    let product = u128::from(word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (product ^ (product >> 64)) as u64
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn hashed(text: &str) -> Option<(u64, u64)> {
        let mut element = ElementChars::default();
        text.chars().for_each(|c| element.add(c, c.is_whitespace()));
        element.finish()
    }

    proptest! {
        #[test]
        fn runs_hash_like_single_chars(text in "[ab ]{0,40}", cut in 0..40_usize) {
            let (mut fast, mut slow) = (ElementChars::default(), ElementChars::default());
            let cut = cut.min(text.len());
            for part in [&text[..cut], &text[cut..]] {
                part.chars().for_each(|c| slow.add(c, c == ' '));
                let mut at = 0;
                while at < part.len() {
                    if part.as_bytes()[at] == b' ' && fast.leaves_out_blanks() {
                        fast.add(' ', true);
                        at += 1;
                        continue;
                    }
                    let end = part[at..].find("  ").map_or(part.len(), |n| at + n + 1);
                    fast.add_ascii(part.as_bytes(), at..end);
                    at = end;
                }
            }
            prop_assert_eq!(fast.finish(), slow.finish());
        }

        #[test]
        fn elements_that_differ_only_in_blanks_are_equal(a in "[ab长 \t]{0,24}", b in "[ab长 \t]{0,24}") {
            let plain = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
            prop_assert_eq!(hashed(&a) == hashed(&b), plain(&a) == plain(&b));
            let chars = plain(&a).chars().count() as u64;
            prop_assert_eq!(hashed(&a).map_or(0, |(_, chars)| chars), chars);
        }
    }

    proptest! {
        #[test]
        fn words_hash_like_their_chars(parts in prop::collection::vec("[a-zA-Z0-9_]{0,20}|[长é]{0,3}", 0..6)) {
            let (mut fast, mut slow) = (Hash::default(), Hash::default());
            for part in &parts {
                let lower = |c: char| if c == '_' { '\x7F' } else { c.to_ascii_lowercase() };
                part.chars().for_each(|c| slow.add(lower(c)));
                if part.is_ascii() {
                    // What stands after a word says nothing.
                    let text = format!("{part}!?");
                    fast.add_word(text.as_bytes(), 0..part.len());
                } else {
                    part.chars().for_each(|c| fast.add(c));
                }
            }
            prop_assert_eq!(fast.value(), slow.value());
        }
    }

    #[test]
    fn similar_texts_differ() {
        let text = |n: u32| format!("Attempt {n} of the same thing, in all but its number {n}");
        let seen: std::collections::HashSet<_> = (0..200_000).map(|n| hashed(&text(n))).collect();
        assert_eq!(seen.len(), 200_000);
    }
}
