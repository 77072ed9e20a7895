//! Seeded random numbers by splitmix64, which are the same on every machine.

/// A stream of random numbers that depends on its seed alone.
#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

impl Random {
    /// Creates the stream for a seed and a name.
    ///
    /// The draws for one transcript depend neither on the other transcripts nor on their order.
    pub(crate) fn from_name(seed: u64, name: &str) -> Self {
        Self::new(seed, Self::hash_name(name))
    }

    /// Creates the stream for a seed and the hash of a name.
    pub(crate) fn new(seed: u64, name_hash: u64) -> Self {
        // The mixing is splitmix64's.
        let mut random = Self(seed ^ name_hash);
        random.next();
        random
    }

    /// Returns the FNV-1a hash of a name. A stream depends on a name only through this hash.
    pub(crate) fn hash_name(name: &str) -> u64 {
        name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        })
    }

    /// Returns 64 random bits (Steele, Lea, Flood 2014).
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a number from 0 to `n` - 1, or 0 if `n` is 0. The bias is below n / 2^64.
    #[cfg(test)]
    pub(crate) fn below(&mut self, n: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(n)) >> 64) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first outputs of the reference implementation for the seed 1234567.
    #[test]
    fn it_is_splitmix64() {
        let mut random = Random(1_234_567);
        assert_eq!(random.next(), 6_457_827_717_110_365_317);
        assert_eq!(random.next(), 3_203_168_211_198_807_973);
    }

    #[test]
    fn names_give_streams_of_their_own() {
        assert_ne!(
            Random::from_name(1, "a").next(),
            Random::from_name(1, "b").next()
        );
        assert_ne!(
            Random::from_name(1, "a").next(),
            Random::from_name(2, "a").next()
        );
        assert_eq!(
            Random::from_name(1, "a").next(),
            Random::from_name(1, "a").next()
        );
    }

    #[test]
    fn numbers_stay_below_their_bound_and_reach_it() {
        let mut random = Random(3);
        let drawn: Vec<u64> = (0..1000).map(|_| random.below(7)).collect();
        assert!((0..7).all(|n| drawn.contains(&n)) && drawn.iter().all(|n| *n < 7));
        assert_eq!(random.below(0), 0);
    }
}
