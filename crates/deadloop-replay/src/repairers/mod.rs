//! [`RepairGrid`]: variants of repairers, read from a grid file.
//!
//! A parameter of the grid may have several values. [`Variant::mend`] runs one variant on one stream.
//!
//! ```toml
//! [[repairer]]
//! name = "tags"
//! preset = "lenient"          # or presets = true for all presets
//! [repairer.params]
//! edits = [0, 1, 2]
//! close = ["refuse", "next"]
//!
//! [[repairer]]
//! name = "command"            # a program for streams of one kind
//! command = ["python3", "my-repairer.py"]
//! stream = "arguments"
//! ```

use std::collections::{BTreeMap, BTreeSet};

use deadloop_detect::harness::{Domain, LocatedValue, Params, Program, read_toml};
use deadloop_detect::{SettingsError, Value};
use deadloop_repair::registry::{REPAIRERS, Repairer, StreamKind};
use serde::Deserialize;
use sha2::{Digest, Sha256};

use crate::grid::{combine_values, count_combinations, params_toml, read_param_values};

mod delay;
mod variant_run;

pub use delay::Delay;
pub use variant_run::{ArrivedStream, OutputContent, VariantOutput, args_text, without_metadata};

/// The default grid.
pub const DEFAULT_GRID: &str = include_str!("grid.toml");
/// The maximum number of variants of a grid.
const MAX_VARIANTS: usize = 20_000;

/// A setting of a repairer.
#[derive(Clone, Debug)]
pub struct Variant {
    /// The name of the variant. It is the name of the preset, such as `tags/lenient`, or the repairer and a hash of the
    /// parameters.
    pub name: String,
    /// Whether the variant is always shown beside the chosen one. Presets, programs and the variant without repair are.
    pub shown: bool,
    /// The method of repair.
    pub method: RepairMethod,
}

