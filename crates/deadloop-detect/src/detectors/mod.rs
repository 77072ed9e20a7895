//! The registry of detectors. To add one: a file beside this one, `mod x;` and `&x::ENTRY` here (a hyphen in
//! its name is an underscore in that of its file). Settings, help, listings, docs, the search of `tune` and
//! the laws in `tests/` follow from it.

use std::ops::Deref;

use thiserror::Error;

pub(crate) use crate::guard::response::Response;
use crate::measure::meter::Recipe;
use crate::settings::param::{Mark, Param, Threshold};
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

/// A detector: its description, how it measures and what it refuses.
#[derive(Debug)]
pub struct Detector {
    /// Its name, its parameters and presets: [`Spec`]'s fields are read as its own.
    pub spec: Spec,
    /// Parameters that it had and that changed nothing: settings that name them are read for one more version.
    pub gone: &'static [&'static str],
    /// Its default grid, as TOML: what `tune` searches where no grid is named; of a program an example.
    pub grid: &'static str,
    /// What its alarm does where a setting does not say.
    pub response: Response,
    /// Streams that show what it does, as text; read with [`examples`](Self::examples). Empty for a program.
    pub examples: &'static str,
    /// Finds the checks that can never fire although others can: the parameter and the reason.
    pub dead: fn(&Params) -> Vec<Refusal>,
    /// The kinds of faults that it is meant to alarm on. An alarm on any other fault is wrong. Empty for a detector of
    /// loops.
    pub notices: &'static [Fault],
    /// How it measures, for (checked) parameters.
    pub measure: Measuring,
}

impl Deref for Detector {
    type Target = Spec;

    fn deref(&self) -> &Spec {
        &self.spec
    }
}

/// How a detector measures.
#[derive(Clone, Copy, Debug)]
pub enum Measuring {
    /// The text of a channel is pushed through meters that are made from this. The structural parameters decide what
    /// is measured; a meter may leave out what these thresholds, or more careful ones, cannot accept.
    Text(fn(&Params) -> Recipe),
    /// The events of a whole run are pushed through meters that are made from this; its positions are in
    /// the channel.
    Run(Channel, fn(&Params) -> Recipe),
    /// A program outside reads whole transcripts and answers. It is replayed; it cannot watch a live
    /// stream ([`Guard::new`](crate::Guard::new) refuses it).
    Program(fn(&Params) -> Program),
}

/// A detector outside: what is run, and what it may do. Who replays runs it; this crate does not.
#[derive(Clone, Debug, PartialEq)]
pub struct Program {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// The table that it gets when it starts.
    pub params: Value,
    /// How long it may take for one transcript, milliseconds.
    pub timeout_ms: u64,
    /// On how many transcripts of a run it may fail.
    pub max_errors: u64,
}

impl Detector {
    /// What most entries leave out: nothing is dead, no fault is noticed, an alarm stops.
    pub(crate) const fn measuring(measure: Measuring) -> Self {
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

/// Why parameters that are each allowed are refused together.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Error)]
#[error("{param}: {reason}")]
pub struct Refusal {
    /// The parameter to change.
    pub param: &'static str,
    /// The reason, naming the values.
    pub reason: String,
}

impl Refusal {
    /// Refuses the value of a parameter.
    ///
    /// # Errors
    /// Always.
    pub fn of<T>(param: &'static str, reason: impl Into<String>) -> Result<T, Self> {
        let reason = reason.into();
        Err(Self { param, reason })
    }
}

impl Detector {
    /// The detector of that name.
    pub fn find(name: &str) -> Option<&'static Self> {
        DETECTORS.iter().copied().find(|d| d.name == name)
    }

    /// Its examples: one on which its defaults alarm, one on which they do not, and those of some parameters.
    pub fn examples(&self) -> impl Iterator<Item = Example> + use<> {
        Example::all(self.examples)
    }

    /// The channels in which it alarms, for a setting without a channel.
    pub fn channels(&'static self) -> &'static [Channel] {
        match &self.measure {
            Measuring::Text(_) | Measuring::Program(_) => &Channel::TEXT,
            Measuring::Run(channel, _) => std::slice::from_ref(channel),
        }
    }

    /// The channels that a setting may name for it.
    pub fn may_read(&'static self) -> &'static [Channel] {
        match &self.measure {
            Measuring::Text(_) => &Channel::LANES,
            Measuring::Run(channel, _) => std::slice::from_ref(channel),
            Measuring::Program(_) => &Channel::ALL,
        }
    }

    /// Whether its meters read the text of a channel, and not a run.
    pub fn reads_text(&self) -> bool {
        matches!(self.measure, Measuring::Text(_))
    }

    /// The threshold parameters, in their order.
    pub fn thresholds(&self) -> impl Iterator<Item = (&'static Param, Threshold)> {
        self.params.iter().filter_map(|p| match p.mark {
            Mark::Threshold(t) => Some((p, t)),
            Mark::Structural => None,
        })
    }
}

/// Two detectors are the same if they have the same name.
impl PartialEq for Detector {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}
