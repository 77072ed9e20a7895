//! The registry of repairers. To add one, add a folder beside this file, `mod x;` in `mod.rs` and
//! `&x::ENTRY` here. Listings, docs and the laws in `tests/` read the registry.

use std::ops::RangeInclusive;

use crate::detectors::{Detector, Measuring, Program, Refusal, Response, Sample};
use crate::param::Param;
use crate::params::Params;
use crate::preset::{Preset, presets};
use crate::value::Value;

use super::meaning::{Delivered, Meaning, Pieces};
use super::{filter, json, names, replay, tags, think};

/// Every repairer, in the order of listings.
pub static REPAIRERS: &[&Repairer] = &[
    &think::ENTRY,
    &tags::ENTRY,
    &json::ENTRY,
    &names::ENTRY,
    &filter::ENTRY,
    &replay::ENTRY,
];

/// A repairer: its name, its parameters, and how to make one.
#[derive(Debug)]
pub struct Repairer {
    /// Its name in settings and grids.
    pub name: &'static str,
    /// Raised whenever the same stream and parameters may have another result.
    pub version: u32,
    /// What it does, in one line.
    pub about: &'static str,
    /// Its exact definition, in Markdown: enough to write it again.
    pub exactly: &'static str,
    /// Its parameters, in the order of listings and grids. All are [structural](Mark::Structural).
    pub params: &'static [Param],
    /// Its presets, as TOML; read with [`presets`](Self::presets).
    pub presets: &'static str,
    /// Refuses parameters that are each allowed but impossible together.
    pub check: fn(&Params) -> Result<(), Refusal>,
    /// Makes a repairer for one stream, from checked parameters.
    pub make: Make,
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

impl Repairer {
    /// The repairer with this name.
    pub fn find(name: &str) -> Option<&'static Self> {
        REPAIRERS.iter().copied().find(|r| r.name == name)
    }

    /// Its parameter with this name.
    pub fn param(&self, name: &str) -> Option<&'static Param> {
        self.params.iter().find(|p| p.name == name)
    }

    /// Its parameters with their default values.
    pub fn defaults(&self) -> Params {
        Params::defaults(self.params)
    }

    /// Its presets, in the order of their names.
    ///
    /// # Errors
    /// Returns the mistake in the file that deadloop ships. A test reads all such files.
    pub fn presets(&self) -> Result<Vec<Preset>, String> {
        presets(&self.entry())
    }

    /// The parameters of a preset: the defaults, changed by what the preset says.
    ///
    /// # Errors
    /// If no preset has this name, returns which presets there are; or the mistake in the file.
    pub fn preset(&self, name: &str) -> Result<Params, String> {
        let presets = self.presets()?;
        let Some(preset) = presets.iter().find(|preset| preset.name == name) else {
            let names: Vec<&str> = presets.iter().map(|preset| preset.name.as_str()).collect();
            return Err(format!(
                "the repairer {} has no preset {name:?}; expected one of: {}",
                self.name,
                names.join(", ")
            ));
        };
        let mut params = self.defaults();
        for (param, value) in &preset.params {
            params.set(param, value.clone());
        }
        Ok(params)
    }

    /// Refuses a value outside its parameter's domain, and parameters that are impossible together.
    ///
    /// # Errors
    /// Returns the parameter to change, and why.
    pub fn check(&self, params: &Params) -> Result<(), Refusal> {
        for param in self.params {
            let Some(value) = params.get(param.name) else {
                continue;
            };
            param.domain.check(value).map_err(|reason| Refusal {
                param: param.name,
                reason: format!("{value}: {reason}"),
            })?;
        }
        (self.check)(params)
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

    /// The repairer as a detector that measures nothing, so that the code which reads the defaults and presets of
    /// detectors reads those of repairers too.
    fn entry(&self) -> Detector {
        Detector {
            name: self.name,
            version: self.version,
            about: self.about,
            exactly: self.exactly,
            params: self.params,
            presets: self.presets,
            check: self.check,
            dead: |_| Vec::new(),
            grid: "",
            response: Response::Stop,
            fires: Sample::None,
            quiet: Sample::None,
            measure: Measuring::Program(no_program),
        }
    }
}

fn no_program(_: &Params) -> Program {
    Program {
        command: Vec::new(),
        params: Value::Table(std::collections::BTreeMap::new()),
        timeout_ms: 0,
        max_errors: 0,
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
