//! [`Resampling`]: the bootstrap over groups, with weights that depend on the groups' names alone.
//!
//! In replicate b the weight of each group is a Poisson(1) draw (the Poisson bootstrap; Chamandy, Muralidharan, Najmi,
//! Naidu 2012, "Estimating uncertainty for massive data streams"). The draw is the inverse distribution function at a
//! hash of the seed, b and the group's name. So it does not depend on the order of files, on threads or on shards.
//! Sums of whole numbers are whole numbers, so the result has the same bytes everywhere.
//!
//! Other programs can compute the hash: h is the 64-bit FNV-1a of the name's bytes. The state is seed XOR h. Replicate
//! b, from 0, takes the (b+2)th output of splitmix64 from this state. With u as its upper 53 bits, the weight is the
//! number of entries of [`POISSON_1`] that are at most u. `scripts/references.py` implements it.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use crate::intervals::{Interval, Random};
use crate::tally::{Count, Tally, rank};

/// The number of replicates and the seed of a bootstrap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resampling {
    /// Number of replicates.
    pub replicates: usize,
    /// Seed of all draws.
    pub seed: u64,
}

impl Default for Resampling {
    fn default() -> Self {
        Self {
            replicates: 2000,
            seed: 1,
        }
    }
}

/// The cumulative distribution of a Poisson variable X with mean 1: floor(2^53 P(X <= k)) for k = 0, 1, ….
pub const POISSON_1: [u64; 18] = [
    3_313_563_428_353_947,
    6_627_126_856_707_895,
    8_283_908_570_884_869,
    8_836_169_142_277_194,
    8_974_234_285_125_275,
    9_001_847_313_694_891,
    9_006_449_485_123_161,
    9_007_106_938_184_342,
    9_007_189_119_816_990,
    9_007_198_251_109_506,
    9_007_199_164_238_758,
    9_007_199_247_250_508,
    9_007_199_254_168_154,
    9_007_199_254_700_280,
    9_007_199_254_738_289,
    9_007_199_254_740_823,
    9_007_199_254_740_982,
    9_007_199_254_740_991,
];

/// The weights of one group in the replicates, in their order.
#[derive(Clone, Debug)]
pub struct Weights {
    random: Random,
    steps: &'static [u64],
}

impl Weights {
    /// Creates the weights of the group `name`. `steps` is a cumulative distribution such as [`POISSON_1`].
    pub fn new(seed: u64, name: &str, steps: &'static [u64]) -> Self {
        Self {
            random: Random::from_name(seed, name),
            steps,
        }
    }

    /// Creates the weights of a group by the hash of its name.
    pub(crate) fn from_name_hash(seed: u64, group: u64) -> Self {
        Self {
            random: Random::new(seed, group),
            steps: &POISSON_1,
        }
    }
}

/// Number of steps of the distribution within which nearly every draw ends.
const NEAR_STEPS: usize = 4;

impl Iterator for Weights {
    type Item = u8;

    /// Returns the weight in the next replicate. The iterator is endless.
    fn next(&mut self) -> Option<u8> {
        let u = self.random.next() >> 11;
        let (near, far) = self
            .steps
            .split_at_checked(NEAR_STEPS)
            .unwrap_or((self.steps, &[]));
        // All near steps are compared, without a branch that depends on the draw.
        let mut weight: usize = near.iter().map(|step| usize::from(*step <= u)).sum();
        if weight == NEAR_STEPS {
            weight += far.iter().take_while(|step| **step <= u).count();
        }
        u8::try_from(weight).ok()
    }
}

/// A cache of the weights of groups. All reported settings use the same weights.
///
/// It holds a byte for each replicate of at most [`MAX_CACHED_GROUPS`] groups. Weights of further groups are computed
/// each time.
#[derive(Debug)]
pub(crate) struct WeightCache {
    resampling: Resampling,
    /// The weights of a group, by the hash of the group's name.
    weights: HashMap<u64, Vec<u8>>,
}

/// Maximum number of groups in the cache, which is 20 MB at 2,000 replicates.
const MAX_CACHED_GROUPS: usize = 10_000;

impl WeightCache {
    /// Creates an empty cache.
    pub(crate) fn new(resampling: Resampling) -> Self {
        Self {
            resampling,
            weights: HashMap::new(),
        }
    }

