//! The first pass over a corpus, which checks, counts and selects its transcripts.

pub mod blocks;
pub(crate) mod case_store;
mod excluded_names;
pub(crate) mod findings;
mod lookup;
pub(crate) mod places;
pub(crate) mod stamps;
pub(crate) mod survey;
