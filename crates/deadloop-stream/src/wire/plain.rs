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

/// Bytes of a text that are asked at once where many of them are escaped: what is special among them is then known
/// without a guess of the processor for each.
pub(super) const WINDOW: usize = 64;

/// A window at the beginning of a text, with as much behind it; none: less is left.
#[inline]
pub(super) fn window(text: &[u8]) -> Option<(&[u8; 2 * WINDOW], u64)> {
    let two: &[u8; 2 * WINDOW] = text.first_chunk()?;
    let (sixteens, _) = two[..WINDOW].as_chunks();
    let bits = sixteens.iter().rev();
    let bits = bits.fold(0, |bits, sixteen| {
        bits << 16 | u64::from(specials(*sixteen))
    });
    Some((two, bits))
}

/// A bit for each byte that cannot stand in a JSON string as it is.
#[inline]
fn specials(bytes: [u8; 16]) -> u32 {
    let bytes = u8x16::new(bytes);
    let equal = |byte: u8| bytes.simd_eq(u8x16::splat(byte));
    let control = bytes.min(u8x16::splat(0x1f)).simd_eq(bytes);
    (control | equal(b'"') | equal(b'\\')).to_bitmask()
}
