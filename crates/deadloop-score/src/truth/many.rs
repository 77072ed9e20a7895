//! [`Cases`]: the cases of a corpus, each in memory by itself, or packed.

use crate::truth::Case;

/// Cases in an order. They are looked at one by one: packed ones are there whole only while somebody looks.
pub trait Cases {
    /// How many there are.
    fn number(&self) -> usize;

    /// Looks at one, counted from 0.
    fn on<T>(&self, index: usize, look: impl FnOnce(&Case) -> T) -> T;

    /// Looks at all, in their order.
    fn each(&self, mut look: impl FnMut(usize, &Case)) {
        (0..self.number()).for_each(|index| self.on(index, |case| look(index, case)));
    }

    /// Whether `is` says yes to one of them; those after it are not looked at.
    fn any(&self, mut is: impl FnMut(&Case) -> bool) -> bool {
        (0..self.number()).any(|index| self.on(index, &mut is))
    }
}

impl Cases for [Case] {
    fn number(&self) -> usize {
        self.len()
    }

    fn on<T>(&self, index: usize, look: impl FnOnce(&Case) -> T) -> T {
        look(&self[index])
    }
}

impl Cases for [&Case] {
    fn number(&self) -> usize {
        self.len()
    }

    fn on<T>(&self, index: usize, look: impl FnOnce(&Case) -> T) -> T {
        look(self[index])
    }
}

impl Cases for Vec<Case> {
    fn number(&self) -> usize {
        self.len()
    }

    fn on<T>(&self, index: usize, look: impl FnOnce(&Case) -> T) -> T {
        look(&self[index])
    }
}
