//! [`SettingsReader`]: reads settings and grids from files, presets and changes of single parameters.
//!
//! Every error names the file and the position in it.

use std::path::{Path, PathBuf};

use deadloop_corpus::ThinkRules;
use deadloop_detect::harness::{Detector, Member, TextScope, did_you_mean, read_toml};
use deadloop_detect::{Response, Setting, Settings, SettingsError, Unit};
use deadloop_replay::Grid;
use deadloop_replay::shipped::{self, recommended};
use serde::Deserialize;

use crate::failure::{Code, Failure, RunResult};
use crate::host::Host;
use crate::option::SET;
use crate::options::{FolderOptions, JudgingOptions};
use crate::shards::ShardParts;

/// Settings, and their name in tables.
pub type NamedSettings = (String, Settings);

/// The names of the recommended guards, on text and on runs of agents.
pub const SHIPPED: [&str; 2] = ["recommended", "recommended-agents"];

/// A reader of settings and grids. In a merge, it returns the texts that the shards read, in place of the files.
#[derive(Clone, Copy)]
pub struct SettingsReader<'a> {
    host: &'a dyn Host,
    parts: Option<&'a ShardParts>,
}

impl<'a> SettingsReader<'a> {
    /// Creates a reader of files. The host is notified of checks that can never fire.
    pub fn new(host: &'a dyn Host) -> Self {
        Self { host, parts: None }
    }

    /// Creates a reader for a command that may merge parts.
    pub fn of_folder(folder: &'a FolderOptions, host: &'a dyn Host) -> Self {
        let parts = folder.parts.as_deref();
        Self { host, parts }
    }

    /// Reads a settings file, `recommended` or a preset by its name. Without a path, returns the recommended guard.
    /// `set` lists changes of parameters, as `guard.params.NAME=VALUE`.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read, its settings are bad, or a change names no parameter.
    pub fn settings(&self, path: Option<&Path>, set: &[String]) -> RunResult<Settings> {
        Ok(self.settings_in(path, set, Unit::Chars, None)?.0)
    }

    /// Reads settings like [`settings`](Self::settings), and also returns their text. Without a path, returns the
    /// recommended guards for `unit`. `per` sets what text detectors take as one text in a run.
    ///
    /// # Errors
    /// Returns the errors of [`settings`](Self::settings).
    pub fn settings_in(
        &self,
        path: Option<&Path>,
        set: &[String],
        unit: Unit,
        per: Option<TextScope>,
    ) -> RunResult<(Settings, String)> {
        let (name, text) = match path {
            Some(path) => (path.display().to_string(), self.settings_text(path)?),
            None => ("the recommended guard".into(), recommended(unit)),
        };
        // The file is parsed before it is changed, so that a mistake in it is reported at its own line.
        let mut settings = Settings::parse(&text).map_err(|e| settings_failure(&name, &e))?;
        think_rules(&name, &text)?;
        let changed = if set.is_empty() {
            text
        } else {
            let changed = apply_changes(&text, set)?;
            settings = Settings::parse(&changed)
                .map_err(|e| Code::Usage.error(format!("{name} with {SET}: {}", e.what)))?;
            changed
        };
        for dead in all_guards(&settings).flat_map(|g| &g.members) {
            for check in dead.dead_checks() {
                let (detector, param) = (dead.detector.name, check.param);
                let why = check.reason;
                self.host
                    .notify(&format!("{name}: {detector}: {param}: {why}"));
            }
        }
        match per {
            None => Ok((settings, changed)),
            Some(per) => Ok((settings.read_per(per), set_text_scope(&changed, per)?)),
        }
    }

