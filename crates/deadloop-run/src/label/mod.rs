//! [`label`]: labels proposed, merged and disputed, and reviewed without a user interface.
//!
//! | to find | look in |
//! |---|---|
//! | from a transcript to rows of a labels.csv | [`deadloop_score::proposals`] |
//! | from a corpus to rows of a labels.csv | `proposals` |
//! | keys and their meanings | [`named`], [`KEYS`] |
//! | a review as keys in and rows out | [`ReviewSession`] |
//! | a review under way: transcripts loaded, answers saved | [`InteractiveReview`] |
//! | the labels of a file or a corpus | `labellings` |
//! | two reviewers' answers in one file | `reviewer_merge` |
//! | the disputes between detectors and labels | `disputes` |

mod command;
mod disputes;
mod excerpts;
mod interactive_review;
mod keys;
mod labellings;
mod proposals;
mod reviewer_merge;
mod rows;
mod session;

pub use command::{LabelAnswer, LabelOptions, label, review};
pub use disputes::Dispute;
pub use excerpts::excerpts;
pub use interactive_review::{InteractiveReview, Review, ReviewView};
pub use keys::{HELP, KEYS, KeyCommand, ViewChange, named};
pub(crate) use proposals::{proposals_text, proposed, proposed_json};
pub use reviewer_merge::MergeCounts;
pub use session::{Key, KeyEffect, ReviewSession};
