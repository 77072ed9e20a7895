//! Dead-loop detectors for LLM streams: events in, decision out.
//!
//! This is what a product embeds. It has no I/O, no clock, no thread and no label: a [`Settings`]
//! file says which detectors guard which model, a [`Guard`] watches one stream.
//!
//! ```
//! use deadloop_detect::{Decision, Guards, Settings, TextChannel};
//!
//! // Once: the file that `deadloop tune` wrote.
//! let settings = Settings::parse("[[guard]]\ndetector = \"periodic\"\nchannel = \"reasoning\"")?;
//! let guards = Guards::new(&settings)?;
//!
//! // For each request: a fresh guard, and each chunk into it before it is shown.
//! let mut guard = guards.guard("deepseek-r1");
//! let stream = std::iter::repeat_n("Wait, let me check. ", 500);
//! for chunk in stream {
//!     if let Decision::Stop(alarm) = guard.push_text(TextChannel::Reasoning, chunk).decision {
//!         eprintln!("{}", alarm.log_line()); // what, where, which thresholds: for the log
//!         println!("{}", alarm.user_message()); // a sentence for whoever waits
//!         break; // and close the connection: nothing more is generated or paid for
//!     }
//! }
//! assert!(guard.stopped().is_some());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! `examples/streaming_client` is the whole integration: log, abort, message, retry.
//!
//! A product that runs an agent pushes its calls and results too: [`Guard::push`] takes any [`Event`]. A guard may
//! [refuse](Decision::Refuse) one call and let the run go on. What a product cannot feed, some guards wait for in
//! vain: [`Setting::blind`] names them.
//!
//! A detector is two halves: a [`Meter`] turns events into [`Fact`]s, a [`Rule`] decides which of them
//! is an alarm. The replay engine of deadloop joins the same two halves, so that what is measured
//! offline is what production does.
//!
//! | to find | look in |
//! |---|---|
//! | what arrives, and what positions are counted in | [`stream`] |
//! | a detector, its parameters and presets | `detectors/<name>` |
//! | what a parameter is | [`Param`] |
//! | the TOML that production loads | [`Settings`] |
//! | the live guard, what it wants done, its alarm | [`Guards`], [`Guard`], [`Decision`], [`Alarm`] |
//! | when a run's prompt no longer fits | [`Context`] |

#![deny(
    clippy::print_stderr,
    clippy::print_stdout,
    reason = "they panic where nobody reads any more"
)]

mod alarm;
mod arrived;
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
mod hash;
mod hold;
mod meant;
mod meter;
mod param;
mod params;
mod per;
mod preset;
pub mod repair;
mod repeated;
mod response;
mod row;
mod run;
mod script;
mod sentence;
mod setting;
mod settings;
mod spec;
pub mod stream;
mod value;

pub use alarm::{Alarm, Met};
pub use context::{Context, ContextBudget, Room, estimated_tokens};
pub use decision::{Decision, Pushed};
pub use detectors::{DETECTORS, Detector, Measuring, Program, Refusal, Response, Sample};
pub use fact::{Asked, Beat, Bound, Clock, Fact, Rule, UNIT_CHARS};
pub use feeds::{Blind, Feed, Feeds};
pub use guard::{Guard, Guards};
pub use meant::meant;
pub use meter::{Meter, Recipe, TextMeter};
pub use param::{DECIMAL, Domain, Mark, Param, Threshold, ThresholdSide, Zero};
pub use params::Params;
pub use per::Per;
pub use preset::{Preset, Source};
pub use setting::{Member, NotLive, Setting, SettingIds, short_hash};
pub use settings::{
    DEPLOYMENT_LOOP_RATE, GuardTable, ModelList, Named, RECOMMENDED, RECOMMENDED_AGENTS, Settings,
    SettingsError, resolve,
};
pub use spec::Spec;
pub use stream::{
    Arguments, ArgumentsOf, Calls, Channel, Chars, Cursor, Cut, CutOf, Event, EventOf, Fault, Kind,
    OwnedEvent, Seen, TextChannel, Turns, Unit, Units,
};
pub use value::{Literal, Value};
