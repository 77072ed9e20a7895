//! [`DamageDraws`]: random numbers from a seed, the same on every machine.

use xxhash_rust::xxh3::xxh3_64_with_seed;

/// A sequence of random numbers.
#[derive(Clone, Debug)]
pub(super) struct DamageDraws {
    seed: u64,
    drawn: u64,
}

impl DamageDraws {
    /// Returns the sequence of a seed and the name of a fault, so that each fault draws different numbers from the same
    /// seed.
    pub(super) fn new(name: &str, seed: u64) -> Self {
        Self {
            seed: xxh3_64_with_seed(name.as_bytes(), seed),
            drawn: 0,
        }
    }

    /// Returns the next number, which is below `end`, or 0 if `end` is 0.
    pub(super) fn below(&mut self, end: usize) -> usize {
        self.drawn += 1;
        let number = xxh3_64_with_seed(&self.drawn.to_le_bytes(), self.seed);
        // The upper half of the product of two 64-bit numbers is below the second number.
        let end = end as u64;
        usize::try_from((u128::from(number) * u128::from(end)) >> 64).unwrap_or(0)
    }

    /// Returns a random item. `None` if there is none.
    pub(super) fn pick<'a, T>(&mut self, of: &'a [T]) -> Option<&'a T> {
        of.get(self.below(of.len()))
    }

    /// Returns up to `count` random items, in their order.
    pub(super) fn pick_some<T>(&mut self, of: Vec<T>, count: usize) -> Vec<T> {
        if of.len() <= count {
            return of;
        }
        let mut chosen = Vec::new();
        while chosen.len() < count {
            let at = self.below(of.len());
            if !chosen.contains(&at) {
                chosen.push(at);
            }
        }
        let numbered = of.into_iter().enumerate();
        let kept = numbered.filter(|(at, _)| chosen.contains(at));
        kept.map(|(_, item)| item).collect()
    }

    /// Returns a random place in a text, from `from` to `to`, at the beginning of a char. All places are in bytes.
    pub(super) fn place(&mut self, text: &str, from: usize, to: usize) -> usize {
        let span = to.saturating_sub(from);
        text.floor_char_boundary(from + self.below(span + 1))
            .max(from)
    }
}
