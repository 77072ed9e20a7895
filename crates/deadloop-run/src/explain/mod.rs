//! [`explain`]: why settings raised an alarm on one transcript, or did not.
//!
//! | to find | look in |
//! |---|---|
//! | the explanation of settings on a transcript | [`Explanation`] |
//! | facts compared with thresholds, and the meaning of "nearest" | [`FactSight`] |
//! | the copies of a unit | `copies` |
//! | the text around an alarm | [`ExcerptSource`], [`Excerpt`] |
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
pub use near_misses::{FactSight, ThresholdGap};
pub use paint::{Paint, render};
pub use words::NO_GUARD;
