//! Arithmetic modulo a prime, for polynomial hashes of texts.

/// A Mersenne prime: reduction is a shift and an addition.
const PRIME: u64 = (1 << 61) - 1;
/// A random number below the prime.
pub(super) const BASE: u64 = 0x0B1A_6F3D_92C4_58E7;

/// Adds two numbers.
#[inline]
pub(super) fn add(a: u64, b: u64) -> u64 {
    let sum = a + b;
    if sum >= PRIME { sum - PRIME } else { sum }
}

/// Reduces a number modulo the prime.
#[inline]
pub(super) fn below_prime(x: u64) -> u64 {
    add(x & PRIME, x >> 61)
}

/// Subtracts two numbers.
#[inline]
pub(super) fn sub(a: u64, b: u64) -> u64 {
    add(a, PRIME - b)
}

/// Multiplies two numbers.
#[inline]
pub(super) fn mul(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    // Both halves are below 2^61, so their sum fits.
    let (low, high) = (product as u64 & PRIME, (product >> 61) as u64);
    add(low, high)
}

/// Returns [`BASE`] to a power.
pub(super) fn power(mut exponent: u64) -> u64 {
    let (mut result, mut square) = (1, BASE);
    while exponent > 0 {
        if exponent & 1 == 1 {
            result = mul(result, square);
        }
        square = mul(square, square);
        exponent >>= 1;
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_number_is_below_the_prime() {
        for x in [0, 1, PRIME - 1, PRIME, PRIME + 1, 7 * PRIME, u64::MAX] {
            assert_eq!(below_prime(x), x % PRIME, "{x}");
        }
    }
}
