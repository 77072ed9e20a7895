//! [`PackedCases`]: cases as a few bytes each.
//!
//! A corpus of a million transcripts has a million of these in memory. As [`Case`]s each would take ten allocations.
//!
//! | to find | look in |
//! |---|---|
//! | numbers and texts as bytes, and back | `bytes` |
//! | many small byte strings without an allocation for each | `string_pool` |
//! | a case as bytes, and back | `cases` |
//! | names that many cases share | `name_table` |

mod bytes;
mod cases;
mod name_table;
mod string_pool;

pub(crate) use bytes::{
    ByteReader, put_float, put_list, put_maybe, put_number, put_option, put_text,
};
pub(crate) use cases::{put_kind, put_place, put_seen, take_kind, take_place, take_seen};
use name_table::NameTable;
pub(crate) use string_pool::StringPool;

use crate::truth::{Case, CaseSet, SharedNames};

/// Packed cases, in order.
#[derive(Clone, Debug, Default)]
pub struct PackedCases {
    names: NameTable,
    pile: StringPool,
}

impl PackedCases {
    /// Adds a case.
    pub fn push(&mut self, case: &Case) {
        let names = &mut self.names;
        self.pile.push(|to| cases::put(case, names, to));
    }

    /// Drops the cases for which `kept` is false.
    pub fn retain(&mut self, kept: &[bool]) {
        self.pile = self.pile.only(kept);
    }

    /// Applies `change` to each case.
    pub fn alter(&mut self, mut change: impl FnMut(&mut Case)) {
        let mut altered = Self::default();
        self.each(|_, case| {
            let mut case = case.clone();
            change(&mut case);
            altered.push(&case);
        });
        *self = altered;
    }

    /// Unpacks all cases. Names that several cases have are stored once.
    pub fn unpacked(&self) -> Vec<Case> {
        let mut names = SharedNames::default();
        let case = |index| self.get(index).sharing(&mut names);
        (0..self.number()).map(case).collect()
    }

    fn get(&self, index: usize) -> Case {
        cases::take(&mut self.pile.at(index), &self.names)
    }
}

impl CaseSet for PackedCases {
    fn number(&self) -> usize {
        self.pile.len()
    }

    fn on<T>(&self, index: usize, look: impl FnOnce(&Case) -> T) -> T {
        look(&self.get(index))
    }
}
