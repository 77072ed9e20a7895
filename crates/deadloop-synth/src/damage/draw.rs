//! [`DamageRng`]: a random number generator with equal results on all machines.

use xxhash_rust::xxh3::xxh3_64_with_seed;

/// A random number generator, seeded by a number and the name of a fault.
#[derive(Clone, Debug)]
pub(super) struct DamageRng {
    seed: u64,
    counter: u64,
}

impl DamageRng {
    /// Creates a generator from a seed and the name of a fault, so that each fault gets different numbers.
    pub(super) fn new(name: &str, seed: u64) -> Self {
        Self {
            seed: xxh3_64_with_seed(name.as_bytes(), seed),
            counter: 0,
        }
    }

    /// Returns a random number below `bound`, or 0 if `bound` is 0.
    pub(super) fn below(&mut self, bound: usize) -> usize {
        self.counter += 1;
        let number = xxh3_64_with_seed(&self.counter.to_le_bytes(), self.seed);
        // The upper half of the product of two 64-bit numbers is below the second number.
        let bound = bound as u64;
        usize::try_from((u128::from(number) * u128::from(bound)) >> 64).unwrap_or(0)
    }

    /// Returns a random item. `None` if there are no items.
    pub(super) fn choose<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        items.get(self.below(items.len()))
    }

    /// Returns up to `count` random items, in their original order.
    pub(super) fn choose_some<T>(&mut self, items: Vec<T>, count: usize) -> Vec<T> {
        if items.len() <= count {
            return items;
        }
        let mut chosen = Vec::new();
        while chosen.len() < count {
            let at = self.below(items.len());
            if !chosen.contains(&at) {
                chosen.push(at);
            }
        }
        let numbered = items.into_iter().enumerate();
        let kept = numbered.filter(|(at, _)| chosen.contains(at));
        kept.map(|(_, item)| item).collect()
    }

    /// Returns a random char boundary of a text, from byte `from` to byte `to`.
    pub(super) fn char_boundary(&mut self, text: &str, from: usize, to: usize) -> usize {
        let span = to.saturating_sub(from);
        text.floor_char_boundary(from + self.below(span + 1))
            .max(from)
    }
}
