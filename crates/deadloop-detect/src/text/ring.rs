//! Indices and distances of numbered items in a ring.

/// Returns a number modulo a length that is a power of two.
#[inline]
pub(crate) fn place(number: u64, length: usize) -> usize {
    // The result is below `length`, so the cast loses nothing.
    number as usize & (length - 1)
}

/// Narrows a distance between two of at most a million items.
#[inline]
pub(crate) fn narrow(distance: u64) -> u32 {
    u32::try_from(distance).unwrap_or(u32::MAX)
}
