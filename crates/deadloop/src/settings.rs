//! Settings and grids: from files, with `--set` applied, where every error names the file and the place;
//! and what deadloop ships.

use std::path::Path;

use deadloop_corpus::ThinkRules;
use deadloop_detect::{
    DETECTORS, Detector, Member, Params, Preset, RECOMMENDED, Setting, Settings, SettingsError,
    meant, presets,
};
use deadloop_replay::Grid;
use serde::Deserialize;

use crate::exit::{Code, Failure, Outcome};

/// A grid to start from, of every detector.
const GRIDS: [(&str, &str); 7] = [
    ("periodic", include_str!("grids/periodic.toml")),
    ("checkpoint", include_str!("grids/checkpoint.toml")),
    ("recurrence", include_str!("grids/recurrence.toml")),
    ("novelty", include_str!("grids/novelty.toml")),
    ("compression", include_str!("grids/compression.toml")),
    ("circling", include_str!("grids/circling.toml")),
    ("command", include_str!("grids/command.toml")),
];

/// Those of [`GRIDS`] that `tune` searches where no grid is named, the first ones: whoever circles is warned rather
/// than stopped, and a program is the user's own.
const SEARCHED: usize = 5;

/// The neighbours of the recommended guard, which `tune` searches first.
const RECOMMENDED_GRID: &str = include_str!("grids/recommended.toml");

/// The grid to start from for a detector, as TOML; empty for one that there is not.
pub(crate) fn grid_of(detector: &str) -> &'static str {
    let found = GRIDS.iter().find(|(name, _)| *name == detector);
    found.map_or("", |(_, text)| text)
}

/// A file of settings, `recommended` or the name of a preset; nothing named: the recommended guard.
pub(crate) fn settings(path: Option<&Path>, set: &[String]) -> Outcome<Settings> {
    Ok(settings_and_text(path, set)?.0)
}

/// The same with its text, after `--set`.
pub(crate) fn settings_and_text(
    path: Option<&Path>,
    set: &[String],
) -> Outcome<(Settings, String)> {
    let (name, text) = match path {
        Some(path) => (path.display().to_string(), text_of(path)?),
        None => ("the recommended guard".into(), RECOMMENDED.into()),
    };
    // Read as it stands first: a mistake in the file is named at its own line.
    let settings = Settings::parse(&text).map_err(|e| bad(&name, &e))?;
    if set.is_empty() {
        return Ok((settings, text));
    }
    let changed = changed(&text, set)?;
    let settings = Settings::parse(&changed)
        .map_err(|e| Code::Usage.error(format!("{name} with --set: {}", e.what)))?;
    Ok((settings, changed))
}

/// The tables of a settings file that are no guards, as TOML; empty where it has none.
pub(crate) fn without_guards(text: &str) -> Outcome<String> {
    let mut table: toml::Table = toml::from_str(text)?;
    for key in ["guard", "model", "deployment_loop_rate"] {
        table.remove(key);
    }
    Ok(match table.is_empty() {
        true => String::new(),
        false => format!("\n{}", toml::to_string(&table)?),
    })
}

/// The text of a file; where there is none of that name, of the recommended guard or a preset called so.
fn text_of(path: &Path) -> Outcome<String> {
    if path.exists() {
        return read(path);
    }
    let Some(name) = path
        .to_str()
        .filter(|name| !name.contains(['/', '\\', '.']))
    else {
        return read(path);
    };
    if name == "recommended" {
        return Ok(RECOMMENDED.into());
    }
    let presets = all_presets()?;
    let named = presets.iter().find(|(preset, _)| preset == name);
    named.map(|(_, setting)| setting.to_toml("guard")).ok_or_else(|| {
        let names: Vec<&str> = presets.iter().map(|(preset, _)| preset.as_str()).collect();
        Code::Usage.error(format!(
            "{name}: no such file and no such preset{}; expected a settings file, recommended, or one of {}",
            meant(name, names.iter().copied().chain(["recommended"])),
            names.join(", ")
        ))
    })
}

/// How the settings say that texts are split; as usual where they say nothing.
pub(crate) fn think(path: Option<&Path>) -> Outcome<ThinkRules> {
    #[derive(Deserialize)]
    struct Wire {
        #[serde(default)]
        think: ThinkRules,
    }
    let Some(path) = path else {
        return Ok(ThinkRules::default());
    };
    let text = text_of(path)?;
    let wire: Wire = toml::from_str(&text).map_err(|e| {
        let error = SettingsError::from_toml(&text, &e);
        bad(&path.display().to_string(), &error)
    })?;
    Ok(wire.think)
}

/// A grid file, with its text.
pub(crate) fn grid(path: &Path) -> Outcome<(Grid, String)> {
    let text = read(path)?;
    let grid = Grid::parse(&text).map_err(|e| bad(&path.display().to_string(), &e))?;
    Ok((grid, text))
}

/// The default grids, with their text.
pub(crate) fn default_grids() -> Outcome<(Vec<Grid>, String)> {
    let grid = |text: &&str| Grid::parse(text).map_err(|e| bad("a default grid", &e));
    let searched = GRIDS.iter().take(SEARCHED).map(|(_, text)| *text);
    let texts: Vec<&str> = std::iter::once(RECOMMENDED_GRID).chain(searched).collect();
    let grids = texts.iter().map(grid).collect::<Outcome<_>>()?;
    Ok((grids, texts.join("\n")))
}

/// Every preset of every detector, as a setting with a name.
pub(crate) fn all_presets() -> Outcome<Vec<(String, Setting)>> {
    let mut all = Vec::new();
    for detector in DETECTORS.iter().copied() {
        for preset in presets(detector).map_err(|e| Code::Unexpected.error(e))? {
            all.push((preset.name.clone(), preset_setting(detector, &preset)));
        }
    }
    Ok(all)
}

fn preset_setting(detector: &'static Detector, preset: &Preset) -> Setting {
    let mut params = Params::defaults(detector);
    preset
        .params
        .iter()
        .for_each(|(name, value)| params.set(name, value.clone()));
    Setting {
        members: vec![Member {
            detector,
            channel: None,
            params,
        }],
    }
}

fn read(path: &Path) -> Outcome<String> {
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