    /// Returns the settings of these files, or the recommended guard, each with its name in tables. `with_presets` adds
    /// all presets that read the same kind of input as the first settings, which is text or runs. Settings with several
    /// levels are split by level.
    ///
    /// # Errors
    /// Returns the errors of [`settings`](Self::settings).
    pub fn named(
        &self,
        files: &[PathBuf],
        with_presets: bool,
        judging: &JudgingOptions,
    ) -> RunResult<Vec<NamedSettings>> {
        let set = &judging.set[..];
        let changes = match set {
            [] => String::new(),
            set => format!(" with {}", set.join(", ")),
        };
        let stems: Vec<String> = files.iter().map(|file| file_stem(file)).collect();
        let label = |path: &PathBuf| {
            let stem = file_stem(path);
            let namesakes = stems.iter().filter(|other| **other == stem).count();
            let name = if namesakes > 1 {
                path.display().to_string()
            } else {
                stem
            };
            name + &changes
        };
        let file = |path: &PathBuf| Ok((label(path), self.settings(Some(path), set)?));
        let mut named: Vec<NamedSettings> = files.iter().map(file).collect::<RunResult<_>>()?;
        if named.is_empty() {
            named.push((
                format!("{}{changes}", SHIPPED[0]),
                self.settings(None, set)?,
            ));
        }
        if with_presets {
            let first = input_kinds(&named[0].1);
            let all = all_presets()?.into_iter();
            let all = all.map(|(name, s)| (name, Settings::from_guard(s)));
            named.extend(
                all.filter(|(_, s)| input_kinds(s).iter().zip(first).any(|(a, b)| *a && b)),
            );
        }
        let read = named.into_iter().map(|(name, settings)| match judging.per {
            None => (name, settings),
            Some(per) => (name, settings.read_per(per)),
        });
        Ok(read.flat_map(split_by_level).collect())
    }

    /// Reads a grid file. Also returns its text.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read or is no grid.
    pub fn grid(&self, path: &Path) -> RunResult<(Grid, String)> {
        let text = self.text(path)?;
        let grid =
            Grid::parse(&text).map_err(|e| settings_failure(&path.display().to_string(), &e))?;
        Ok((grid, text))
    }

    /// Returns the rules by which the settings separate thinking from the answer, or the default rules.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read or its rules are bad.
    pub fn think(&self, path: Option<&Path>) -> RunResult<ThinkRules> {
        match path {
            None => Ok(ThinkRules::default()),
            Some(path) => think_rules(&path.display().to_string(), &self.settings_text(path)?),
        }
    }

    /// Returns the text of a file.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read.
    pub fn text(&self, path: &Path) -> RunResult<String> {
        let text = match self.parts.and_then(|parts| parts.read().get(path)) {
            Some(text) => text.clone(),
            None => std::fs::read_to_string(path)
                .map_err(|e| Code::Usage.error(format!("{}: {e}", path.display())))?,
        };
        // Some editors put a byte order mark at the start of a file. It must not get into a file that contains this
        // text.
        Ok(text.trim_start_matches('\u{feff}').to_owned())
    }

    /// Returns the text of a settings file, or else of the recommended guard or preset with this name.
    fn settings_text(&self, path: &Path) -> RunResult<String> {
        if path.is_dir() {
            // A result folder is read as the settings that it holds.
            return self.text(&path.join("settings.toml"));
        }
        let is_there = match self.parts {
            Some(parts) => parts.read().contains_key(path),
            None => path.exists(),
        };
        let name = path
            .to_str()
            .filter(|name| !is_there && !name.contains(['/', '\\', '.']));
        let Some(name) = name else {
            return self.text(path);
        };
        if let Some(place) = SHIPPED.iter().position(|shipped| *shipped == name) {
            return Ok(recommended([Unit::Chars, Unit::Calls][place]));
        }
        let presets = all_presets()?;
        let named = presets.iter().find(|(preset, _)| preset == name);
        named
            .map(|(_, setting)| setting.to_toml("guard"))
            .ok_or_else(|| {
                let names: Vec<&str> = presets.iter().map(|(preset, _)| preset.as_str()).collect();
                Code::Usage.error(format!(
                    "{name}: no such file and no such preset{}; expected a settings file, {}, or one of {}",
                    did_you_mean(name, names.iter().copied().chain(SHIPPED)),
                    SHIPPED.join(", "),
                    names.join(", ")
                ))
            })
    }
}

/// Returns all guards of settings: those of particular models, then the one of all other models.
fn all_guards(settings: &Settings) -> impl Iterator<Item = &Setting> {
    let others = settings.overrides().map(|(_, guard)| guard);
    others.chain([settings.guard()])
}

/// Returns whether a guard of these settings reads text, and whether one reads runs. A program counts as reading text.
fn input_kinds(settings: &Settings) -> [bool; 2] {
    let units = all_guards(settings).flat_map(|guard| guard.members.iter().map(Member::unit));
    units.fold([false, false], |[text, runs], unit| match unit {
        None | Some(Unit::Chars) => [true, runs],
        Some(_) => [text, true],
    })
}

