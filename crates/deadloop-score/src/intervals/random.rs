//! Seeded randomness: splitmix64, the same on every machine and in every version.

/// A stream of random numbers that depends on its seed alone.
#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

impl Random {
    /// The stream of a seed and a name: what is drawn for one transcript does not depend on which
    /// others there are, nor on their order.
    pub(crate) fn named(seed: u64, name: &str) -> Self {
        Self::of(seed, Self::number(name))
    }

    /// The same, of a name's number.
    pub(crate) fn of(seed: u64, number: u64) -> Self {
        // The mixing is splitmix64's.
        let mut random = Self(seed ^ number);
        random.next();
        random
    }

    /// All that a stream depends on of a name: FNV-1a.
    pub(crate) fn number(name: &str) -> u64 {
        name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        })
    }

    /// 64 random bits (Steele, Lea, Flood 2014).
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// For tests, a number from 0 to `n` - 1; 0 for `n` = 0. Its bias is below n / 2^64.
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
        assert_ne!(Random::named(1, "a").next(), Random::named(1, "b").next());
        assert_ne!(Random::named(1, "a").next(), Random::named(2, "a").next());
        assert_eq!(Random::named(1, "a").next(), Random::named(1, "a").next());
    }

    #[test]
    fn numbers_stay_below_their_bound_and_reach_it() {
        let mut random = Random(3);
        let drawn: Vec<u64> = (0..1000).map(|_| random.below(7)).collect();
        assert!((0..7).all(|n| drawn.contains(&n)) && drawn.iter().all(|n| *n < 7));
        assert_eq!(random.below(0), 0);
    }
}
