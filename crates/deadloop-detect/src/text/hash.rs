//! Stable 64-bit hashes of sequences of symbols.
//!
//! They are equal on all platforms, and do not depend on chunks.

/// The base of the polynomial hashes of sequences: an odd number with well-mixed bits.
pub(crate) const BASE: u64 = 0x9E37_79B9_7F4A_7C15;

/// Returns the hash of a sequence with one more item.
pub(crate) fn join(hash: u64, next: u64) -> u64 {
    hash.wrapping_mul(BASE).wrapping_add(next).wrapping_add(1)
}

/// Mixes the bits of a number, without collisions (the finaliser of SplitMix64: Steele, Lea and Flood, 2014).
pub(crate) fn spread(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}
