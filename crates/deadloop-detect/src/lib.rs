#![doc = include_str!("../README.md")]
//!
//! # Where to look
//!
//! [`Guard::push`] takes any [`Event`]; a guard may [refuse](Decision::Refuse) one call and let the run go on. What a product
//! cannot feed, some guards wait for in vain: [`Setting::blind`] names them.
//!
//! | to find | look in |
//! |---|---|
//! | what arrives, and what positions are counted in | [`stream`] |
//! | the TOML that production loads | [`Settings`] |
//! | the live guard, what it wants done, its alarm | [`Guards`], [`Guard`], [`Decision`], [`Alarm`] |
//! | when a run's prompt no longer fits | [`Context`] |
//! | what mends a faulty stream | [`repair`] |
//! | what a harness needs besides: meters, rules, the registry of detectors, parameters | [`harness`] |

#![deny(
    clippy::print_stderr,
    clippy::print_stdout,
    reason = "they panic where nobody reads any more"
)]

mod calls;
mod detectors;
mod guard;
pub mod harness;
mod measure;
pub mod repair;
mod settings;
pub mod stream;
mod text;

pub use guard::alarm::{Alarm, Met};
pub use guard::context::{Context, ContextBudget, Room, estimated_tokens};
pub use guard::decision::{Decision, Pushed};
pub use guard::feeds::{Blind, Feed, Feeds};
pub use guard::response::Response;
pub use guard::{Guard, Guards};
pub use settings::setting::{NotLive, Setting};
pub use settings::value::Value;
pub use settings::{RECOMMENDED, RECOMMENDED_AGENTS, Settings, SettingsError, Work};
pub use stream::{
    Arguments, Calls, Channel, Chars, Cut, Event, Fault, Kind, OwnedEvent, Seen, TextChannel,
    Turns, Unit, Units,
};
