//! The copies of a planted loop ([`LoopPlan`]), and the random numbers of corpora ([`Rng`]).

use deadloop_detect::Kind;

/// The parameters of a planted loop.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LoopPlan {
    /// The kind of repetition.
    pub(crate) kind: Kind,
    /// The text that is repeated, with the blank or line break at its end. In an
    /// [`OrderedList`](Kind::OrderedList) each line is an item.
    pub(crate) unit: String,
    /// The texts that replace `{}` in the unit. The copies take them in turn. In a
    /// [`NearRepeat`](Kind::NearRepeat) they make the copies differ.
    pub(crate) fillers: Vec<String>,
    /// The mark after the number of a list item, with the blank after it.
    pub(crate) numbering: &'static str,
}

impl LoopPlan {
    /// Returns the copy with this number, from 0.
    pub(crate) fn copy(&self, number: usize) -> String {
        let unit = fill(&self.unit, &self.fillers, number);
        match self.kind {
            Kind::OrderedList => number_items(self, &unit, number),
            _ => unit,
        }
    }
}

fn fill(unit: &str, fillers: &[String], number: usize) -> String {
    match fillers {
        [] => unit.to_owned(),
        _ => unit.replace("{}", &fillers[number % fillers.len()]),
    }
}

fn number_items(plan: &LoopPlan, unit: &str, number: usize) -> String {
    let lines = unit.lines();
    let before = number as u64 * unit.lines().count() as u64;
    let item = |(at, line)| format!("{}{}{line}\n", 1 + before + at as u64, plan.numbering);
    lines.enumerate().map(item).collect()
}

/// A small random number generator for corpora: splitmix64. The same seed gives the same numbers on every machine. It
/// is not secure.
#[derive(Clone, Debug)]
pub(crate) struct Rng(u64);

impl Rng {
    /// Returns a generator with this seed.
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns the next 64 bits.
    pub(crate) fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a number below `bound`, or 0 if `bound` is 0. The tiny bias of the remainder does not matter here.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        (self.next_u64() % bound.max(1) as u64) as usize
    }

    /// Returns a number from `low` to `high`, both included.
    pub(crate) fn between(&mut self, low: usize, high: usize) -> usize {
        low + self.below(high.saturating_sub(low) + 1)
    }

    /// Draws whether an event of probability `share`, from 0 to 1, occurs.
    pub(crate) fn chance(&mut self, share: f64) -> bool {
        // A float holds exactly these upper 53 bits.
        ((self.next_u64() >> 11) as f64) < share * (1_u64 << 53) as f64
    }

    /// Draws one item. `None` if the slice is empty.
    pub(crate) fn pick<'a, T>(&mut self, from: &'a [T]) -> Option<&'a T> {
        from.get(self.below(from.len()))
    }

    /// Shuffles the items.
    pub(crate) fn shuffle<T>(&mut self, all: &mut [T]) {
        for last in (1..all.len()).rev() {
            all.swap(last, self.below(last + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_count_on_or_differ_by_their_filler() {
        let copies = |kind, unit: &str, fillers: &[&str], numbering| -> String {
            let plan = LoopPlan {
                kind,
                unit: unit.to_owned(),
                fillers: fillers.iter().map(ToString::to_string).collect(),
                numbering,
            };
            (0..3).map(|number| plan.copy(number)).collect()
        };
        let list = copies(Kind::OrderedList, "a\nb", &[], ". ");
        assert_eq!(list, "1. a\n2. b\n3. a\n4. b\n5. a\n6. b\n");
        let chinese = copies(Kind::OrderedList, "甲", &[], "、");
        assert_eq!(chinese, "1、甲\n2、甲\n3、甲\n");
        let filled = copies(Kind::NearRepeat, "Try {}. ", &["one", "two"], ". ");
        assert_eq!(filled, "Try one. Try two. Try one. ");
    }

    #[test]
    fn the_numbers_are_those_of_splitmix64() {
        let mut rng = Rng::new(1234567);
        assert_eq!(rng.next_u64(), 6457827717110365317);
        assert_eq!(rng.next_u64(), 3203168211198807973);
        assert_eq!(Rng::new(1).below(0), 0);
    }
}
