//! [`PackedCases`]: cases in a few bytes each.
//!
//! A corpus of a million transcripts is a million packed cases in memory. A [`Case`] would take ten allocations.
//!
//! | to find | visit in |
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
    ByteReader, put_list, put_number, put_option, put_optional_float, put_optional_number, put_text,
};
pub(crate) use cases::{
    put_index_of, put_kind, put_lengths, read_by_index, read_kind, read_lengths,
};
use name_table::NameTable;
pub(crate) use string_pool::StringPool;

use crate::truth::{Case, CaseSet, SharedNames};

/// Packed cases, in the order in which they were added.
#[derive(Clone, Debug, Default)]
pub struct PackedCases {
    names: NameTable,
    pool: StringPool,
}

impl PackedCases {
    /// Packs a case and adds it at the end.
    pub fn push(&mut self, case: &Case) {
        let names = &mut self.names;
        self.pool.push(|to| cases::put_case(case, names, to));
    }

    /// Drops the cases for which `kept` is false.
    pub fn retain(&mut self, kept: &[bool]) {
        self.pool = self.pool.retained(kept);
    }

    /// Applies a change to each case.
    pub fn alter(&mut self, mut change: impl FnMut(&mut Case)) {
        let mut altered = Self::default();
        self.each(|_, case| {
            let mut case = case.clone();
            change(&mut case);
            altered.push(&case);
        });
        *self = altered;
    }

    /// Unpacks all cases. Each name that cases share is stored once.
    pub fn unpack_all(&self) -> Vec<Case> {
        let mut names = SharedNames::default();
        let case = |index| self.unpack(index).sharing(&mut names);
        (0..self.number()).map(case).collect()
    }

    fn unpack(&self, index: usize) -> Case {
        cases::read_case(&mut self.pool.at(index), &self.names)
    }
}

impl CaseSet for PackedCases {
    fn number(&self) -> usize {
        self.pool.len()
    }

    fn on<T>(&self, index: usize, visit: impl FnOnce(&Case) -> T) -> T {
        visit(&self.unpack(index))
    }
}
