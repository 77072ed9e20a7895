//! The registry of detectors. To add a detector, add a folder beside this file, and `mod x;` and `&x::ENTRY` here. A
//! hyphen in a detector's name is an underscore in the module's name. Settings, help, listings, docs, the search of
//! `tune` and the laws in `tests/` follow from the registry.

use std::ops::Deref;

use thiserror::Error;

pub(crate) use crate::guard::response::Response;
use crate::measure::meter::Recipe;
use crate::settings::param::{Param, ParamRole, Threshold};
use crate::settings::params::Params;
use crate::settings::spec::Spec;
use crate::settings::value::Value;
use crate::stream::Channel;
use crate::stream::Fault;

mod calls;
mod checkpoint;
mod circling;
mod command;
mod ending;
mod entry;
mod example;
#[path = "incomplete-results/mod.rs"]
mod incomplete_results;
mod iterations;
mod loom;
mod malformed;
mod narration;
mod novelty;
mod openhands;
mod periodic;
mod pseudo;
mod recurrence;
mod stall;

pub use example::Example;
pub use iterations::grown;

/// Every detector, in the order of listings.
pub static DETECTORS: &[&Detector] = &[
    &checkpoint::ENTRY,
    &periodic::ENTRY,
    &recurrence::ENTRY,
    &novelty::ENTRY,
    &circling::ENTRY,
    &calls::DUPLICATE,
    &calls::SAME_PAIR,
    &calls::CYCLE,
    &calls::INTERLEAVED,
    &calls::CALL_NOVELTY,
    &calls::STAGNATION,
    &calls::ERROR_RUN,
    &narration::ENTRY,
    &iterations::ENTRY,
    &loom::ENTRY,
    &openhands::ENTRY,
    &stall::ENTRY,
    &ending::ENTRY,
    &malformed::ENTRY,
    &pseudo::ENTRY,
    &incomplete_results::ENTRY,
    &command::ENTRY,
];

/// A detector: its description, its measurement and its checks.
#[derive(Debug)]
pub struct Detector {
    /// The name, the parameters and the presets. A detector dereferences to this [`Spec`].
    pub spec: Spec,
    /// Former parameters without any effect. Settings that name them are accepted for one more version.
    pub gone: &'static [&'static str],
    /// The default grid, as TOML. `tune` searches it if no grid is named. For a program, the grid is an example.
    pub grid: &'static str,
    /// The response to an alarm, for a setting without a response.
    pub response: Response,
    /// Streams that show the detector's behaviour, as text, parsed by [`examples`](Self::examples). Empty for a
    /// program.
    pub examples: &'static str,
    /// Returns the checks that can never fire although others can, each as a parameter and a reason.
    pub dead: fn(&Params) -> Vec<Refusal>,
    /// The kinds of faults on which the detector should alarm. An alarm on any other fault is wrong. Empty for a
    /// detector of loops.
    pub notices: &'static [Fault],
    /// The measurement, for checked parameters.
    pub measure: Measurement,
}

impl Deref for Detector {
    type Target = Spec;

    fn deref(&self) -> &Spec {
        &self.spec
    }
}

/// The measurement of a detector.
#[derive(Clone, Copy, Debug)]
pub enum Measurement {
    /// Meters that read the text of a channel, made by a recipe. The structural parameters decide what is measured. A
    /// meter may omit values that neither these thresholds nor stricter ones accept.
    Text(fn(&Params) -> Recipe),
    /// Meters that read the events of a whole run, made by a recipe. Positions are in the channel.
    Run(Channel, fn(&Params) -> Recipe),
    /// An external program that reads whole transcripts. It can be replayed but cannot watch a live stream
    /// ([`Guard::new`](crate::Guard::new) rejects it).
    Program(fn(&Params) -> Program),
}

/// An external detector: its command and its limits. The replay runs the program, not this crate.
#[derive(Clone, Debug, PartialEq)]
pub struct Program {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// The table that the program gets when it starts.
    pub params: Value,
    /// The time limit for one transcript, in milliseconds.
    pub timeout_ms: u64,
    /// The maximum number of transcripts of a run on which the program may fail.
    pub max_errors: u64,
}

impl Detector {
    /// Returns an entry with defaults: no dead checks, no faults, and stop as the response.
    pub(crate) const fn with_measure(measure: Measurement) -> Self {
        Self {
            spec: Spec::PLAIN,
            gone: &[],
            grid: "",
            response: Response::Stop,
            examples: "",
            dead: |_| Vec::new(),
            notices: &[],
            measure,
        }
    }
}

/// The reason why a combination of allowed parameters is rejected.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Error)]
#[error("{param}: {reason}")]
pub struct Refusal {
    /// The parameter to change.
    pub param: &'static str,
    /// The reason, naming the values.
    pub reason: String,
}

impl Refusal {
    /// Returns a refusal of a parameter's value.
    ///
    /// # Errors
    /// Always.
    pub fn err<T>(param: &'static str, reason: impl Into<String>) -> Result<T, Self> {
        let reason = reason.into();
        Err(Self { param, reason })
    }
}

impl Detector {
    /// Returns the detector with this name.
    pub fn find(name: &str) -> Option<&'static Self> {
        DETECTORS.iter().copied().find(|d| d.name == name)
    }

    /// Returns the examples: one on which the defaults alarm, one on which they do not, and those of some parameters.
    /// `examples.txt` beside the registry has those of parameters that several detectors have.
    pub fn examples(&self) -> impl Iterator<Item = Example> {
        let own = || Example::all(self.examples);
        let shared = Example::all(include_str!("examples.txt")).filter(move |example| {
            let has = self.params.iter().any(|param| param.name == example.name);
            has && own().all(|own| own.name != example.name)
        });
        own().chain(shared)
    }

    /// Returns the channels in which the detector alarms, for a setting without a channel.
    pub fn channels(&'static self) -> &'static [Channel] {
        match &self.measure {
            Measurement::Text(_) | Measurement::Program(_) => &Channel::TEXT,
            Measurement::Run(channel, _) => std::slice::from_ref(channel),
        }
    }

    /// Returns the channels that a setting may name.
    pub fn may_read(&'static self) -> &'static [Channel] {
        match &self.measure {
            Measurement::Text(_) => &Channel::LANES,
            Measurement::Run(channel, _) => std::slice::from_ref(channel),
            Measurement::Program(_) => &Channel::ALL,
        }
    }

    /// Returns whether the detector reads the text of a channel, not the events of a run.
    pub fn reads_text(&self) -> bool {
        matches!(self.measure, Measurement::Text(_))
    }

    /// Returns the threshold parameters, in order.
    pub fn thresholds(&self) -> impl Iterator<Item = (&'static Param, Threshold)> {
        self.params.iter().filter_map(|p| match p.mark {
            ParamRole::Threshold(t) => Some((p, t)),
            ParamRole::Structural => None,
        })
    }
}

/// Detectors are equal if their names are equal.
impl PartialEq for Detector {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}
