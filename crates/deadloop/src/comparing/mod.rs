//! A comparison as terminal text, Markdown, JUnit XML and JSON.
//!
//! | to find | look in |
//! |---|---|
//! | a comparison with its sides and options, as JSON | `compared` |
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
