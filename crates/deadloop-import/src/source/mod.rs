//! The selected files: found, recognized and cut into records.
//!
//! | to find | look in |
//! |---|---|
//! | the selected files, and the names of their transcripts | [`files`] |
//! | the folders in which agents store sessions | [`stores`] |
//! | the recognition of the format from the beginning of a file | `recognition`; its input: `head` |
//! | the cut of a file into records: lines, one document, text, an archive, a database | `records` |
//! | long results, cut so that a transcript fits into a line | `line_limit` |

pub mod files;
pub(crate) mod head;
pub(crate) mod line_limit;
pub(crate) mod recognition;
pub(crate) mod records;
pub mod stores;
