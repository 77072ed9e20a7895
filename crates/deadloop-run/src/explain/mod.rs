//! [`explain`]: the outcome of settings on one transcript, explained.
//!
//! | to find | look in |
//! |---|---|
//! | from a transcript and settings to the explanation | [`Explanation`] |
//! | facts against thresholds, and the meaning of "near" | [`FactSight`] |
//! | the copies of a unit | `copies` |
//! | the shown text | [`ExcerptSource`], [`Excerpt`] |
//! | short descriptions of labels and alarms | `words` |

mod calls;
mod command;
mod copies;
mod excerpt;
mod explain_request;
mod explanation;
mod loose_thresholds;
mod near_misses;
mod paint;
mod text;
mod words;

pub use calls::EqualCalls;
pub use command::{ExplainAnswer, ExplainOptions, explain};
pub use excerpt::{Excerpt, ExcerptMark, ExcerptSource};
pub(crate) use explain_request::ExplainRequest;
pub use explanation::{
    ExplainedAlarm, ExplainedLabel, ExplainedReading, ExplainedSetting, ExplainedTranscript,
    Explanation, MemberReadings,
};
pub use near_misses::{AskedOf, FactSight};
pub use paint::{Paint, painted};
pub use words::NO_GUARD;
