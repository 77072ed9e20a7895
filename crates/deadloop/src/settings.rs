//! Reads settings and grids from files, presets and `--set`.
//!
//! Every error names the file and the place.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use deadloop_corpus::ThinkRules;
use deadloop_detect::harness::{Detector, TextScope, did_you_mean, read_toml};
use deadloop_detect::{Setting, Settings, SettingsError, Unit};
use deadloop_replay::Grid;
use deadloop_replay::shipped::{self, recommended};
use serde::Deserialize;

use crate::exit::{Code, Failure, Outcome};
use crate::show;

/// Reads a settings file, `recommended` or the preset of a name. Without a path, returns the recommended guard.
pub(crate) fn settings(path: Option<&Path>, set: &[String]) -> Outcome<Settings> {
    Ok(settings_and_text(path, set)?.0)
}

/// Formats the error on guards that `stream` can never feed, with the alternative.
pub(crate) fn blind_words(stream: &str, blind: &[String], instead: &str) -> String {
    let guards = match blind {
        [_] => "a guard",
        _ => "some guards",
    };
    format!(
        "{stream} can never feed {guards}: {}; expected {instead}",
        blind.join("; ")
    )
}

/// Reads settings as [`settings`] does, and also returns their text after `--set`.
pub(crate) fn settings_and_text(
    path: Option<&Path>,
    set: &[String],
) -> Outcome<(Settings, String)> {
    settings_in(path, set, Unit::Chars)
}

/// Reads settings and their text. Without a path, returns the recommended guards for `unit`.
pub(crate) fn settings_in(
    path: Option<&Path>,
    set: &[String],
    unit: Unit,
) -> Outcome<(Settings, String)> {
    let (name, text) = match path {
        Some(path) => (path.display().to_string(), text_of(path)?),
        None => ("the recommended guard".into(), recommended(unit)),
    };
    // The file is parsed before `--set`, so that a mistake in it is named at its own line.
    let settings = Settings::parse(&text).map_err(|e| settings_failure(&name, &e))?;
    rules(&name, &text)?;
    if set.is_empty() {
        note_dead(&name, &settings);
        return Ok((settings, text));
    }
    let changed = apply_changes(&text, set)?;
    let settings = Settings::parse(&changed)
        .map_err(|e| Code::Usage.error(format!("{name} with --set: {}", e.what)))?;
    note_dead(&name, &settings);
    Ok((settings, changed))
}

/// Prints the checks of a setting that can never fire, although others can.
fn note_dead(name: &str, settings: &Settings) {
    let others = settings.overrides().map(|(_, guard)| guard);
    for member in others.chain([settings.guard()]).flat_map(|g| &g.members) {
        for dead in member.dead_checks() {
            let (detector, param) = (member.detector.name, dead.param);
            show::remark(format_args!("{name}: {detector}: {param}: {}", dead.reason));
        }
    }
}

/// Applies `--per` to settings and their text: sets the unit that text detectors take as one text in a run.
pub(crate) fn read_per(
    (settings, text): (Settings, String),
    per: Option<TextScope>,
) -> Outcome<(Settings, String)> {
    let Some(per) = per else {
        return Ok((settings, text));
    };
    let mut root: toml::Table = toml::from_str(&text)?;
    let reads_text = |table: &toml::Value| {
        let name = table.get("detector").and_then(toml::Value::as_str);
        name.and_then(Detector::find)
            .is_some_and(Detector::reads_text)
    };
    let all = |guards: Option<&mut toml::Value>| {
        let guards = guards.and_then(toml::Value::as_array_mut);
        for table in guards.into_iter().flatten().filter(|t| reads_text(t)) {
            if let Some(table) = table.as_table_mut() {
                // Older files have the key outside of `params`.
                table.remove("per");
            }
            put(table, &["params", "per"], &per.name().into());
        }
    };
    all(root.get_mut("guard"));
    let models = root.get_mut("model").and_then(toml::Value::as_array_mut);
    let models = models.into_iter().flatten();
    models.for_each(|model| all(model.get_mut("guard")));
    Ok((settings.read_per(per), toml::to_string(&root)?))
}

/// The names of deadloop's own guards: on text, and on runs of agents.
pub(crate) const SHIPPED: [&str; 2] = ["recommended", "recommended-agents"];

/// Returns the name of the recommended guard for `unit`. The guard for runs reads their text too.
pub(crate) fn recommended_name(unit: Unit) -> &'static str {
    SHIPPED[usize::from(unit != Unit::Chars)]
}

