//! [`CaseStore`]: a growable list of cases, plain or packed.

use deadloop_score::{Case, CaseSet, PackedCases};

/// A list of cases in the order of the corpus.
pub trait CaseStore: CaseSet + Default {
    /// Appends a case.
    fn keep(&mut self, case: Case);

    /// Drops each case whose flag in `kept` is `false`. `kept` has one flag a case.
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

/// Drops each item whose flag in `kept` is `false`. `kept` has one flag an item.
pub(crate) fn retain_kept<T>(all: &mut Vec<T>, kept: &[bool]) {
    let mut kept = kept.iter();
    all.retain(|_| kept.next() == Some(&true));
}
