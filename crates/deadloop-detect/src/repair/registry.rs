//! The registry of repairers. To add one, add a folder beside this file, `mod x;` in `mod.rs` and
//! `&x::ENTRY` here. Listings, docs and the laws in `tests/` read the registry.

use std::ops::{Deref, RangeInclusive};

use crate::settings::params::Params;
use crate::settings::spec::Spec;
use crate::settings::unfit::Unfit;
use crate::settings::value::Value;

#[cfg(feature = "repair-json")]
use super::json;
use super::meaning::{Delivered, Meaning, Pieces};
use super::{filter, names, replay, tags, think};

/// Every repairer, in the order of listings.
pub static REPAIRERS: &[&Repairer] = &[
    &think::ENTRY,
    &tags::ENTRY,
    #[cfg(feature = "repair-json")]
    &json::ENTRY,
    &names::ENTRY,
    &filter::ENTRY,
    &replay::ENTRY,
];

/// A repairer: its description, what it reads, and how to make one.
#[derive(Debug)]
pub struct Repairer {
    /// Its name, its parameters and presets: [`Spec`]'s fields are read as its own. All parameters are
    /// [structural](crate::harness::Mark::Structural).
    pub spec: Spec,
    /// What it reads.
    pub stream: StreamKind,
    /// What it mends in a live stream.
    pub mends: Mends,
    /// Makes a repairer for one stream, from checked parameters.
    pub make: Make,
}

crate::words! {
    /// What kind of stream a repairer reads: the value of `meta.stream` of such streams.
    pub enum StreamKind {
        /// An answer with tags of actions in it.
        Tags = "tags",
        /// An answer behind its thinking.
        Think = "think",
        /// An answer without either.
        Text = "text",
        /// The arguments of a call.
        Arguments = "arguments",
        /// The name of a call.
        Name = "name",
        /// A row of events.
        Events = "events",
    }
}

impl StreamKind {
    /// Whether it is an answer.
    pub fn is_answer(self) -> bool {
        matches!(self, Self::Tags | Self::Think | Self::Text)
    }
}

/// What a repairer mends in a live stream, in the order in which `watch --repair` does so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mends {
    /// The answer, which passes through such repairers in the order of these numbers.
    Answer(u8),
    /// The name of a call.
    Name,
    /// The arguments of a call.
    Arguments,
    /// Nothing: it reads rows of events.
    Nothing,
}

/// Makes a repairer, by what it reads.
#[derive(Clone, Copy, Debug)]
pub enum Make {
    /// It reads a text: an answer, arguments, or a name.
    Text(fn(&Params) -> Box<dyn TextRepair>),
    /// It reads events as they are delivered.
    Events(fn(&Params) -> Box<dyn EventRepair>),
}

/// Repairs one text as it streams in.
pub trait TextRepair: Send {
    /// Takes the next chunk. Adds to `out` what is certain by now, in order.
    fn push(&mut self, chunk: &str, out: &mut Pieces);
    /// Takes the end of the stream. Adds the rest to `out`. Nothing is pushed afterwards.
    fn finish(&mut self, out: &mut Pieces);
    /// How many chars wait because it is not certain yet what they are.
    fn held(&self) -> usize;
    /// The steps so far: chars read, compared and read again. They are linear in the text.
    fn work(&self) -> u64;
}

/// Repairs one row of events as it is delivered.
pub trait EventRepair: Send {
    /// Takes the next event. Adds to `out` what is certain by now, in order.
    fn push(&mut self, event: Delivered, out: &mut Vec<Delivered>);
    /// Takes the end of the row. Adds the rest to `out`. Nothing is pushed afterwards.
    fn finish(&mut self, out: &mut Vec<Delivered>);
    /// How many events wait, and how many keys are remembered, together.
    fn held(&self) -> usize;
}

impl Deref for Repairer {
    type Target = Spec;

    fn deref(&self) -> &Spec {
        &self.spec
    }
}

impl Repairer {
    /// The repairer with this name.
    pub fn find(name: &str) -> Option<&'static Self> {
        REPAIRERS.iter().copied().find(|r| r.name == name)
    }

    /// The parameters of a preset: the defaults, changed by what the preset says.
    ///
    /// # Errors
    /// If no preset has this name, returns which presets there are; or the mistake in the file.
    pub fn preset(&self, name: &str) -> Result<Params, Unfit> {
        let presets = self.presets()?;
        let Some(preset) = presets.iter().find(|preset| preset.name == name) else {
            let names: Vec<&str> = presets.iter().map(|preset| preset.name.as_str()).collect();
            return Err(Unfit(format!(
                "the repairer {} has no preset {name:?}; expected one of: {}",
                self.name,
                names.join(", ")
            )));
        };
        Ok(self.with(preset))
    }

    /// A repairer for one text, from checked parameters. `None` if this repairer reads events.
    pub fn text(&self, params: &Params) -> Option<Box<dyn TextRepair>> {
        match self.make {
            Make::Text(make) => Some(make(params)),
            Make::Events(_) => None,
        }
    }

    /// A repairer for one row of events, from checked parameters. `None` if this repairer reads text.
    pub fn events(&self, params: &Params) -> Option<Box<dyn EventRepair>> {
        match self.make {
            Make::Events(make) => Some(make(params)),
            Make::Text(_) => None,
        }
    }

    /// Repairs a whole text and returns what it meant. `None` if this repairer reads events.
    pub fn mend(&self, params: &Params, text: &str) -> Option<Meaning> {
        let mut machine = self.text(params)?;
        let mut pieces = Pieces::default();
        machine.push(text, &mut pieces);
        machine.finish(&mut pieces);
        Some(pieces.meaning())
    }
}

/// The bounds of a parameter `hold`: how many chars may wait.
pub(super) const HOLD: RangeInclusive<i64> = 1..=1_000_000;

/// The texts of a parameter that is a list.
pub(super) fn list(params: &Params, name: &str) -> Vec<String> {
    let texts = params.items(name).iter().filter_map(Value::as_text);
    texts.map(str::to_owned).collect()
}

/// The value of a parameter that counts, as a `usize`.
pub(super) fn size(params: &Params, name: &str) -> usize {
    usize::try_from(params.count(name)).unwrap_or(usize::MAX)
}
