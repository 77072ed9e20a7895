//! The settings that `replay` compares, with their names in tables.

use std::path::{Path, PathBuf};

use deadloop_detect::harness::{Member, TextScope};
use deadloop_detect::{Response, Settings, Unit};

use crate::exit::Outcome;
use crate::settings;

/// The name in tables of a settings file or preset, and its settings.
pub(crate) type NamedSettings = (String, Settings);

/// Returns the settings of these files, or the recommended guard. `with_presets` adds all presets that read what the
/// first settings read: text or runs.
pub(crate) fn named_settings(
    (files, with_presets): (&[PathBuf], bool),
    (set, per): (&[String], Option<TextScope>),
) -> Outcome<Vec<NamedSettings>> {
    let stems: Vec<String> = files.iter().map(|file| stem(file)).collect();
    let label = |path: &PathBuf| {
        let stem = stem(path);
        let namesakes = stems.iter().filter(|other| **other == stem).count();
        name_with_changes(
            if namesakes > 1 {
                path.display().to_string()
            } else {
                stem
            },
            set,
        )
    };
    let file = |path: &PathBuf| Ok((label(path), settings::settings(Some(path), set)?));
    let mut named: Vec<NamedSettings> = files.iter().map(file).collect::<Outcome<_>>()?;
    if named.is_empty() {
        let name = name_with_changes("recommended".into(), set);
        named.push((name, settings::settings(None, set)?));
    }
    if with_presets {
        let first = reads(&named[0].1);
        let all = settings::all_presets()?.into_iter();
        let all = all.map(|(name, s)| (name, Settings::from_guard(s)));
        named.extend(all.filter(|(_, s)| reads(s).iter().zip(first).any(|(a, b)| *a && b)));
    }
    let read = named.into_iter().map(|(name, settings)| match per {
        None => (name, settings),
        Some(per) => (name, settings.read_per(per)),
    });
    Ok(read.flat_map(by_level).collect())
}

/// Returns whether a guard of these settings reads text (as a program may), and whether one reads runs.
fn reads(settings: &Settings) -> [bool; 2] {
    let others = settings.overrides().map(|(_, guard)| guard);
    let guards = others.chain([settings.guard()]);
    let units = guards.flat_map(|guard| guard.members.iter().map(Member::unit));
    units.fold([false, false], |[text, runs], unit| match unit {
        None | Some(Unit::Chars) => [true, runs],
        Some(_) => [text, true],
    })
}

/// Splits settings by level: stop, warn or observe. Each level is scored apart.
fn by_level((name, settings): NamedSettings) -> Vec<NamedSettings> {
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

/// Appends the changes of `--set` to a name.
fn name_with_changes(name: String, set: &[String]) -> String {
    match set {
        [] => name,
        _ => format!("{name} with {}", set.join(", ")),
    }
}

/// Returns the name of a settings file without its extension.
fn stem(path: &Path) -> String {
    path.file_stem()
        .unwrap_or(path.as_os_str())
        .to_string_lossy()
        .into_owned()
}
