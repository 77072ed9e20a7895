//! [`LoopPlan`]: the copies of an inserted loop. [`Rng`]: a random number generator.

use deadloop_detect::Kind;

/// Parameters of an inserted loop.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LoopPlan {
    /// Kind of repetition.
    pub(crate) kind: Kind,
    /// Repeated text, with the space or line break at its end. In an [`OrderedList`](Kind::OrderedList) each line is an
    /// item.
    pub(crate) unit: String,
    /// Texts that replace `{}` in the unit, one per copy in turn. In a [`NearRepeat`](Kind::NearRepeat) they make the
    /// copies differ.
    pub(crate) fillers: Vec<String>,
    /// Text after the number of a list item, with a space if needed.
    pub(crate) number_suffix: &'static str,
}

impl LoopPlan {
    /// Makes the copy with this number, from 0.
    pub(crate) fn render(&self, number: usize) -> String {
        let unit = fill_placeholder(&self.unit, &self.fillers, number);
        match self.kind {
            Kind::OrderedList => number_items(self, &unit, number),
            _ => unit,
        }
    }
}

fn fill_placeholder(unit: &str, fillers: &[String], number: usize) -> String {
    match fillers {
        [] => unit.to_owned(),
        _ => unit.replace("{}", &fillers[number % fillers.len()]),
    }
}

fn number_items(plan: &LoopPlan, unit: &str, number: usize) -> String {
    let lines = unit.lines();
    let before = number as u64 * unit.lines().count() as u64;
    let item = |(at, line)| format!("{}{}{line}\n", 1 + before + at as u64, plan.number_suffix);
    lines.enumerate().map(item).collect()
}

/// A small random number generator (splitmix64), with equal results on all machines. It is not secure.
#[derive(Clone, Debug)]
pub(crate) struct Rng(u64);

impl Rng {
    /// Creates a generator with this seed.
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns the next 64 random bits.
    pub(crate) fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a random number below `bound`, or 0 if `bound` is 0. The tiny bias of the remainder does not matter
    /// here.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        (self.next_u64() % bound.max(1) as u64) as usize
    }

    /// Returns a random number from `low` to `high`, inclusive.
    pub(crate) fn uniform(&mut self, low: usize, high: usize) -> usize {
        low + self.below(high.saturating_sub(low) + 1)
    }

    /// Returns `true` with this probability, from 0 to 1.
    pub(crate) fn chance(&mut self, probability: f64) -> bool {
        // A float holds exactly these upper 53 bits.
        ((self.next_u64() >> 11) as f64) < probability * (1_u64 << 53) as f64
    }

    /// Returns a random item. `None` if the slice is empty.
    pub(crate) fn choose<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        items.get(self.below(items.len()))
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
        let copies = |kind, unit: &str, fillers: &[&str], number_suffix| -> String {
            let plan = LoopPlan {
                kind,
                unit: unit.to_owned(),
                fillers: fillers.iter().map(ToString::to_string).collect(),
                number_suffix,
            };
            (0..3).map(|number| plan.render(number)).collect()
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
