//! [`Spec`]: the description of a detector, a repairer or a context budget.
//!
//! Listings, schemas, grids and settings use it.

use crate::detectors::Refusal;
use crate::settings::invalid_value::InvalidValue;
use crate::settings::param::Param;
use crate::settings::params::Params;
use crate::settings::preset::{self, Preset};

/// The name, the description and the parameters of a detector, a repairer or a context budget.
#[derive(Debug)]
pub struct Spec {
    /// The name in settings and grids.
    pub name: &'static str,
    /// The version, raised whenever results may change for the same input and parameters. It is part of the [id of a
    /// setting](crate::Setting::id).
    pub version: u32,
    /// The description, in one line.
    pub about: &'static str,
    /// The exact definition, in Markdown, sufficient for another implementation. Empty for a program.
    pub exactly: &'static str,
    /// The parameters, in the order of listings and grids.
    pub params: &'static [Param],
    /// The presets, as TOML. Read them with [`presets`](Self::presets).
    pub presets: &'static str,
    /// Rejects combinations of allowed values that are impossible or without effect.
    pub check: fn(&Params) -> Result<(), Refusal>,
}

impl Spec {
    /// A description with empty fields, as defaults of an entry.
    pub const PLAIN: Self = Self {
        name: "",
        version: 1,
        about: "",
        exactly: "",
        params: &[],
        presets: "",
        check: |_| Ok(()),
    };

    /// Returns the parameter with this name.
    pub fn param(&self, name: &str) -> Option<&'static Param> {
        self.params.iter().find(|p| p.name == name)
    }

    /// Returns the parameters with their default values.
    pub fn defaults(&self) -> Params {
        Params::defaults(self.params)
    }

    /// Returns the presets, in the order of their names.
    ///
    /// # Errors
    /// The file of the presets is invalid, which a test excludes.
    pub fn presets(&self) -> Result<Vec<Preset>, InvalidValue> {
        preset::read(self.presets).map_err(InvalidValue)
    }

    /// Returns the defaults, changed by a preset.
    pub fn with(&self, preset: &Preset) -> Params {
        let mut params = self.defaults();
        for (name, value) in &preset.params {
            params.set(name, value.clone());
        }
        params
    }

    /// Rejects values outside of their domains, and impossible combinations.
    ///
    /// # Errors
    /// A value is rejected. The error has the parameter to change and the reason.
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
}
