//! The selected files: found, recognized and cut into records.
//!
//! | to find | look in |
//! |---|---|
//! | the selected files, and the names of their transcripts | [`files`] |
//! | the folders in which agents store sessions | [`stores`] |
//! | the recognition of the format from the beginning of a file | `opening`; its input: `head` |
//! | the cut of a file into records: lines, one document, text, an archive, a database | `cut` |
//! | long results, cut so that a transcript fits into a line | `fitting` |

pub(crate) mod cut;
pub mod files;
pub(crate) mod fitting;
pub(crate) mod head;
pub(crate) mod opening;
pub mod stores;
