//! The corpus that an import makes: a folder under another name until it is whole, joined with what was there, and what comes
//! along with the transcripts.

mod carried;
mod labels;
mod target;

pub use carried::Carried;
pub use labels::ImportedLabels;
pub use target::{JoinedCorpus, Rejected, Sources, Target, sources_of};
