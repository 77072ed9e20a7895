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

mod agreeing;
mod desk;
mod proposing;
mod rows;
mod session;
mod view;

pub(crate) use agreeing::{Labelled, words};
pub(crate) use desk::{Review, review};
pub(crate) use proposing::{BY_ITSELF, DOUBTFUL, Proposal, propose};
