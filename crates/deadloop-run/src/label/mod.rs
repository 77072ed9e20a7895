//! Labels reviewed, merged, disputed and proposed, without a user interface.
//!
//! | to find | look in |
//! |---|---|
//! | from a transcript to rows of a labels.csv | [`deadloop_score::proposing`] |
//! | from a corpus to rows of a labels.csv | [`proposed`] |
//! | keys and their meanings | [`named`], [`KEYS`] |
//! | a review as keys in and rows out | [`Session`] |
//! | a review under way: transcripts loaded, answers saved | [`Sitting`] |
//! | the labels of a file or a corpus | [`labels_of`] |
//! | two reviewers' answers in one file | [`merged`] |
//! | the disputes between detectors and labels | [`disputes`] |

mod disputes;
mod excerpts;
mod keys;
mod labelled;
mod merging;
mod proposals;
mod rows;
mod session;
mod sitting;

pub use disputes::{Dispute, disputes};
pub use excerpts::excerpts;
pub use keys::{HELP, KEYS, Press, ViewChange, named};
pub use labelled::labels_of;
pub use merging::{Merged, merged};
pub use proposals::{
    Proposed, loop_rate, narrowed, of_class, proposed, proposed_json, uncertain, write_proposals,
};
pub use session::{Effect, Key, Session};
pub use sitting::{Review, ReviewSight, Sitting};
