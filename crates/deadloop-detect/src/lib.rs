//! Dead-loop detectors for LLM streams: text in, alarm out.
//!
//! This is what a product embeds. It has no I/O, no clock, no thread and no label: a [`Settings`]
//! file says which detectors guard which model, a [`Guard`] watches one stream.
//!
//! ```
//! use deadloop_detect::{Channel, Guards, Settings};
//!
//! // Once: the file that `deadloop tune` wrote.
//! let settings = Settings::parse("[[guard]]\ndetector = \"periodic\"\nchannel = \"reasoning\"")?;
//! let guards = Guards::new(&settings)?;
//!
//! // For each request: a fresh guard, and each chunk into it before it is shown.
//! let mut guard = guards.guard("deepseek-r1");
//! let stream = std::iter::repeat_n("Wait, let me check. ", 500);
//! for chunk in stream {
//!     if let Some(alarm) = guard.push(Channel::Reasoning, chunk) {
//!         eprintln!("{}", alarm.log_line()); // what, where, which thresholds: for the log
//!         println!("{}", alarm.user_message()); // a sentence for whoever waits
//!         break; // and close the connection: nothing more is generated or paid for
//!     }
//! }
//! assert!(guard.fired());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! `examples/streaming_client` is the whole integration: log, abort, message, retry.
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
//! | the live guard and its alarm | [`Guards`], [`Guard`], [`Alarm`] |

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
pub mod repair;
mod repeated;
mod script;
mod sentence;
mod setting;
mod settings;
mod value;

pub use alarm::{Alarm, Met};
pub use detectors::{DETECTORS, Detector, Measure, Program, Refusal};
pub use fact::{Asked, Bound, Clock, Fact, Meter, Recipe, Rule, UNIT_CHARS};
pub use guard::{Guard, Guards};
pub use param::{DECIMAL, Domain, Mark, Param, Side, Threshold, Zero};
pub use position::{Channel, Chars, Kind};
pub use preset::{Preset, Source, presets};
pub use setting::{Member, NotLive, Params, Setting};
pub use settings::{
    DEPLOYMENT_LOOP_RATE, GuardTable, Named, RECOMMENDED, Settings, SettingsError, resolve,
};
pub use value::{Literal, Value};
