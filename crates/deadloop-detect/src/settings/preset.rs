//! [`Preset`]: parameters under a name, and where they come from. Presets are data: TOML beside
//! their detector.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::settings::value::Value;

/// Parameters under a name.
#[derive(Clone, Debug, Deserialize, PartialEq)]
pub struct Preset {
    /// What settings call it.
    #[serde(skip)]
    pub name: String,
    /// What it stands for, in one line.
    pub about: String,
    /// Where it comes from.
    #[serde(flatten)]
    pub source: Source,
    /// What of the original is not carried, and why.
    pub left_out: String,
    /// Megabytes that one stream holds at most: 1, as every detector's defaults do, or what the
    /// original's window takes.
    #[serde(default = "one")]
    pub megabytes: u32,
    /// The parameters that differ from the detector's defaults.
    pub params: BTreeMap<String, Value>,
}

/// Where a preset comes from.
#[derive(Clone, Debug, Deserialize, PartialEq)]
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

fn one() -> u32 {
    1
}

/// Reads presets, in the order of their names. An error is a mistake in a file that deadloop ships; a test reads them all.
pub(crate) fn read(text: &str) -> Result<Vec<Preset>, String> {
    let presets: BTreeMap<String, Preset> = toml::from_str(text).map_err(|e| e.to_string())?;
    let named = presets.into_iter();
    Ok(named
        .map(|(name, preset)| Preset { name, ..preset })
        .collect())
}
