//! The target corpus of an import: its folder, labels, splits and card.
//!
//! The folder has a temporary name until it is whole, and is joined with an existing corpus.

mod carried_files;
mod labels;
mod target;

pub use carried_files::CarriedFiles;
pub use labels::ImportedLabels;
pub use target::{ImportTarget, JoinedCorpus, RejectedLines, SourceStamps, sources_of};
