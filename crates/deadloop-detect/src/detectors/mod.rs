//! The registry of detectors.
//!
//! To add a detector, add a folder beside this file, and `mod x;` and `&x::ENTRY` here. A hyphen in the name of a
//! detector is an underscore in the name of its module. Settings, help, listings, docs, the search of `tune` and the
//! tests read the registry.

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
    /// The description, to which a detector dereferences.
    pub spec: Spec,
    /// Removed parameters. Settings may name them for one more version, without any effect.
    pub gone: &'static [&'static str],
    /// The grid, as TOML, that `tune` searches by default. For a program, an example of a grid.
    pub grid: &'static str,
    /// The default response to alarms.
    pub response: Response,
    /// Examples of streams, as text. Read them with [`examples`](Self::examples). Empty for a program.
    pub examples: &'static str,
    /// Finds the checks that can never fire, although others can: for each, a parameter and a reason.
    pub dead: fn(&Params) -> Vec<Refusal>,
    /// The kinds of faults that the detector should report. Empty for a detector of loops.
    pub faults: &'static [Fault],
    /// The measurement.
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
    /// Meters of the text of a channel. They may omit facts that neither the given thresholds nor stricter ones accept.
    Text(fn(&Params) -> Recipe),
    /// Meters of the events of a run. Positions are in the channel.
    Run(Channel, fn(&Params) -> Recipe),
    /// An external program that reads complete transcripts. It cannot run live: [`Guard::new`](crate::Guard::new)
    /// rejects it.
    Program(fn(&Params) -> Program),
}

/// An external detector: its command and its limits. A replay runs the program, not this crate.
#[derive(Clone, Debug, PartialEq)]
pub struct Program {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// The table that is passed to the program at its start.
    pub params: Value,
    /// The time limit for one transcript, in milliseconds.
    pub timeout_ms: u64,
    /// The maximum number of transcripts of a replay on which the program may fail.
    pub max_errors: u64,
}

impl Detector {
    /// Returns an entry with default fields.
    pub(crate) const fn with_measure(measure: Measurement) -> Self {
        Self {
            spec: Spec::PLAIN,
            gone: &[],
            grid: "",
            response: Response::Stop,
            examples: "",
            dead: |_| Vec::new(),
            faults: &[],
            measure,
        }
    }
}

/// The rejection of a combination of allowed values.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Error)]
#[error("{param}: {reason}")]
pub struct Refusal {
    /// The parameter to change.
    pub param: &'static str,
    /// The reason, naming the values.
    pub reason: String,
}

impl Refusal {
    /// Returns a refusal as an error.
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

    /// Returns the examples: one on which the defaults alarm, one on which they do not, and some of parameters.
    /// `examples.txt` beside this file has the examples of shared parameters.
    pub fn examples(&self) -> impl Iterator<Item = Example> {
        let own = || Example::all(self.examples);
        let shared = Example::all(include_str!("examples.txt")).filter(move |example| {
            let has = self.params.iter().any(|param| param.name == example.name);
            has && own().all(|own| own.name != example.name)
        });
        own().chain(shared)
    }

    /// Returns the default channels.
    pub fn channels(&'static self) -> &'static [Channel] {
        match &self.measure {
            Measurement::Text(_) | Measurement::Program(_) => &Channel::TEXT,
            Measurement::Run(channel, _) => std::slice::from_ref(channel),
        }
    }

    /// Returns the channels that a setting may select.
    pub fn all_channels(&'static self) -> &'static [Channel] {
        match &self.measure {
            Measurement::Text(_) => &Channel::ALL_TEXT,
            Measurement::Run(channel, _) => std::slice::from_ref(channel),
            Measurement::Program(_) => &Channel::ALL,
        }
    }

    /// Returns whether the detector reads the text of a channel.
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
