//! [`Spec`]: the description of everything that has parameters: a detector, a repairer, a budget of context. Listings,
//! schemas, grids and settings are derived from it.

use crate::detectors::Refusal;
use crate::settings::param::Param;
use crate::settings::params::Params;
use crate::settings::preset::{self, Preset};
use crate::settings::unfit::Unfit;

/// What something with parameters is called, what it does, and which values it takes.
#[derive(Debug)]
pub struct Spec {
    /// Its name in settings and grids.
    pub name: &'static str,
    /// Raised whenever the same input and parameters may have another result; part of a
    /// [setting's name](crate::Setting::id).
    pub version: u32,
    /// What it does, in one line.
    pub about: &'static str,
    /// Its exact definition, in Markdown: enough to write it again; empty for a program.
    pub exactly: &'static str,
    /// Its parameters, in the order of listings and grids.
    pub params: &'static [Param],
    /// Its presets, as TOML; read with [`presets`](Self::presets).
    pub presets: &'static str,
    /// Refuses parameters that are each allowed but impossible together, or that do nothing.
    pub check: fn(&Params) -> Result<(), Refusal>,
}

impl Spec {
    /// One without a name, presets and anything to refuse: what entries leave out.
    pub const PLAIN: Self = Self {
        name: "",
        version: 1,
        about: "",
        exactly: "",
        params: &[],
        presets: "",
        check: |_| Ok(()),
    };

    /// The parameter with this name.
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
    pub fn presets(&self) -> Result<Vec<Preset>, Unfit> {
        preset::read(self.presets).map_err(Unfit)
    }

    /// The defaults, changed by what a preset says.
    pub fn with(&self, preset: &Preset) -> Params {
        let mut params = self.defaults();
        for (name, value) in &preset.params {
            params.set(name, value.clone());
        }
        params
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
}
