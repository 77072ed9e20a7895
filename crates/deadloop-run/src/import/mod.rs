//! The target corpus of an import: its folder, labels, splits and card.
//!
//! The folder has a temporary name until it is whole, and is joined with an existing corpus.

mod carried;
mod labels;
mod target;

pub use carried::Carried;
pub use labels::ImportedLabels;
pub use target::{JoinedCorpus, Rejected, Sources, Target, sources_of};
