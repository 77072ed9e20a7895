//! A comparison as people and programs read it.
//!
//! | to find | look in |
//! |---|---|
//! | a comparison and what is said with it | `compared` |
//! | the pinned gate | `pins` |
//! | the terminal, a pull request, JUnit | `words`, `markdown`, `junit` |

mod compared;
mod junit;
mod markdown;
mod pins;
mod words;

pub(crate) use compared::{Compared, NoComparison};
pub(crate) use junit::junit;
pub(crate) use markdown::markdown;
pub(crate) use pins::Pins;
pub(crate) use words::words;
