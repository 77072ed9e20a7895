//! Settings and grids: from files, with `--set` applied, where every error names the file and the place;
//! and what deadloop ships.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use deadloop_corpus::ThinkRules;
use deadloop_detect::harness::{Detector, Per, meant, read_toml};
use deadloop_detect::{Setting, Settings, SettingsError, Unit};
use deadloop_replay::Grid;
use deadloop_replay::shipped::{self, recommended};
use serde::Deserialize;

use crate::exit::{Code, Failure, Outcome};
use crate::show;

/// A file of settings, `recommended` or the name of a preset; nothing named: the recommended guard.
pub(crate) fn settings(path: Option<&Path>, set: &[String]) -> Outcome<Settings> {
    Ok(settings_and_text(path, set)?.0)
}

/// Which guards of the settings are blind to what `stream` brings, and what is expected instead.
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

/// The same with its text, after `--set`.
pub(crate) fn settings_and_text(
    path: Option<&Path>,
    set: &[String],
) -> Outcome<(Settings, String)> {
    settings_in(path, set, Unit::Chars)
}

/// The same, where nothing is named the guards that are recommended where things are counted in `unit`.
pub(crate) fn settings_in(
    path: Option<&Path>,
    set: &[String],
    unit: Unit,
) -> Outcome<(Settings, String)> {
    let (name, text) = match path {
        Some(path) => (path.display().to_string(), text_of(path)?),
        None => ("the recommended guard".into(), recommended(unit)),
    };
    // Read as it is first: a mistake in the file is named at its own line.
    let settings = Settings::parse(&text).map_err(|e| bad(&name, &e))?;
    rules(&name, &text)?;
    if set.is_empty() {
        note_dead(&name, &settings);
        return Ok((settings, text));
    }
    let changed = changed(&text, set)?;
    let settings = Settings::parse(&changed)
        .map_err(|e| Code::Usage.error(format!("{name} with --set: {}", e.what)))?;
    note_dead(&name, &settings);
    Ok((settings, changed))
}

/// Names the checks that can never fire, in settings of which others can.
fn note_dead(name: &str, settings: &Settings) {
    let others = settings.overrides().map(|(_, guard)| guard);
    for member in others.chain([settings.guard()]).flat_map(|g| &g.members) {
        for dead in member.dead_checks() {
            let (detector, param) = (member.detector.name, dead.param);
            show::remark(format_args!("{name}: {detector}: {param}: {}", dead.reason));
        }
    }
}

/// The same with `--per`: detectors of text take that for one text in a run, and the text says so.
pub(crate) fn read_per(
    (settings, text): (Settings, String),
    per: Option<Per>,
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
                // Where it stood until 0.1.
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

/// The names under which deadloop's own guards are known: on text, and on runs of agents.
pub(crate) const SHIPPED: [&str; 2] = ["recommended", "recommended-agents"];

/// Their name and text, where things are counted in `unit`: what is for runs reads their text too.
pub(crate) fn recommended_name(unit: Unit) -> &'static str {
    SHIPPED[usize::from(unit != Unit::Chars)]
}

/// The text of a settings file. If no such file exists, the text of the recommended guard or preset of that name.
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
            meant(name, names.iter().copied().chain(SHIPPED)),
            SHIPPED.join(", "),
            names.join(", ")
        ))
        })
}

/// How the settings say that texts are split; as usual where they say nothing.
pub(crate) fn think(path: Option<&Path>) -> Outcome<ThinkRules> {
    match path {
        None => Ok(ThinkRules::default()),
        Some(path) => rules(&path.display().to_string(), &text_of(path)?),
    }
}

/// The rules of `[think]`. Who has no use for them refuses bad ones all the same: the file is one that production loads.
fn rules(name: &str, text: &str) -> Outcome<ThinkRules> {
    #[derive(Deserialize)]
    struct Wire {
        #[serde(default)]
        think: ThinkRules,
    }
    let wire: Wire = read_toml(text).map_err(|e| bad(name, &e))?;
    Ok(wire.think)
}

/// A grid file, with its text.
pub(crate) fn grid(path: &Path) -> Outcome<(Grid, String)> {
    let text = read(path)?;
    let grid = Grid::parse(&text).map_err(|e| bad(&path.display().to_string(), &e))?;
    Ok((grid, text))
}

/// Every preset of every detector, as a setting with a name.
pub(crate) fn all_presets() -> Outcome<Vec<(String, Setting)>> {
    shipped::all_presets().map_err(|e| Code::Unexpected.error(e))
}

/// What a merge reads instead of files: their texts as the shards read them.
static KEPT: OnceLock<BTreeMap<PathBuf, String>> = OnceLock::new();

/// From now on the texts of files are these.
pub(crate) fn keep(texts: &BTreeMap<PathBuf, String>) {
    KEPT.get_or_init(|| texts.clone());
}

fn is_there(path: &Path) -> bool {
    let kept = KEPT.get().map(|kept| kept.contains_key(path));
    kept.unwrap_or_else(|| path.exists())
}

/// The text of a file; in a merge that which the shards read.
pub(crate) fn read(path: &Path) -> Outcome<String> {
    if let Some(text) = KEPT.get().and_then(|kept| kept.get(path)) {
        return Ok(text.clone());
    }
    std::fs::read_to_string(path).map_err(|e| Code::Usage.error(format!("{}: {e}", path.display())))
}

fn bad(name: &str, error: &SettingsError) -> Failure {
    Code::Usage.error(format!("{name}:{error}"))
}

/// The text with each `path.to.key=value` put in. Where the path meets a list of tables, as
/// `guard`, every one of them is changed.
fn changed(text: &str, set: &[String]) -> Outcome<String> {
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

/// A TOML value, or a word that needs no quotes.
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
