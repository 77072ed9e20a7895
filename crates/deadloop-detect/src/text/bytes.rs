//! [`ByteBlock`]: sixteen bytes, tested at once. [`runs`]: runs of letters and digits.

use std::ops::Range;

use wide::i8x16;

/// Sixteen bytes of text, tested at once. Methods that return a set of bytes set bit n for byte n.
pub(crate) struct ByteBlock(pub(crate) [u8; ByteBlock::MOST as usize]);

impl ByteBlock {
    /// The number of bytes.
    pub(crate) const MOST: u32 = 16;

    /// Returns the first bytes of a text, padded with zeros.
    #[inline]
    pub(crate) fn first(text: &[u8]) -> Self {
        Self(text.first_chunk().copied().unwrap_or_else(|| {
            let mut bytes = [0; Self::MOST as usize];
            bytes[..text.len()].copy_from_slice(text);
            bytes
        }))
    }

    #[inline]
    fn wide(&self) -> i8x16 {
        i8x16::new(self.0.map(u8::cast_signed))
    }

    /// Returns the bytes that equal `byte`.
    #[inline]
    pub(crate) fn equal(&self, byte: u8) -> u32 {
        self.wide()
            .simd_eq(i8x16::splat(byte.cast_signed()))
            .to_bitmask()
    }

    /// Returns the bytes that are not ASCII, may end an element or, with `digits`, are digits.
    #[inline]
    pub(crate) fn ends(&self, digits: bool) -> u32 {
        let wide = self.wide();
        let ends = may_end(wide);
        let ends = if digits {
            ends | within(wide, b'0', b'9')
        } else {
            ends
        };
        ends.to_bitmask()
    }

    /// Counts the bytes before the first that is not ASCII, may end a sentence, or is a blank other than a single
    /// space. `spaced` is set if the previous byte is a space.
    #[inline]
    pub(crate) fn of_sentence(&self, spaced: bool) -> usize {
        let spaces = self.equal(b' ');
        let twice = spaces & (spaces << 1 | u32::from(spaced));
        let stops = may_end(self.wide()).to_bitmask() | twice;
        stops.trailing_zeros().min(Self::MOST) as usize
    }

    /// Counts the bytes before the first that is not ASCII, ends a line or is a digit.
    #[inline]
    pub(crate) fn plain_prefix(&self) -> usize {
        let wide = self.wide();
        let low = wide.simd_lt(i8x16::splat(b' '.cast_signed()));
        let stops = (low | within(wide, b'0', b'9')).to_bitmask();
        stops.trailing_zeros().min(Self::MOST) as usize
    }

    /// Returns the ASCII letters and digits, and the char `also`.
    #[inline]
    pub(crate) fn of_words(&self, also: u8) -> u32 {
        let wide = self.wide();
        let letters = within(wide | i8x16::splat(0x20), b'a', b'z');
        let also = wide.simd_eq(i8x16::splat(also.cast_signed()));
        (letters | within(wide, b'0', b'9') | also).to_bitmask()
    }

    /// Returns the bytes that are not ASCII.
    #[inline]
    fn non_ascii(&self) -> u32 {
        self.wide().simd_lt(i8x16::splat(0)).to_bitmask()
    }
}

/// Returns the bytes that may end an element, and all bytes of characters beyond ASCII.
#[inline]
fn may_end(bytes: i8x16) -> i8x16 {
    let equal = |byte: u8| bytes.simd_eq(i8x16::splat(byte.cast_signed()));
    let low = bytes.simd_lt(i8x16::splat(b' '.cast_signed()));
    low | equal(b'.') | equal(b';') | equal(b'!') | equal(b'?')
}

/// Returns the bytes from `first` to `last`, both ASCII.
#[inline]
fn within(bytes: i8x16, first: u8, last: u8) -> i8x16 {
    let above = bytes.simd_gt(i8x16::splat(first.cast_signed() - 1));
    above & bytes.simd_lt(i8x16::splat(last.cast_signed() + 1))
}

/// The number of bytes that are split into runs at once.
const BLOCK: usize = 64;

/// Splits the ASCII at the start of a text into runs of letters, digits and the char `also`, and runs of other chars.
/// Passes each run to `each`, with whether it consists of letters and digits. A run may be passed in parts. Returns the
/// number of ASCII bytes.
#[inline]
pub(crate) fn runs(text: &[u8], also: u8, mut each: impl FnMut(Range<usize>, bool)) -> usize {
    let mut base = 0;
    loop {
        let rest = &text[base..];
        let (mut named, mut others) = (0, 0);
        for part in 0..BLOCK / ByteBlock::MOST as usize {
            let at = part * ByteBlock::MOST as usize;
            let bytes = ByteBlock::first(rest.get(at..).unwrap_or_default());
            named |= u64::from(bytes.of_words(also)) << at;
            others |= u64::from(bytes.non_ascii()) << at;
        }
        let ascii = (others.trailing_zeros() as usize).min(rest.len());
        let mut at = 0;
        while at < ascii {
            let left = named >> at;
            let is_named = left & 1 != 0;
            let same = if is_named { !left } else { left };
            let end = (at + same.trailing_zeros() as usize).min(ascii);
            each(base + at..base + end, is_named);
            at = end;
        }
        base += ascii;
        if ascii < BLOCK {
            return base;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn runs_are_those_of_the_chars(text in "(?s)[aZ09_. ]{0,90}([ -~]{0,70}|[aé\n]{0,5}|.{0,9})") {
            let mut seen = Vec::new();
            let read = runs(text.as_bytes(), b'_', |run, named| {
                seen.extend(text[run].chars().map(|c| (c, named)));
            });
            let ascii = text.chars().take_while(char::is_ascii);
            let slow: Vec<(char, bool)> = ascii
                .map(|c| (c, c.is_ascii_alphanumeric() || c == '_'))
                .collect();
            prop_assert_eq!(read, slow.len());
            prop_assert_eq!(seen, slow);
        }
    }
}
