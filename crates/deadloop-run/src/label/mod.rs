//! [`label`]: proposes, merges and disputes labels, and reviews them without a user interface.
//!
//! | to find | look in |
//! |---|---|
//! | the labels proposed for a transcript | [`deadloop_score::proposals`] |
//! | the labels proposed for a corpus | `proposals` |
//! | keys and their meanings | [`named`], [`KEYS`] |
//! | the state of a review, without files | [`ReviewSession`] |
//! | a review that loads transcripts and saves answers | [`InteractiveReview`] |
//! | the labels of a file or a corpus | `labellings` |
//! | the merge of two reviewers' answers | `reviewer_merge` |
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
pub(crate) use proposals::{proposals_json, proposals_text, propose_labels};
pub use reviewer_merge::MergeCounts;
pub use session::{Key, KeyEffect, ReviewSession};