/// The methods of repair.
#[derive(Clone, Debug)]
pub enum RepairMethod {
    /// No repair. Holds the repairer that reads this kind of stream.
    Nothing(&'static Repairer),
    /// A built-in repairer, with its parameters.
    Builtin(&'static Repairer, Params),
    /// A program, with the kind of streams that it reads.
    Program(Program, StreamKind),
}

impl Variant {
    /// Returns the name of the repairer with which the variant is compared. For a program, it is that for the same kind
    /// of streams.
    pub fn repairer(&self) -> &str {
        match &self.method {
            RepairMethod::Nothing(repairer) | RepairMethod::Builtin(repairer, _) => repairer.name,
            RepairMethod::Program(_, stream) => repairer_for(*stream).map_or("command", |r| r.name),
        }
    }

    /// Returns the kind of streams that the variant reads.
    pub fn stream(&self) -> StreamKind {
        match &self.method {
            RepairMethod::Nothing(repairer) | RepairMethod::Builtin(repairer, _) => repairer.stream,
            RepairMethod::Program(_, stream) => *stream,
        }
    }

    /// Returns the parameters that differ from the defaults, such as `a=1; b=2`. For a program, returns its command
    /// line.
    pub fn params(&self) -> String {
        match &self.method {
            RepairMethod::Nothing(_) => String::new(),
            RepairMethod::Program(program, _) => program.command.join(" "),
            RepairMethod::Builtin(repairer, params) => changed_params(repairer, params),
        }
    }

    /// Returns the TOML text of a grid with only this variant. The text is empty for the variant without repair.
    pub fn toml(&self) -> String {
        match &self.method {
            RepairMethod::Nothing(_) => String::new(),
            RepairMethod::Program(program, stream) => format!(
                "[[repairer]]\nname = \"command\"\ncommand = {}\nstream = \"{stream}\"\n",
                Value::List(program.command.iter().cloned().map(Value::Text).collect())
            ),
            RepairMethod::Builtin(repairer, params) => {
                let name = repairer.name;
                let head = format!("[[repairer]]\nname = \"{name}\"\n[repairer.params]\n");
                head + &params_toml(repairer, params)
            }
        }
    }
}

/// Returns the repairer for streams of this kind.
fn repairer_for(stream: StreamKind) -> Option<&'static Repairer> {
    REPAIRERS.iter().copied().find(|r| r.stream == stream)
}

fn changed_params(repairer: &Repairer, params: &Params) -> String {
    let defaults = repairer.defaults();
    let other = params
        .iter()
        .filter(|(name, value)| defaults.get(name) != Some(value));
    let shown = other.map(|(name, value)| format!("{name}={value}"));
    shown.collect::<Vec<_>>().join("; ")
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RepairGridFile {
    #[serde(default)]
    repairer: Vec<RepairerTable>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RepairerTable {
    name: LocatedValue<String>,
    preset: Option<String>,
    #[serde(default)]
    presets: bool,
    #[serde(default)]
    params: BTreeMap<LocatedValue<String>, LocatedValue<Value>>,
    #[serde(default)]
    command: Vec<String>,
    stream: Option<String>,
    timeout_ms: Option<u64>,
}

/// The variants of repairers in a grid file.
#[derive(Clone, Debug)]
pub struct RepairGrid {
    /// The distinct variants. Those without repair come first.
    pub variants: Vec<Variant>,
    /// The number of impossible combinations.
    pub refused: usize,
}

impl RepairGrid {
    /// Parses a grid.
    ///
    /// # Errors
    /// Returns an error with its line if the text is not TOML, if a name or a value is unknown or out of bounds, if
    /// there are too many variants, or if a table has no possible variant.
    pub fn parse(text: &str) -> Result<Self, SettingsError> {
        let wire: RepairGridFile = read_toml(text)?;
        if wire.repairer.is_empty() {
            let what = "no [[repairer]]; expected one and more";
            return Err(SettingsError::at(text, 0..0, what));
        }
        let mut grid = Self {
            variants: Vec::new(),
            refused: 0,
        };
        for table in &wire.repairer {
            let found = table.read_variants(text)?;
            grid.refused += found.refused;
            grid.variants.extend(found.variants);
            if grid.variants.len() > MAX_VARIANTS {
                return Err(table.too_many_variants_error(text));
            }
        }
        Ok(grid.with_unrepaired())
    }

    /// Adds the variants without repair, and removes duplicates.
    fn with_unrepaired(self) -> Self {
        let used: BTreeSet<String> = self
            .variants
            .iter()
            .map(|v| v.repairer().to_owned())
            .collect();
        let idle = REPAIRERS.iter().filter(|r| used.contains(r.name));
        let idle = idle.map(|repairer| Variant {
            name: format!("{}/none", repairer.name),
            shown: true,
            method: RepairMethod::Nothing(repairer),
        });
        let mut all: Vec<Variant> = idle.collect();
        let mut known = BTreeSet::new();
        for variant in self.variants {
            // If the same parameters have two names, the first one stays, which is that of the preset.
            let same = format!("{} {}", variant.repairer(), variant.params());
            if known.insert(same) {
                all.push(variant);
            }
        }
        Self {
            variants: all,
            ..self
        }
    }
}

impl From<Vec<Variant>> for RepairGrid {
    fn from(variants: Vec<Variant>) -> Self {
        Self {
            variants,
            refused: 0,
        }
    }
}

impl RepairerTable {
    /// Returns an error at this table's position.
    fn error_here(&self, text: &str, what: impl Into<String>) -> SettingsError {
        SettingsError::at(text, self.name.span(), what)
    }

    fn too_many_variants_error(&self, text: &str) -> SettingsError {
        self.error_here(
            text,
            format!("more than {MAX_VARIANTS} variants; expected fewer values"),
        )
    }

    fn read_variants(&self, text: &str) -> Result<RepairGrid, SettingsError> {
        let name = self.name.get_ref().as_str();
        if name == "command" {
            return Ok(vec![self.read_program(text)?].into());
        }
        let Some(repairer) = Repairer::find(name) else {
            let known: Vec<&str> = REPAIRERS.iter().map(|r| r.name).collect();
            let known = known.join(", ");
            let what = format!("no repairer {name:?}; expected one of: {known}, command");
            return Err(self.error_here(text, what));
        };
        if !self.command.is_empty() || self.stream.is_some() || self.timeout_ms.is_some() {
            let what = "command, stream and timeout_ms are a program's; expected them beside name = \"command\"";
            return Err(self.error_here(text, what));
        }
        let of = |end: &str, shown: bool, params: Params| Variant {
            name: format!("{name}/{end}"),
            shown,
            method: RepairMethod::Builtin(repairer, params),
        };
        let preset = |name: &str| repairer.preset(name).map_err(|e| self.error_here(text, e));
        let mut all = Vec::new();
        if self.presets {
            for one in repairer.presets().map_err(|e| self.error_here(text, e))? {
                all.push(of(&one.name, true, preset(&one.name)?));
            }
            if self.params.is_empty() && self.preset.is_none() {
                return Ok(all.into());
            }
        }
        let base = match &self.preset {
            Some(name) => preset(name)?,
            None => repairer.defaults(),
        };
        if self.params.is_empty() {
            let end = self.preset.as_deref().unwrap_or("defaults");
            all.push(of(end, true, base));
            return Ok(all.into());
        }
        let (swept, refused) = self.possible_params(repairer, base, text)?;
        all.extend(
            swept
                .into_iter()
                .map(|params| of(&variant_hash(repairer, &params), false, params)),
        );
        Ok(RepairGrid {
            variants: all,
            refused,
        })
    }

    /// Returns the possible combinations of the table's values, and the number of impossible ones.
    fn possible_params(
        &self,
        repairer: &Repairer,
        base: Params,
        text: &str,
    ) -> Result<(Vec<Params>, usize), SettingsError> {
        // The schema of these files allows no ranges.
        let is_range = |(name, item): &(&LocatedValue<String>, &LocatedValue<Value>)| {
            let is_table = matches!(item.get_ref(), Value::Table(_));
            let param = repairer.param(name.get_ref());
            is_table && param.is_some_and(|param| !matches!(param.domain, Domain::Free))
        };
        if let Some((name, item)) = self.params.iter().find(is_range) {
            let what = format!("{}: a table; expected a value, or a list", name.get_ref());
            return Err(SettingsError::at(text, item.span(), what));
        }
        let mut swept = read_param_values(repairer, &self.params, text)?;
        // Among equally good variants the first is chosen, so this order decides. It is the order of the names, to
        // keep old results.
        swept.sort_by_key(|(param, _)| param.name);
        let cells = count_combinations(&swept, MAX_VARIANTS)
            .ok_or_else(|| self.too_many_variants_error(text))?;
        let (mut all, mut reason) = (Vec::new(), None);
        for params in combine_values(base, &swept, cells) {
            match repairer.check(&params) {
                Ok(()) => all.push(params),
                Err(refusal) => {
                    reason.get_or_insert(format!("{}: {}", refusal.param, refusal.reason));
                }
            }
        }
        match reason {
            Some(reason) if all.is_empty() => Err(self.error_here(text, reason)),
            _ => {
                let refused = cells - all.len();
                Ok((all, refused))
            }
        }
    }

    fn read_program(&self, text: &str) -> Result<Variant, SettingsError> {
        let stream = self.stream.as_deref().and_then(StreamKind::named);
        let Some(stream) = stream.filter(|_| !self.command.is_empty()) else {
            let known = REPAIRERS.iter().map(|r| r.stream.name());
            let what = format!(
                "a program without command or stream; expected command = [\"program\", …] and stream, one of: {}",
                known.collect::<Vec<_>>().join(", ")
            );
            return Err(self.error_here(text, what));
        };
        let mut params = BTreeMap::new();
        for (name, item) in &self.params {
            params.insert(name.get_ref().clone(), item.get_ref().clone());
        }
        let is_file = |word: &&String| word.contains(['/', '.']);
        let file = self.command.iter().rev().find(is_file);
        let file = file.or(self.command.last()).cloned().unwrap_or_default();
        let stem = std::path::Path::new(&file).file_stem();
        let stem = stem.map_or_else(|| file.clone(), |stem| stem.to_string_lossy().into_owned());
        Ok(Variant {
            name: format!("command/{stem}"),
            shown: true,
            method: RepairMethod::Program(
                Program {
                    command: self.command.clone(),
                    params: Value::Table(params),
                    timeout_ms: self.timeout_ms.unwrap_or(10_000),
                    max_errors: u64::MAX,
                },
                stream,
            ),
        })
    }
}

fn variant_hash(repairer: &Repairer, params: &Params) -> String {
    let text = format!(
        "{} {} {}",
        repairer.name,
        repairer.version,
        changed_params(repairer, params)
    );
    let digest = Sha256::digest(text.as_bytes());
    digest.iter().take(4).map(|b| format!("{b:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_grid_is_read() {
        let RepairGrid { variants, refused } = RepairGrid::parse(DEFAULT_GRID).unwrap();
        // A mode that passes text on early cannot refuse parts of the text, so these cells are impossible.
        assert_eq!(refused, 6);
        assert!(variants.len() > 100, "{}", variants.len());
        let names: BTreeSet<&str> = variants.iter().map(|v| v.name.as_str()).collect();
        assert_eq!(names.len(), variants.len());
        assert!(names.contains("think/leading") && names.contains("tags/none"));
    }

    #[test]
    fn a_variant_is_read_again_from_its_table() {
        for variant in variants_of(DEFAULT_GRID) {
            if let RepairMethod::Builtin(_, params) = &variant.method {
                let toml = variant.toml();
                let mut again = variants_of(&toml).into_iter().map(|v| v.method);
                let same = |m| matches!(m, RepairMethod::Builtin(_, p) if p == *params);
                assert!(again.any(same), "{toml}");
            }
        }
    }

    fn variants_of(toml: &str) -> Vec<Variant> {
        RepairGrid::parse(toml).unwrap().variants
    }

    #[test]
    fn what_is_wrong_names_its_line() {
        let table = |name: &str, rest: &str| format!("[[repairer]]\nname = \"{name}\"\n{rest}");
        let params = |params: &str| table("tags", &format!("[repairer.params]\n{params}"));
        let meant = "4:1: unknown parameter \"edit\" of tags (did you mean \"edits\"?)";
        let preset = table("tags", "preset = \"x\"");
        for (text, said) in [
            (table("tag", ""), "2:8: no repairer \"tag\""),
            (params("edit = 1"), meant),
            (params("edits = [0, 9]"), "4:9: edits: 9"),
            (table("command", ""), "2:8: a program without"),
            (preset, "2:8: the repairer tags has no preset"),
            ("x = 1".to_owned(), "1:1: unknown field"),
            (String::new(), "1:1: no [[repairer]]"),
        ] {
            let error = RepairGrid::parse(&text).unwrap_err().to_string();
            assert!(error.starts_with(said), "{error}");
        }
    }
}
