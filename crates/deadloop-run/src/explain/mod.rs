//! Explains the outcome of settings on one transcript.
//!
//! | to find | look in |
//! |---|---|
//! | from a transcript and settings to the explanation | [`Question`], [`Explained`] |
//! | facts against thresholds, and the meaning of "near" | [`FactSight`] |
//! | the copies of a unit | `copies` |
//! | the shown text | [`ExcerptSource`], [`Excerpt`] |
//! | the reason for an alarm, in a line | [`ExplainedSetting::why`] |

mod calls;
mod copies;
mod excerpt;
mod explained;
mod loose;
mod near;
mod question;
mod words;

pub use calls::EqualCalls;
pub use excerpt::{Excerpt, ExcerptMark, ExcerptSource};
pub use explained::{
    Explained, ExplainedAlarm, ExplainedLabel, ExplainedReading, ExplainedSetting, Head, Seat,
};
pub use near::{AskedOf, FactSight};
pub use question::Question;
pub use words::NO_GUARD;
