//! The registry of repairers.
//!
//! To add a repairer, add a folder beside this file, `mod x;` in `lib.rs`, `use` and `&x::ENTRY` here, and its presets
//! in `repairers/grid.toml` of deadloop-replay. Listings, docs and the tests of all repairers read the registry.

use std::ops::{Deref, RangeInclusive};

use deadloop_detect::Value;
use deadloop_detect::harness::{InvalidValue, Params, Spec};

use super::meaning::{Delivery, Meaning, MeaningParts};
use super::{filter, json, names, replay, tags, think};

/// All repairers, in the order of listings.
pub static REPAIRERS: &[&Repairer] = &[
    &think::ENTRY,
    &tags::ENTRY,
    &json::ENTRY,
    &names::ENTRY,
    &filter::ENTRY,
    &replay::ENTRY,
];

/// Declares the registry entry of a repairer, with the data files beside it.
macro_rules! repairer {
    ($name:literal, version $version:literal, $about:literal, $check:expr, $stream:ident, $mends:expr, $make:expr) => {
        /// The registry entry.
        pub(super) static ENTRY: Repairer = Repairer {
            spec: deadloop_detect::harness::Spec {
                name: $name,
                version: $version,
                about: $about,
                exactly: include_str!("exactly.md"),
                params: PARAMS,
                presets: include_str!("presets.toml"),
                check: $check,
            },
            stream: StreamKind::$stream,
            mends: $mends,
            make: $make,
        };
    };
}
pub(super) use repairer;

/// A repairer: its description, its input, and its constructor.
#[derive(Debug)]
pub struct Repairer {
    /// The name, parameters and presets. [`Spec`]'s fields can be read directly on the repairer. All parameters are
    /// [structural](deadloop_detect::harness::ParamRole::Structural).
    pub spec: Spec,
    /// The kind of stream that it reads.
    pub stream: StreamKind,
    /// The part of a live stream that it repairs.
    pub mends: RepairTarget,
    /// The constructor of a repairer for one stream, given checked parameters.
    pub make: RepairerFactory,
}

deadloop_detect::words! {
    /// The kind of stream that a repairer reads. Such streams have it as `meta.stream`.
    pub enum StreamKind {
        /// An answer with action tags.
        Tags = "tags",
        /// An answer after its thinking.
        Think = "think",
        /// An answer without tags and thinking.
        Text = "text",
        /// The arguments of a call.
        Arguments = "arguments",
        /// The name of a call.
        Name = "name",
        /// A sequence of events.
        Events = "events",
    }
}

impl StreamKind {
    /// Returns whether the stream is an answer.
    pub fn is_answer(self) -> bool {
        matches!(self, Self::Tags | Self::Think | Self::Text)
    }
}

/// The part of a live stream that a repairer repairs, in the order of `watch --repair`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RepairTarget {
    /// The answer. It passes through these repairers in the order of their numbers.
    Answer(u8),
    /// The name of a call.
    Name,
    /// The arguments of a call.
    Arguments,
    /// No part of a live stream, because the repairer reads event sequences.
    Nothing,
}

/// The constructor of a repairer, by the kind of input.
#[derive(Clone, Copy, Debug)]
pub enum RepairerFactory {
    /// Builds a repairer of text: an answer, arguments, or a name.
    Text(fn(&Params) -> Box<dyn TextRepair>),
    /// Builds a repairer of delivered events.
    Events(fn(&Params) -> Box<dyn EventRepair>),
}

/// Repairer of one streamed text.
pub trait TextRepair: Send {
    /// Adds the next chunk. Appends the parts that are now certain to `out`, in order.
    fn push(&mut self, chunk: &str, out: &mut MeaningParts) {
        chunk.chars().for_each(|c| self.push_char(c, out));
    }
    /// Adds the next char, see [`push`](Self::push).
    fn push_char(&mut self, c: char, out: &mut MeaningParts);
    /// Ends the stream and appends the rest to `out`. Must be the last call.
    fn finish(&mut self, out: &mut MeaningParts);
    /// Returns the number of chars that are held back because their meaning is not certain yet.
    fn held_len(&self) -> usize;
    /// Returns the number of steps so far: chars that were read, compared or read again. The number is linear in the
    /// length of the text.
    fn work(&self) -> u64;
}

/// Repairer of one sequence of delivered events.
pub trait EventRepair: Send {
    /// Adds the next event. Appends the events that are now certain to `out`, in order.
    fn push(&mut self, event: Delivery, out: &mut Vec<Delivery>);
    /// Ends the sequence and appends the rest to `out`. Must be the last call.
    fn finish(&mut self, out: &mut Vec<Delivery>);
    /// Returns the number of events that are held back plus the number of remembered keys.
    fn held_len(&self) -> usize;
}

impl Deref for Repairer {
    type Target = Spec;

    fn deref(&self) -> &Spec {
        &self.spec
    }
}

impl Repairer {
    /// Returns the repairer with this name.
    pub fn find(name: &str) -> Option<&'static Self> {
        REPAIRERS.iter().copied().find(|r| r.name == name)
    }

    /// Returns the parameters of a preset: the defaults with the preset's values.
    ///
    /// # Errors
    ///
    /// If no preset has this name, returns the existing names. Otherwise returns the mistake in the presets file.
    pub fn preset(&self, name: &str) -> Result<Params, InvalidValue> {
        let presets = self.presets()?;
        let Some(preset) = presets.iter().find(|preset| preset.name == name) else {
            let names: Vec<&str> = presets.iter().map(|preset| preset.name.as_str()).collect();
            return Err(InvalidValue(format!(
                "the repairer {} has no preset {name:?}; expected one of: {}",
                self.name,
                names.join(", ")
            )));
        };
        Ok(self.with(preset))
    }

    /// Creates a repairer of one text from checked parameters. Returns `None` if this repairer reads events.
    pub fn text_repairer(&self, params: &Params) -> Option<Box<dyn TextRepair>> {
        match self.make {
            RepairerFactory::Text(make) => Some(make(params)),
            RepairerFactory::Events(_) => None,
        }
    }

    /// Creates a repairer of one sequence of events from checked parameters. Returns `None` if this repairer reads
    /// text.
    pub fn event_repairer(&self, params: &Params) -> Option<Box<dyn EventRepair>> {
        match self.make {
            RepairerFactory::Events(make) => Some(make(params)),
            RepairerFactory::Text(_) => None,
        }
    }

    /// Repairs a whole text and returns its meaning. Returns `None` if this repairer reads events.
    pub fn mend(&self, params: &Params, text: &str) -> Option<Meaning> {
        let mut machine = self.text_repairer(params)?;
        let mut pieces = MeaningParts::default();
        machine.push(text, &mut pieces);
        machine.finish(&mut pieces);
        Some(pieces.meaning())
    }
}

/// The bounds of a parameter `hold`, the maximum number of waiting chars.
pub(super) const HOLD_RANGE: RangeInclusive<i64> = 1..=1_000_000;

/// Returns the texts in the value of a list parameter.
pub(super) fn get_texts(params: &Params, name: &str) -> Vec<String> {
    let texts = params.items(name).iter().filter_map(Value::as_text);
    texts.map(str::to_owned).collect()
}

/// Returns the value of a count parameter as a `usize`.
pub(super) fn get_usize(params: &Params, name: &str) -> usize {
    usize::try_from(params.count(name)).unwrap_or(usize::MAX)
}
