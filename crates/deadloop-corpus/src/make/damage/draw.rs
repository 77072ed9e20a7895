//! [`Draw`]: random numbers from a seed, the same on every machine.

use xxhash_rust::xxh3::xxh3_64_with_seed;

/// A sequence of random numbers.
#[derive(Clone, Debug)]
pub(super) struct Draw {
    seed: u64,
    drawn: u64,
}

impl Draw {
    /// The sequence of a seed and a name. The name is a fault's, so that each fault draws other numbers from the
    /// same seed.
    pub(super) fn new(name: &str, seed: u64) -> Self {
        Self {
            seed: xxh3_64_with_seed(name.as_bytes(), seed),
            drawn: 0,
        }
    }

    /// The next number, below `end`; 0 if `end` is 0.
    pub(super) fn below(&mut self, end: usize) -> usize {
        self.drawn += 1;
        let number = xxh3_64_with_seed(&self.drawn.to_le_bytes(), self.seed);
        // Of two numbers of 64 bits the upper half of the product is below the second.
        let end = end as u64;
        usize::try_from((u128::from(number) * u128::from(end)) >> 64).unwrap_or(0)
    }

    /// One of these, at random; `None` of an empty list.
    pub(super) fn one<'a, T>(&mut self, of: &'a [T]) -> Option<&'a T> {
        of.get(self.below(of.len()))
    }

    /// Up to `count` of these, in their order.
    pub(super) fn some<T>(&mut self, of: Vec<T>, count: usize) -> Vec<T> {
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

    /// A place in a text from `from` to `to`, at the beginning of a char. All are in bytes.
    pub(super) fn place(&mut self, text: &str, from: usize, to: usize) -> usize {
        let span = to.saturating_sub(from);
        text.floor_char_boundary(from + self.below(span + 1))
            .max(from)
    }
}
