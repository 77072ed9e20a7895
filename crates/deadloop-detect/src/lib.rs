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
mod bytes;
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
mod row;
mod run;
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
pub use detectors::{DETECTORS, Detector, Measuring, Program, Refusal, Response, Sample};
pub use fact::{Asked, Bound, Clock, Fact, Rule, UNIT_CHARS};
pub use feeds::{Blind, Feed, Feeds};
pub use guard::{Guard, Guards};
pub use ignore::{Ignore, LINE_CHARS};
pub use meant::meant;
pub use meter::{Meter, Recipe, TextMeter};
pub use param::{DECIMAL, Domain, Mark, Param, Threshold, ThresholdSide, Zero};
pub use params::Params;
pub use per::Per;
pub use preset::{Preset, Source};
pub use prompt::{PROMPT_CHARS, PromptUse};
pub use setting::{Member, NotLive, Setting, SettingIds, short_hash};
pub use settings::{
    DEPLOYMENT_LOOP_RATE, GuardTable, ModelList, Named, OverrideGlob, Placed, RECOMMENDED,
    RECOMMENDED_AGENTS, Settings, SettingsError, Work, ignore, prompt_for_all, read_toml, resolve,
};
pub use spec::Spec;
pub use stream::{
    Arguments, ArgumentsOf, Calls, Channel, Chars, Cursor, Cut, CutOf, Event, EventOf, Fault, Kind,
    OwnedEvent, Place, Places, Seen, TextChannel, Turns, Unit, Units,
};
pub use unfit::Unfit;
pub use value::{Literal, Value};
