//! [`CaseSet`]: the cases of a corpus, packed or not.

use std::borrow::Borrow;

use crate::truth::Case;

/// A sequence of cases that are read one at a time. A packed case is unpacked only while it is read.
pub trait CaseSet {
    /// Returns the number of cases.
    fn number(&self) -> usize;

    /// Calls `visit` with the case at an index, and returns its result.
    fn on<T>(&self, index: usize, visit: impl FnOnce(&Case) -> T) -> T;

    /// Calls `visit` with each case and its index, in order.
    fn each(&self, mut visit: impl FnMut(usize, &Case)) {
        (0..self.number()).for_each(|index| self.on(index, |case| visit(index, case)));
    }

    /// Returns whether `matches` is true for a case. Later cases are not read.
    fn any(&self, mut matches: impl FnMut(&Case) -> bool) -> bool {
        (0..self.number()).any(|index| self.on(index, &mut matches))
    }
}

impl<C: Borrow<Case>> CaseSet for [C] {
    fn number(&self) -> usize {
        self.len()
    }

    fn on<T>(&self, index: usize, visit: impl FnOnce(&Case) -> T) -> T {
        visit(self[index].borrow())
    }
}

impl CaseSet for Vec<Case> {
    fn number(&self) -> usize {
        self.len()
    }

    fn on<T>(&self, index: usize, visit: impl FnOnce(&Case) -> T) -> T {
        visit(&self[index])
    }
}
