//! [`Element`]: a word, sentence or line in the making, as a hash and a length.

/// Whether a sentence ends with this char; a line ends at `\n` alone.
#[inline]
pub(crate) fn ends_sentence(c: char) -> bool {
    matches!(c, '。' | '.' | '；' | ';' | '！' | '!' | '？' | '?' | '\n')
}

/// The chars of one element so far: blanks at both ends are left out, others taken together. Two
/// different ones have one hash once in 2^64 pairs, or 2^32 where only its high half is used.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Element {
    hash: u64,
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
        if std::mem::take(&mut self.blank) {
            self.mix(u32::from(' '));
        }
        self.mix(symbol);
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

    #[inline]
    fn mix(&mut self, symbol: u32) {
        self.chars += 1;
        // No symbol counts as 0, which would leave the first hash as it is; the high half of the
        // product holds every char.
        self.hash = (self.hash.rotate_left(5) ^ (u64::from(symbol) + 1))
            .wrapping_mul(0x517C_C1B7_2722_0A95);
    }
}
