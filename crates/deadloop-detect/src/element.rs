//! [`Element`]: a word, sentence or line in the making, as a hash and a length.

/// Whether a sentence ends with this char; a line ends at `\n` alone.
#[inline]
pub(crate) fn ends_sentence(c: char) -> bool {
    matches!(c, '。' | '.' | '；' | ';' | '！' | '!' | '？' | '?' | '\n')
}

/// The chars of one element so far: blanks at both ends are left out, others taken together. Two
/// different ones have one hash once in 2^64 pairs.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Element {
    hash: u64,
    chars: u64,
    blank: bool,
}

impl Element {
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

    /// Whether it has nothing but blanks.
    pub(crate) fn is_empty(&self) -> bool {
        self.chars == 0
    }

    /// The hash and the length of what was gathered; `None`: nothing but blanks.
    pub(crate) fn finish(&mut self) -> Option<(u64, u64)> {
        let done = std::mem::take(self);
        (!done.is_empty()).then_some((done.hash, done.chars))
    }

    /// The two halves of a product, together: each bit of the char moves about half of all others.
    #[inline]
    fn mix(&mut self, c: char) {
        self.chars += 1;
        let word = self.hash ^ u64::from(c) ^ 0x2545_F491_4F6C_DD1D;
        let product = u128::from(word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        self.hash = (product ^ (product >> 64)) as u64;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn hashed(text: &str) -> Option<(u64, u64)> {
        let mut element = Element::default();
        text.chars().for_each(|c| element.add(c, c.is_whitespace()));
        element.finish()
    }

    proptest! {
        #[test]
        fn equal_where_the_blanks_alone_differ(a in "[ab长 \t]{0,24}", b in "[ab长 \t]{0,24}") {
            let plain = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
            prop_assert_eq!(hashed(&a) == hashed(&b), plain(&a) == plain(&b));
            let chars = plain(&a).chars().count() as u64;
            prop_assert_eq!(hashed(&a).map_or(0, |(_, chars)| chars), chars);
        }
    }

    #[test]
    fn like_texts_differ() {
        let text = |n: u32| format!("Attempt {n} of the same thing, in all but its number {n}");
        let seen: std::collections::HashSet<_> = (0..200_000).map(|n| hashed(&text(n))).collect();
        assert_eq!(seen.len(), 200_000);
    }
}
