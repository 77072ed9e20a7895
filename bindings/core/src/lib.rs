//! Guards for the Python and node packages, independent of both languages.
//!
//! | to find | look in |
//! |---|---|
//! | a settings file as guards, with its rules for splitting off thinking | [`Guards`] |
//! | the bytes of a streamed response through a guard | [`Live`] |
//! | the chunks of a response, as JSON, through a guard | [`Chunks`] |
//! | a finished text through a guard | [`Guards::alarm_of`] |
//! | a guard that is fed by hand, and its decisions | [`Guard`], [`Decision`] |
//! | strings of UTF-16 that may be cut inside a char, and positions in them | [`Utf16Decoder`], [`Utf16Positions`] |
//! | an alarm as JSON | [`alarm_json`] |

mod chunks;
mod guard;
mod guards;
mod live;
mod utf16;

pub use chunks::Chunks;
pub use deadloop_stream::PromptInfo;
pub use guard::{Action, Decision, Guard, alarm_json, lane, lanes, millis};
pub use guards::{FinishedText, Guards, ReadError};
pub use live::Live;
pub use utf16::{Utf16Decoder, Utf16Positions};
