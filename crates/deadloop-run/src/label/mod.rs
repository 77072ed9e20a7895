//! Labels reviewed, merged, disputed and proposed, without a user interface.
//!
//! | to find | look in |
//! |---|---|
//! | from a transcript to rows of a labels.csv | [`deadloop_score::proposals`] |
//! | from a corpus to rows of a labels.csv | [`proposed`] |
//! | keys and their meanings | [`named`], [`KEYS`] |
//! | a review as keys in and rows out | [`ReviewSession`] |
//! | a review under way: transcripts loaded, answers saved | [`InteractiveReview`] |
//! | the labels of a file or a corpus | [`labels_of`] |
//! | two reviewers' answers in one file | [`merged`] |
//! | the disputes between detectors and labels | [`disputes()`] |

mod disputes;
mod excerpts;
mod interactive_review;
mod keys;
mod labellings;
mod proposals;
mod reviewer_merge;
mod rows;
mod session;

pub use disputes::{Dispute, disputes};
pub use excerpts::excerpts;
pub use interactive_review::{InteractiveReview, Review, ReviewView};
pub use keys::{HELP, KEYS, KeyCommand, ViewChange, named};
pub use labellings::labels_of;
pub use proposals::{
    CorpusProposals, loop_rate, narrowed, of_class, proposed, proposed_json, uncertain,
    write_proposals,
};
pub use reviewer_merge::{MergeCounts, merged};
pub use session::{Key, KeyEffect, ReviewSession};
