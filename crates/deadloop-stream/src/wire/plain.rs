//! What can stand in a JSON string as it is, found sixteen bytes at a time.

use wide::u8x16;

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

/// Appends the first bytes that can stand in a JSON string as they are, and says how many those are.
#[inline]
pub(super) fn copy_plain(text: &[u8], out: &mut Vec<u8>) -> usize {
    let (sixteens, rest) = text.as_chunks();
    for (at, sixteen) in sixteens.iter().enumerate() {
        // All sixteen are copied before it is known how many of them may be: that needs no loop.
        out.extend_from_slice(sixteen);
        let special = specials(*sixteen);
        if special != 0 {
            let plain = special.trailing_zeros() as usize;
            out.truncate(out.len() - sixteen.len() + plain);
            return 16 * at + plain;
        }
    }
    let plain = plain(rest);
    out.extend_from_slice(&rest[..plain]);
    text.len() - rest.len() + plain
}

/// A bit for each byte that cannot stand in a JSON string as it is.
#[inline]
fn specials(bytes: [u8; 16]) -> u32 {
    let bytes = u8x16::new(bytes);
    let equal = |byte: u8| bytes.simd_eq(u8x16::splat(byte));
    let control = bytes.min(u8x16::splat(0x1f)).simd_eq(bytes);
    (control | equal(b'"') | equal(b'\\')).to_bitmask()
}
