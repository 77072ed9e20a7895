//! [`Preset`]: parameters under a name, and where they come from. Presets are data: TOML beside
//! their detector.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::value::Value;

/// Parameters under a name.
#[derive(Clone, Debug, PartialEq)]
pub struct Preset {
    /// What settings call it.
    pub name: String,
    /// What it stands for, in one line.
    pub about: String,
    /// Where it comes from.
    pub source: Source,
    /// What of the original is not carried, and why.
    pub left_out: String,
    /// Megabytes that one stream holds at most: 1, as every detector's defaults do, or what the
    /// original's window takes.
    pub megabytes: u32,
    /// The parameters that differ from the detector's defaults.
    pub params: BTreeMap<String, Value>,
}

/// Where a preset comes from.
#[derive(Clone, Debug, PartialEq)]
pub struct Source {
    /// The project.
    pub project: String,
    /// The file in it.
    pub file: String,
    /// Its version or commit.
    pub version: String,
    /// When that was.
    pub date: String,
}

/// A preset as its file has it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wire {
    about: String,
    project: String,
    file: String,
    version: String,
    date: String,
    left_out: String,
    #[serde(default = "one")]
    megabytes: u32,
    params: BTreeMap<String, Value>,
}

fn one() -> u32 {
    1
}

/// Reads presets, in the order of their names. An error is a mistake in a file that deadloop ships; a test reads them all.
pub(crate) fn read(text: &str) -> Result<Vec<Preset>, String> {
    let wires: BTreeMap<String, Wire> = toml::from_str(text).map_err(|e| e.to_string())?;
    wires
        .into_iter()
        .map(|(name, wire)| wire.preset(name))
        .collect()
}

impl Wire {
    fn preset(self, name: String) -> Result<Preset, String> {
        Ok(Preset {
            params: self.params.into_iter().collect(),
            name,
            about: self.about,
            source: Source {
                project: self.project,
                file: self.file,
                version: self.version,
                date: self.date,
            },
            left_out: self.left_out,
            megabytes: self.megabytes,
        })
    }
}
