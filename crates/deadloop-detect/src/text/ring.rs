//! Numbered things in a ring: where each stands, and how far two are apart.

/// A number modulo a length that is a power of two.
#[inline]
pub(crate) fn place(number: u64, length: usize) -> usize {
    // The length is no larger than fits.
    #[allow(clippy::cast_possible_truncation)]
    let place = number as usize & (length - 1);
    place
}

/// A distance between two that are kept, of which there are a million at most.
#[inline]
pub(crate) fn narrow(distance: u64) -> u32 {
    u32::try_from(distance).unwrap_or(u32::MAX)
}