/// Splits settings by level (stop, warn or observe), since each level is scored separately.
fn split_by_level((name, settings): NamedSettings) -> Vec<NamedSettings> {
    let levels = settings.levels();
    if levels.len() < 2 {
        return vec![(name, settings)];
    }
    let named = |(level, part): (Response, Settings)| match level {
        Response::Stop => (name.clone(), part),
        other => (format!("{name} ({})", other.name()), part),
    };
    levels.into_iter().map(named).collect()
}

/// Returns the name of a settings file without its extension.
fn file_stem(path: &Path) -> String {
    let stem = path.file_stem().unwrap_or(path.as_os_str());
    stem.to_string_lossy().into_owned()
}

/// Returns every preset of every detector, as a setting with its name.
///
/// # Errors
/// Returns an error if a preset is broken, which is a bug.
pub fn all_presets() -> RunResult<Vec<(String, Setting)>> {
    shipped::all_presets().map_err(|e| Code::Unexpected.error(e))
}

/// Returns the text of settings in which text detectors take `per` as one text in a run.
fn set_text_scope(text: &str, per: TextScope) -> RunResult<String> {
    let mut root: toml::Table = toml::from_str(text)?;
    let reads_text = |table: &toml::Value| {
        let name = table.get("detector").and_then(toml::Value::as_str);
        name.and_then(Detector::find)
            .is_some_and(Detector::reads_text)
    };
    let set_scope = |guards: Option<&mut toml::Value>| {
        let guards = guards.and_then(toml::Value::as_array_mut);
        for table in guards.into_iter().flatten().filter(|t| reads_text(t)) {
            if let Some(table) = table.as_table_mut() {
                // Older files have the key outside of `params`.
                table.remove("per");
            }
            set_value(table, &["params", "per"], &per.name().into());
        }
    };
    set_scope(root.get_mut("guard"));
    let models = root.get_mut("model").and_then(toml::Value::as_array_mut);
    let models = models.into_iter().flatten();
    models.for_each(|model| set_scope(model.get_mut("guard")));
    Ok(toml::to_string(&root)?)
}

/// Parses the rules of `[think]`. Callers that do not use the rules still reject bad ones, because production loads the
/// file.
fn think_rules(name: &str, text: &str) -> RunResult<ThinkRules> {
    #[derive(Deserialize)]
    struct ThinkTable {
        #[serde(default)]
        think: ThinkRules,
    }
    let wire: ThinkTable = read_toml(text).map_err(|e| settings_failure(name, &e))?;
    Ok(wire.think)
}

fn settings_failure(name: &str, error: &SettingsError) -> Failure {
    Code::Usage.error(format!("{name}:{error}"))
}

/// Returns the text with each change `path.to.key=value` applied. If the path leads through a list of tables, such as
/// `guard`, every table is changed.
fn apply_changes(text: &str, set: &[String]) -> RunResult<String> {
    let mut root = toml::Value::Table(toml::from_str(text)?);
    for change in set {
        let wrong = |what: &str| Code::Usage.at(SET, format!("{change}: {what}"));
        let (path, value) = change
            .split_once('=')
            .ok_or_else(|| wrong("expected guard.params.NAME=VALUE"))?;
        let keys: Vec<&str> = path.split('.').collect();
        if !set_value(&mut root, &keys, &parse_value(value)) {
            return Err(wrong("there is no such place in the settings"));
        }
    }
    Ok(toml::to_string(&root)?)
}

/// Parses a TOML value, or a string without quotes.
fn parse_value(text: &str) -> toml::Value {
    let parsed = toml::from_str::<toml::Table>(&format!("x = {text}")).ok();
    let value = parsed.and_then(|mut table| table.remove("x"));
    value.unwrap_or_else(|| toml::Value::String(text.into()))
}

/// Sets the value at a path of keys below `place`. Returns `false` if the path does not exist.
fn set_value(place: &mut toml::Value, keys: &[&str], value: &toml::Value) -> bool {
    match (place, keys) {
        (toml::Value::Array(items), _) => {
            let done = items
                .iter_mut()
                .map(|item| set_value(item, keys, value))
                .filter(|done| *done);
            done.count() > 0
        }
        (toml::Value::Table(table), [last]) => {
            table.insert((*last).into(), value.clone());
            true
        }
        (toml::Value::Table(table), [first, rest @ ..]) => {
            if *first == "params" && !table.contains_key(*first) {
                table.insert("params".into(), toml::Value::Table(toml::Table::new()));
            }
            table
                .get_mut(*first)
                .is_some_and(|inner| set_value(inner, rest, value))
        }
        _ => false,
    }
}
