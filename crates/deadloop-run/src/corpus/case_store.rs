//! [`CaseStore`]: a growable store of cases, plain or packed.

use deadloop_score::{Case, CaseSet, PackedCases};

/// A store to which cases are added one by one, in the order of the corpus.
pub trait CaseStore: CaseSet + Default {
    /// Adds a case.
    fn keep(&mut self, case: Case);

    /// Drops the cases whose flag in `kept` is not set.
    fn narrow(&mut self, kept: &[bool]);
}

impl CaseStore for Vec<Case> {
    fn keep(&mut self, case: Case) {
        self.push(case);
    }

    fn narrow(&mut self, kept: &[bool]) {
        retain_kept(self, kept);
    }
}

impl CaseStore for PackedCases {
    fn keep(&mut self, case: Case) {
        self.push(&case);
    }

    fn narrow(&mut self, kept: &[bool]) {
        self.retain(kept);
    }
}

/// Drops the items whose flag in `kept` is not set.
pub(crate) fn retain_kept<T>(all: &mut Vec<T>, kept: &[bool]) {
    let mut kept = kept.iter();
    all.retain(|_| kept.next() == Some(&true));
}
