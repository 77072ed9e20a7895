//! [`Kept`]: a growable store of cases, plain or packed.

use deadloop_score::{Case, Cases, PackedCases};

/// Cases that are added one by one, in the order of the corpus.
pub trait Kept: Cases + Default {
    /// Adds one.
    fn keep(&mut self, case: Case);

    /// Drops those of which `kept` says no.
    fn narrow(&mut self, kept: &[bool]);
}

impl Kept for Vec<Case> {
    fn keep(&mut self, case: Case) {
        self.push(case);
    }

    fn narrow(&mut self, kept: &[bool]) {
        drop_unkept(self, kept);
    }
}

impl Kept for PackedCases {
    fn keep(&mut self, case: Case) {
        self.push(&case);
    }

    fn narrow(&mut self, kept: &[bool]) {
        self.retain(kept);
    }
}

/// Drops those of which `kept` says no.
pub(crate) fn drop_unkept<T>(all: &mut Vec<T>, kept: &[bool]) {
    let mut kept = kept.iter();
    all.retain(|_| kept.next() == Some(&true));
}