    /// Returns the number of replicates and the seed.
    pub(crate) fn resampling(&self) -> Resampling {
        self.resampling
    }

    /// Returns the weight in each replicate of the group whose name has the hash `group`.
    pub(crate) fn weights_of(&mut self, group: u64) -> Cow<'_, [u8]> {
        let Resampling { replicates, seed } = self.resampling;
        let weights = Weights::from_name_hash(seed, group);
        let draw = || weights.take(replicates).collect();
        if self.weights.len() >= MAX_CACHED_GROUPS && !self.weights.contains_key(&group) {
            return Cow::Owned(draw());
        }
        Cow::Borrowed(self.weights.entry(group).or_insert_with(draw))
    }
}

/// The sums of `N` tallies in each replicate.
///
/// Each group is added to every replicate in turn, so that its counts are multiplied by neighbouring weights. The sums
/// are whole numbers, so the order of summation does not matter. Memory is 8 bytes for each replicate and each count
/// that some group has.
#[derive(Debug)]
pub(crate) struct Replicates<const N: usize> {
    replicates: usize,
    /// The sum in each replicate, by tally and count. Empty if the count of every group is 0.
    sums: [Vec<Vec<i64>>; N],
}

impl<const N: usize> Replicates<N> {
    /// Creates the replicates, without any group.
    pub(crate) fn new(replicates: usize) -> Self {
        Self {
            replicates,
            sums: std::array::from_fn(|_| vec![Vec::new(); Count::N]),
        }
    }

    /// Adds the tallies of a group with its weight in each replicate.
    pub(crate) fn add_group(&mut self, weights: &[u8], counts: &[Tally; N]) {
        for (sums, counts) in self.sums.iter_mut().zip(counts) {
            for (place, n) in counts.nonzero() {
                let sums = &mut sums[place];
                sums.resize(self.replicates, 0);
                add_weighted_count(sums, weights, n);
            }
        }
    }

    /// Adds the tallies of a group with the weights of an iterator.
    pub(crate) fn add_weighted(&mut self, weights: Weights, counts: &[Tally; N]) {
        let weights: Vec<u8> = weights.take(self.replicates).collect();
        self.add_group(&weights, counts);
    }

    /// Returns the sums of each replicate, in the order of replicates.
    pub(crate) fn tallies(&self) -> impl Iterator<Item = [Tally; N]> + '_ {
        (0..self.replicates).map(|replicate| {
            std::array::from_fn(|which| {
                let mut counts = Tally::default();
                for (place, sums) in self.sums[which].iter().enumerate() {
                    *counts.count_at(place) = sums.get(replicate).copied().unwrap_or(0);
                }
                counts
            })
        })
    }
}

/// The sums of `N` tallies of each group, by the name of the group.
#[derive(Debug)]
pub(crate) struct GroupSums<'a, const N: usize>(BTreeMap<&'a str, [Tally; N]>);

