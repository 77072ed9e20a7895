//! Explains what settings did to one transcript: which threshold decided, how near a setting came, and the text around it.
//!
//! | to find | look in |
//! |---|---|
//! | from a transcript and settings to the explanation | [`Question`], [`Explained`] |
//! | facts against thresholds, and what "near" is | [`FactSight`] |
//! | where copies of a unit are | `copies` |
//! | equal calls in a row, and how their results differ | [`EqualCalls`] |
//! | which text is shown | [`ExcerptSource`], [`Excerpt`] |
//! | why it fired, in a line | [`ExplainedSetting::why`] |

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
