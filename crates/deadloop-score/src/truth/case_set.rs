//! [`CaseSet`]: the cases of a corpus, packed or not.

use std::borrow::Borrow;

use crate::truth::Case;

/// Cases in order, read one at a time. A packed case is unpacked only while it is read.
pub trait CaseSet {
    /// Returns the number of cases.
    fn number(&self) -> usize;

    /// Calls `look` with one case, by index.
    fn on<T>(&self, index: usize, look: impl FnOnce(&Case) -> T) -> T;

    /// Calls `look` with each case, in order.
    fn each(&self, mut look: impl FnMut(usize, &Case)) {
        (0..self.number()).for_each(|index| self.on(index, |case| look(index, case)));
    }

    /// Returns whether `is` is true for a case. Later cases are not read.
    fn any(&self, mut is: impl FnMut(&Case) -> bool) -> bool {
        (0..self.number()).any(|index| self.on(index, &mut is))
    }
}

impl<C: Borrow<Case>> CaseSet for [C] {
    fn number(&self) -> usize {
        self.len()
    }

    fn on<T>(&self, index: usize, look: impl FnOnce(&Case) -> T) -> T {
        look(self[index].borrow())
    }
}

impl CaseSet for Vec<Case> {
    fn number(&self) -> usize {
        self.len()
    }

    fn on<T>(&self, index: usize, look: impl FnOnce(&Case) -> T) -> T {
        look(&self[index])
    }
}
