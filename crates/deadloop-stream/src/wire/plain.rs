//! What can stand in a JSON string as it is, found sixteen bytes at a time.

use wide::i8x16;

/// How many of the first bytes can stand in a JSON string as they are: no control chars, quotes and backslashes.
#[inline]
pub(super) fn plain(text: &[u8]) -> usize {
    let (sixteens, rest) = text.as_chunks();
    for (at, sixteen) in sixteens.iter().enumerate() {
        let special = specials(*sixteen);
        if special != 0 {
            return 16 * at + special.trailing_zeros() as usize;
        }
    }
    let mut last = [b'x'; 16];
    last[..rest.len()].copy_from_slice(rest);
    let special = specials(last);
    text.len() - rest.len() + rest.len().min(special.trailing_zeros() as usize)
}

/// A bit for each byte that cannot stand in a JSON string as it is.
#[inline]
fn specials(bytes: [u8; 16]) -> u32 {
    let bytes = i8x16::new(bytes.map(u8::cast_signed));
    let equal = |byte: u8| bytes.simd_eq(i8x16::splat(byte.cast_signed()));
    // What is not ASCII is negative.
    let control = bytes.simd_lt(i8x16::splat(b' '.cast_signed())) & bytes.simd_gt(i8x16::splat(-1));
    (control | equal(b'"') | equal(b'\\')).to_bitmask()
}