impl<'a, const N: usize> GroupSums<'a, N> {
    /// Sums tallies by the name of their group.
    pub(crate) fn new(tallies: impl IntoIterator<Item = (&'a str, [Tally; N])>) -> Self {
        let mut groups: BTreeMap<&str, [Tally; N]> = BTreeMap::new();
        for (group, counts) in tallies {
            let sums = groups.entry(group).or_insert([Tally::default(); N]);
            sums.iter_mut().zip(counts).for_each(|(sum, n)| *sum += n);
        }
        Self(groups)
    }

    /// Returns the sums of each group, in the order of their names.
    pub(crate) fn sums(&self) -> impl Iterator<Item = &[Tally; N]> {
        self.0.values()
    }

    /// Resamples whole groups. A group without counts is skipped, since it adds nothing.
    pub(crate) fn draw(&self, resampling: Resampling) -> Replicates<N> {
        let mut drawn = Replicates::new(resampling.replicates);
        let counted = |counts: &[Tally; N]| counts.iter().any(|one| one.nonzero().next().is_some());
        for (name, counts) in self.0.iter().filter(|(_, counts)| counted(counts)) {
            drawn.add_weighted(Weights::new(resampling.seed, name, &POISSON_1), counts);
        }
        drawn
    }
}

/// Adds `n` times the weight of each replicate to the sum of the replicate.
///
/// Overflow is not checked, which would cost more than the sums. A weight is at most 18, and no corpus has 2^58 chars.
fn add_weighted_count(sums: &mut [i64], weights: &[u8], n: i64) {
    let pairs = sums.iter_mut().zip(weights);
    match u32::try_from(n) {
        // A processor multiplies many 32-bit numbers at once.
        Ok(n) => pairs.for_each(|(sum, weight)| {
            let product = u64::from(u32::from(*weight)).wrapping_mul(u64::from(n));
            *sum = sum.wrapping_add(product.cast_signed());
        }),
        Err(_) => pairs.for_each(|(sum, weight)| {
            *sum = sum.wrapping_add(i64::from(*weight).wrapping_mul(n));
        }),
    }
}

/// Returns the `q` quantile of some values by nearest rank, after sorting them. `None` without values.
pub(crate) fn quantile(values: &mut [f64], q: f64) -> Option<f64> {
    values.sort_unstable_by(f64::total_cmp);
    rank(q, values.len() as u64).map(|k| values[k as usize - 1])
}

/// Returns the interval from the 2.5th to the 97.5th percentile, by nearest rank. `None` without values.
pub(crate) fn percentile(values: &mut [f64]) -> Option<Interval> {
    Some(Interval {
        lo: quantile(values, 0.025)?,
        hi: quantile(values, 0.975)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_weights_are_poisson() {
        let (steps, mean) = (&POISSON_1[..], 1.0);
        let drawn: Vec<f64> = (0..50)
            .flat_map(|i| Weights::new(1, &format!("g{i}"), steps).take(2000))
            .map(f64::from)
            .collect();
        let n = drawn.len() as f64;
        let got = drawn.iter().sum::<f64>() / n;
        let spread = drawn.iter().map(|x| (x - got).powi(2)).sum::<f64>() / n;
        assert!((got - mean).abs() < 0.01, "{got} is not {mean}");
        assert!((spread - mean).abs() < 0.02, "{spread} is not {mean}");
    }

    /// The table is the distribution function: exact to a part in 2^53 or the last bit of a float.
    #[test]
    fn the_steps_are_the_distribution_function() {
        for (steps, mean) in [(&POISSON_1[..], 1.0_f64)] {
            let (mut term, mut sum) = ((-mean).exp(), 0.0);
            for (k, step) in steps.iter().enumerate() {
                sum += term;
                term *= mean / (k as f64 + 1.0);
                let want = sum * (1_u64 << 53) as f64;
                assert!((*step as f64 - want).abs() <= 16.0, "{k}: {step} {want}");
            }
        }
    }

    #[test]
    fn a_weight_depends_on_seed_replicate_and_name_alone() {
        let of = |seed, name| {
            Weights::new(seed, name, &POISSON_1)
                .take(40)
                .collect::<Vec<u8>>()
        };
        assert_eq!(of(1, "a"), of(1, "a"));
        assert_ne!(of(1, "a"), of(1, "b"));
        assert_ne!(of(1, "a"), of(2, "a"));
        let mut tally = Tally::default();
        tally[Count::Hit] = 3;
        let mut other = Tally::default();
        (other[Count::Hit], other[Count::Exposure]) = (1, 5_000_000_000);
        let mut sums = Replicates::<2>::new(40);
        let weights = |name| Weights::new(1, name, &POISSON_1);
        sums.add_group(&of(1, "a"), &[tally, Tally::default()]);
        sums.add_weighted(weights("b"), &[other, other]);
        let mut draws = WeightCache::new(Resampling {
            replicates: 40,
            seed: 1,
        });
        let a = Random::hash_name("a");
        assert_eq!(
            [draws.weights_of(a).to_vec(), draws.weights_of(a).to_vec()],
            [of(1, "a"), of(1, "a")]
        );
        let want = of(1, "a").into_iter().zip(of(1, "b"));
        for ([first, second], (a, b)) in sums.tallies().zip(want) {
            let (a, b) = (i64::from(a), i64::from(b));
            assert_eq!(first[Count::Hit], 3 * a + b);
            assert_eq!(second[Count::Hit], b);
            assert_eq!(second[Count::Exposure], 5_000_000_000 * b);
        }
    }
}
