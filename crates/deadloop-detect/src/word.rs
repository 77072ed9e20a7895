//! [`Word`]: up to eight bytes of text that are asked and taken together, in a few operations on one
//! number (SWAR; Hacker's Delight, 2nd ed., section 6-1).

/// Up to [`Word::MOST`] bytes, the first of them lowest; above them there are zeros.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Word {
    pub(crate) bytes: u64,
    pub(crate) len: usize,
}

/// The top bits of those bytes of which something holds. It is right up to the first byte that is
/// not ASCII, and there.
pub(crate) type Marks = u64;

const TOPS: Marks = each(0x80);

impl Word {
    pub(crate) const MOST: usize = 8;

    /// The first bytes of a text.
    #[inline]
    pub(crate) fn first(text: &[u8]) -> Self {
        let Some(eight) = text.first_chunk() else {
            let mut eight = [0; Self::MOST];
            eight[..text.len()].copy_from_slice(text);
            return Self::new(u64::from_le_bytes(eight), text.len());
        };
        Self::new(u64::from_le_bytes(*eight), Self::MOST)
    }

    /// The lowest `len` of these bytes.
    #[inline]
    pub(crate) fn new(bytes: u64, len: usize) -> Self {
        let bits = 8 * len as u32;
        let above = u64::MAX.checked_shl(bits).unwrap_or(0);
        let bytes = bytes & !above;
        Self { bytes, len }
    }

    /// What stands before the first mark.
    #[inline]
    pub(crate) fn before(self, marks: Marks) -> Self {
        if marks == 0 {
            return self;
        }
        let at = marks.trailing_zeros() as usize / 8;
        Self::new(self.bytes, at.min(self.len))
    }

    /// Whether the last byte is marked.
    #[inline]
    pub(crate) fn ends_in(self, marks: Marks) -> bool {
        self.len > 0 && marks >> (8 * self.len - 1) & 1 != 0
    }

    /// Bytes that are not ASCII.
    #[inline]
    pub(crate) fn foreign(self) -> Marks {
        self.bytes & TOPS
    }

    /// Bytes that equal this one.
    #[inline]
    pub(crate) fn equal(self, byte: u8) -> Marks {
        let zero_if_equal = self.bytes ^ each(byte);
        !zero_if_equal.wrapping_add(each(0x7F)) & TOPS
    }

    /// Bytes from `first` to `last`, both ASCII.
    #[inline]
    pub(crate) fn within(self, first: u8, last: u8) -> Marks {
        let from_first = self.bytes.wrapping_add(each(0x80 - first));
        let above_last = self.bytes.wrapping_add(each(0x7F - last));
        from_first & !above_last & TOPS
    }
}

/// A word of one byte.
const fn each(byte: u8) -> u64 {
    u64::from_le_bytes([byte; Word::MOST])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The bytes before the first that is not ASCII or fits.
    fn before(text: &[u8], fits: impl Fn(u8) -> bool) -> usize {
        let eight = &text[..text.len().min(Word::MOST)];
        let at = eight.iter().position(|b| !b.is_ascii() || fits(*b));
        at.unwrap_or(eight.len())
    }

    proptest! {
        #[test]
        fn marks_are_what_each_byte_says(text: Vec<u8>, byte in 0_u8..0x80, to in 0_u8..0x80) {
            let word = Word::first(&text);
            let equal = word.before(word.foreign() | word.equal(byte));
            prop_assert_eq!(equal.len, before(&text, |b| b == byte));
            prop_assert_eq!(&equal.bytes.to_le_bytes()[..equal.len], &text[..equal.len]);
            let within = word.before(word.foreign() | word.within(byte, to));
            prop_assert_eq!(within.len, before(&text, |b| byte <= b && b <= to));
            let last = text.first_chunk::<8>().is_some_and(|eight| eight[7] == byte);
            prop_assert!(!text.is_ascii() || text.len() < 8 || word.ends_in(word.equal(byte)) == last);
        }
    }
}
