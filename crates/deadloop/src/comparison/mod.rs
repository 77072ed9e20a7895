//! A comparison as terminal text, Markdown, JUnit XML and JSON.
//!
//! | to find | look in |
//! |---|---|
//! | a comparison with its sides and options, as JSON | `pinned_comparison` |
//! | the pinned gate | `pins` |
//! | the terminal, a pull request, JUnit | `terminal`, `markdown`, `junit` |

mod junit;
mod markdown;
mod pinned_comparison;
mod pins;
mod terminal;

pub(crate) use junit::junit;
pub(crate) use markdown::markdown;
pub(crate) use pinned_comparison::{NoComparison, PinnedComparison};
pub(crate) use pins::Pins;
pub(crate) use terminal::words;
