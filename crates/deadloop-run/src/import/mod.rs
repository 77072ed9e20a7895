//! [`import`]: writes a corpus from recordings in other formats, with its labels, splits and card.
//!
//! The folder has a temporary name until it is complete, and then becomes or joins the target corpus.

mod carried_files;
mod command;
mod labels;
mod output;
mod target;

pub use command::{ImportAnswer, ImportEnd, ImportRunOptions, import};
pub use labels::ImportedLabels;
pub use target::JoinedCorpus;
