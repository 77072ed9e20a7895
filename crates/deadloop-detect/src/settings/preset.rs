//! [`Preset`]: named parameters of a detector, with their source.
//!
//! Presets are TOML files beside their detectors.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::settings::value::Value;

/// Named parameters of a detector, with their source.
#[derive(Clone, Debug, Deserialize, PartialEq)]
pub struct Preset {
    /// The name in settings.
    #[serde(skip)]
    pub name: String,
    /// The description, in one line.
    pub about: String,
    /// The source of the parameters.
    #[serde(flatten)]
    pub source: PresetSource,
    /// The parts of the original that are left out, and the reason.
    pub left_out: String,
    /// The maximum memory of one stream, in megabytes: 1, as for every detector's defaults, or the size of the
    /// original's window.
    #[serde(default = "one")]
    pub megabytes: u32,
    /// The parameters that differ from the detector's defaults.
    pub params: BTreeMap<String, Value>,
}

/// The source of a preset.
#[derive(Clone, Debug, Deserialize, PartialEq)]
pub struct PresetSource {
    /// The name of the project.
    pub project: String,
    /// The file in the project.
    pub file: String,
    /// The version or commit of the project.
    pub version: String,
    /// The date of the version.
    pub date: String,
}

fn one() -> u32 {
    1
}

/// Parses presets, in the order of their names. A test parses all files of this crate, so there is no error at run
/// time.
pub(crate) fn read(text: &str) -> Result<Vec<Preset>, String> {
    let presets: BTreeMap<String, Preset> = toml::from_str(text).map_err(|e| e.to_string())?;
    let named = presets.into_iter();
    Ok(named
        .map(|(name, preset)| Preset { name, ..preset })
        .collect())
}
