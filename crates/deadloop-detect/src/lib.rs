#![doc = include_str!("../README.md")]
//!
//! # Where to look
//!
//! [`Guard::push`] takes any [`Event`]. A guard may [refuse](Decision::Refuse) a call while the run continues. Some
//! detectors can never fire if a product cannot push the events that they need. [`Setting::blind`] returns them.
//!
//! | to find | look in |
//! |---|---|
//! | events, and the units of positions | [`stream`] |
//! | the TOML that production loads | [`Settings`] |
//! | the live guard, its decision, its alarm | [`Guards`], [`Guard`], [`Decision`], [`Alarm`] |
//! | whether a run's prompt still fits | [`Context`] |
//! | the parts for a harness: meters, rules, the registry of detectors, parameters | [`harness`] |

// These macros panic if standard output is closed.
#![deny(clippy::print_stderr, clippy::print_stdout)]

mod calls;
mod detectors;
mod guard;
pub mod harness;
mod measure;
mod settings;
pub mod stream;
mod text;

pub use guard::alarm::{Alarm, Lang, MetThreshold};
pub use guard::context::{Context, ContextBudget, PromptStatus, estimate_tokens, token_chars};
pub use guard::decision::{Decision, PushResult};
pub use guard::feeds::{BlindMember, Feed, Feeds};
pub use guard::response::Response;
pub use guard::{Guard, Guards};
pub use settings::setting::{NotLive, Setting};
pub use settings::value::Value;
pub use settings::{ModelTask, RECOMMENDED, RECOMMENDED_AGENTS, Settings, SettingsError, one_line};
pub use stream::{
    Arguments, Calls, Channel, ChannelLengths, Chars, CutText, Event, Fault, Kind, OwnedEvent,
    TextChannel, Turns, Unit, Units,
};
