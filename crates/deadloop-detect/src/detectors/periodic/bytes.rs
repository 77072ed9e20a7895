//! [`Bytes`]: sixteen bytes of text, tested at once for what ends an element or a row of symbols.

use wide::i8x16;

/// Sixteen bytes of text, tested all at once; bit n of a result is for byte n.
pub(super) struct Bytes(pub(super) [u8; Bytes::MOST as usize]);

impl Bytes {
    /// How many they are.
    pub(super) const MOST: u32 = 16;

    /// The first bytes of a text; after its end there are zeros.
    #[inline]
    pub(super) fn first(text: &[u8]) -> Self {
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

    #[inline]
    pub(super) fn equal(&self, byte: u8) -> u32 {
        self.wide()
            .simd_eq(i8x16::splat(byte.cast_signed()))
            .to_bitmask()
    }

    /// Those that are not ASCII, can end an element or be a number.
    #[inline]
    pub(super) fn ends(&self) -> u32 {
        let wide = self.wide();
        let equal = |byte: u8| wide.simd_eq(i8x16::splat(byte.cast_signed()));
        // What is not ASCII is negative.
        let low = wide.simd_lt(i8x16::splat(b' '.cast_signed()));
        let signs = equal(b'.') | equal(b';') | equal(b'!') | equal(b'?');
        (low | signs | within(wide, b'0', b'9')).to_bitmask()
    }

    /// How many come before the first that is not ASCII, ends a line or is a digit, of those that there are.
    #[inline]
    pub(super) fn passing(&self) -> usize {
        let wide = self.wide();
        let low = wide.simd_lt(i8x16::splat(b' '.cast_signed()));
        let stops = (low | within(wide, b'0', b'9')).to_bitmask();
        stops.trailing_zeros().min(Self::MOST) as usize
    }

    /// ASCII letters.
    #[inline]
    pub(super) fn letters(&self) -> u32 {
        let lower = self.wide() | i8x16::splat(0x20);
        within(lower, b'a', b'z').to_bitmask()
    }
}

/// The bytes from `first` to `last`, both ASCII.
#[inline]
fn within(bytes: i8x16, first: u8, last: u8) -> i8x16 {
    let above = bytes.simd_gt(i8x16::splat(first.cast_signed() - 1));
    above & bytes.simd_lt(i8x16::splat(last.cast_signed() + 1))
}
