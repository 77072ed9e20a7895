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

mod alarm;
mod bytes;
mod calls;
mod class;
mod context;
mod decision;
mod decode;
mod detectors;
mod element;
mod fact;
mod feeds;
mod fence;
mod guard;
pub mod harness;
mod hash;
mod hold;
mod ignore;
mod meant;
mod meter;
mod param;
mod params;
mod per;
mod preset;
mod prompt;
pub mod repair;
mod repeated;
mod response;
mod ring;
mod script;
mod sentence;
mod setting;
mod settings;
mod spec;
pub mod stream;
mod unfit;
mod value;
mod words;

pub use alarm::{Alarm, Met};
pub use context::{Context, ContextBudget, Room, estimated_tokens};
pub use decision::{Decision, Pushed};
pub use feeds::{Blind, Feed, Feeds};
pub use guard::{Guard, Guards};
pub use response::Response;
pub use setting::{NotLive, Setting};
pub use settings::{RECOMMENDED, RECOMMENDED_AGENTS, Settings, SettingsError, Work};
pub use stream::{
    Arguments, Calls, Channel, Chars, Cut, Event, Fault, Kind, OwnedEvent, Seen, TextChannel,
    Turns, Unit, Units,
};
pub use value::Value;
