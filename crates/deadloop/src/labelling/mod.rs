//! Labels: proposed, reviewed, compared (`deadloop label`).
//!
//! | to find | look in |
//! |---|---|
//! | from a transcript to rows of a labels.csv | `proposing` |
//! | a review as keys in and rows out | `session` |
//! | what the rows of one transcript say together | `rows` |
//! | what a reviewer sees of a transcript | `view` |
//! | the terminal, or lines of keys in its place | `desk` |
//! | how far two labellings agree, in words | `agreeing` |
//! | where detectors and the label disagree | `disputes` |
//! | what the finder says of a disputed place | `reading` |

mod agreeing;
mod desk;
mod disputes;
mod proposing;
mod reading;
mod rows;
mod session;
mod view;

pub(crate) use agreeing::{Labelled, differing, words};
pub(crate) use desk::{Review, review};
pub(crate) use disputes::{disputes, told};
pub(crate) use proposing::{BY_ITSELF, DOUBTFUL, Proposal, propose};
pub(crate) use reading::Reading;
