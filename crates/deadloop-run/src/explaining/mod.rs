//! Explains what settings did to one transcript: which threshold decided, how near a setting came, and the text around it.
//!
//! | to find | look in |
//! |---|---|
//! | from a transcript and settings to the explanation | [`Question`], [`Explained`] |
//! | facts against thresholds, and what "near" is | [`Sight`] |
//! | where copies of a unit are | `copies` |
//! | which text is shown | [`Source`], [`Excerpt`] |
//! | all of the transcript, with the same marks | [`Question::whole`] |
//! | why it fired, in a line | [`Told::why`] |

mod copies;
mod excerpt;
mod explained;
mod loose;
mod near;
mod question;
mod whole;
mod words;

pub use excerpt::{Excerpt, Mark, Source};
pub use explained::{Explained, Fired, Head, Label, Reading, Seat, Told};
pub use near::{Asked, Sight};
pub use question::Question;
pub use words::NO_GUARD;
