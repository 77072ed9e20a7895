//! Dead-loop detectors for LLM streams: text in, alarm out.
//!
//! This is what a product embeds. It has no I/O, no clock, no thread and no label: a [`Settings`]
//! file says which detectors guard which model, a [`Guard`] watches one stream.
//!
//! A detector is two halves: a [`Meter`] turns text into [`Fact`]s, a [`Rule`] decides which of them
//! is an alarm. The replay engine of deadloop joins the same two halves, so that what is measured
//! offline is what production does.
//!
//! | to find | look in |
//! |---|---|
//! | a detector, its parameters and presets | `detectors/<name>` |
//! | what a parameter is | [`Param`] |
//! | the TOML that production loads | [`Settings`] |
//! | the live guard and its alarm | [`Guard`], [`Alarm`] |

mod alarm;
mod class;
mod decode;
mod detectors;
mod element;
mod fact;
mod fence;
mod guard;
mod hold;
mod param;
mod position;
mod preset;
mod repeated;
mod script;
mod sentence;
mod setting;
mod settings;
mod value;

pub use alarm::{Alarm, Met};
pub use detectors::{DETECTORS, Detector, Measure, Program, Refusal};
pub use fact::{Bound, Clock, Fact, Meter, Recipe, Rule, UNIT_CHARS};
pub use guard::Guard;
pub use param::{DECIMAL, Domain, Mark, Param, Side, Threshold, Zero};
pub use position::{Channel, Chars, Kind};
pub use preset::{Preset, Source, presets};
pub use setting::{Member, NotLive, Params, Setting};
pub use settings::{GuardTable, Named, RECOMMENDED, Settings, SettingsError, resolve};
pub use value::{Literal, Value};