/// Returns the text of a settings file. If no such file exists, the text of the recommended guard or preset of that
/// name.
fn text_of(path: &Path) -> Outcome<String> {
    if path.is_dir() {
        // A folder of results stands for the settings that it holds.
        return read(&path.join("settings.toml"));
    }
    if is_there(path) {
        return read(path);
    }
    let Some(name) = path
        .to_str()
        .filter(|name| !name.contains(['/', '\\', '.']))
    else {
        return read(path);
    };
    let shipped = [Unit::Chars, Unit::Calls];
    if let Some(unit) = shipped
        .into_iter()
        .find(|unit| recommended_name(*unit) == name)
    {
        return Ok(recommended(unit));
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

/// Returns the rules by which the settings split texts, or the default rules.
pub(crate) fn think(path: Option<&Path>) -> Outcome<ThinkRules> {
    match path {
        None => Ok(ThinkRules::default()),
        Some(path) => rules(&path.display().to_string(), &text_of(path)?),
    }
}

/// Parses the rules of `[think]`. Callers that do not use them refuse bad ones too, because production loads the
/// file.
fn rules(name: &str, text: &str) -> Outcome<ThinkRules> {
    #[derive(Deserialize)]
    struct ThinkTable {
        #[serde(default)]
        think: ThinkRules,
    }
    let wire: ThinkTable = read_toml(text).map_err(|e| settings_failure(name, &e))?;
    Ok(wire.think)
}

/// Reads a grid file. Also returns its text.
pub(crate) fn grid(path: &Path) -> Outcome<(Grid, String)> {
    let text = read(path)?;
    let grid = Grid::parse(&text).map_err(|e| settings_failure(&path.display().to_string(), &e))?;
    Ok((grid, text))
}

/// Returns every preset of every detector, as a setting with a name.
pub(crate) fn all_presets() -> Outcome<Vec<(String, Setting)>> {
    shipped::all_presets().map_err(|e| Code::Unexpected.error(e))
}

/// The texts of files as the shards read them, which a merge uses in place of the files.
static KEPT: OnceLock<BTreeMap<PathBuf, String>> = OnceLock::new();

/// Sets the texts that replace files from now on.
pub(crate) fn keep(texts: &BTreeMap<PathBuf, String>) {
    KEPT.get_or_init(|| texts.clone());
}

fn is_there(path: &Path) -> bool {
    let kept = KEPT.get().map(|kept| kept.contains_key(path));
    kept.unwrap_or_else(|| path.exists())
}

/// Returns the text of a file. In a merge, returns the text that the shards read.
pub(crate) fn read(path: &Path) -> Outcome<String> {
    if let Some(text) = KEPT.get().and_then(|kept| kept.get(path)) {
        return Ok(text.clone());
    }
    let text = std::fs::read_to_string(path)
        .map_err(|e| Code::Usage.error(format!("{}: {e}", path.display())))?;
    // Some editors begin a file with a mark of its byte order, which must not stand inside a file that is written.
    Ok(text.trim_start_matches('\u{feff}').to_owned())
}

fn settings_failure(name: &str, error: &SettingsError) -> Failure {
    Code::Usage.error(format!("{name}:{error}"))
}

/// Returns the text with each `path.to.key=value` applied. If the path leads through a list of tables, such as `guard`,
/// every table is changed.
fn apply_changes(text: &str, set: &[String]) -> Outcome<String> {
    let mut root = toml::Value::Table(toml::from_str(text)?);
    for change in set {
        let wrong = |what: &str| Code::Usage.error(format!("--set {change}: {what}"));
        let (path, value) = change
            .split_once('=')
            .ok_or_else(|| wrong("expected guard.params.NAME=VALUE"))?;
        let keys: Vec<&str> = path.split('.').collect();
        if !put(&mut root, &keys, &value_of(value)) {
            return Err(wrong("there is no such place in the settings"));
        }
    }
    Ok(toml::to_string(&root)?)
}

/// Parses a TOML value, or a word that needs no quotes.
fn value_of(text: &str) -> toml::Value {
    let parsed = toml::from_str::<toml::Table>(&format!("x = {text}")).ok();
    let value = parsed.and_then(|mut table| table.remove("x"));
    value.unwrap_or_else(|| toml::Value::String(text.into()))
}

fn put(place: &mut toml::Value, keys: &[&str], value: &toml::Value) -> bool {
    match (place, keys) {
        (toml::Value::Array(items), _) => {
            let done = items
                .iter_mut()
                .map(|item| put(item, keys, value))
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
                .is_some_and(|inner| put(inner, rest, value))
        }
        _ => false,
    }
}
