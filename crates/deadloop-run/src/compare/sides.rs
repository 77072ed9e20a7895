//! Reads the sides BASE and NEW from folders, or replays them on a corpus.

use std::path::{Path, PathBuf};

use deadloop_detect::Settings;
use deadloop_replay::Plan;
use deadloop_score::{Evidence, JudgeOptions, Side};

use super::ComparisonOptions;
use crate::corpus::survey::SurveyRequest;
use crate::failure::{Code, RunResult};
use crate::host::Host;
use crate::option::{CORPUS, LIMIT, MODEL, SAMPLE, SET, SPLIT, WHERE};
use crate::replay::in_memory::replay_in_memory;
use crate::replay::notice::apply_noticed_faults;
use crate::settings::{SHIPPED, SettingsReader, all_presets};

/// A side as given by an argument.
enum SideInput {
    /// A result folder.
    Folder(PathBuf),
    /// The name of settings, and the settings.
    Settings(String, Box<Settings>),
}

/// Returns the sides BASE and NEW. Sides that are not folders are replayed in one pass.
pub(super) fn read_sides(args: &ComparisonOptions, host: &dyn Host) -> RunResult<(Side, Side)> {
    let base = resolve_input(&args.base, &[], host)?;
    let new = resolve_input(&args.new, &args.judge.set, host)?;
    let mut replayed = replay_sides(args, [&base, &new], host)?.into_iter();
    let mut side = |input: SideInput, wanted: Option<&str>| match input {
        SideInput::Folder(dir) => read_folder(&dir, wanted, args),
        SideInput::Settings(..) => replayed
            .next()
            .ok_or_else(|| Code::Unexpected.error("settings were not replayed")),
    };
    let base = side(base, args.base_setting.as_deref())?;
    Ok((base, side(new, args.new_setting.as_deref())?))
}

/// Resolves an argument, which is an existing path or the name of a preset.
fn resolve_input(path: &Path, set: &[String], host: &dyn Host) -> RunResult<SideInput> {
    if path.is_dir() {
        if set.is_empty() {
            return Ok(SideInput::Folder(path.into()));
        }
        let what = "changes a settings file, and NEW is a folder of results";
        return Err(Code::Usage.at(SET, format!("{}: {what}", set.join(", "))));
    }
    let name = path.display().to_string();
    let presets = all_presets()?;
    let is_preset = presets.iter().any(|(known, _)| *known == name);
    if path.is_file() || SHIPPED.contains(&name.as_str()) || is_preset && set.is_empty() {
        let settings = SettingsReader::new(host).settings(Some(path), set)?;
        return Ok(SideInput::Settings(name, Box::new(settings)));
    }
    Err(Code::Usage.error(if is_preset {
        format!("{SET} does not change a preset; write a settings file with preset = {name:?}")
    } else {
        format!("{name}: no such file or folder, and no preset of that name (deadloop detectors lists them)")
    }))
}

/// Reads the selected outcomes of a side from a result folder.
fn read_folder(dir: &Path, wanted: Option<&str>, args: &ComparisonOptions) -> RunResult<Side> {
    let select = &args.select;
    if !select.wheres.is_empty() || select.limit.is_some() || select.sample.is_some() {
        let what = format!(
            "results can be narrowed by {MODEL} and {SPLIT}; {WHERE}, {LIMIT} and {SAMPLE} are options of the replay"
        );
        return Err(Code::Usage.error(format!("{}: {what}", dir.display())));
    }
    let judge = args.judge.options();
    let asked = judge != JudgeOptions::default() || args.judge.chunks.is_some();
    let folders = args.base.is_dir() && args.new.is_dir();
    if asked && folders {
        let what = "was judged when it was replayed; give these options to replay";
        return Err(Code::Usage.error(format!("{}: {what}", dir.display())));
    }
    let mut side = Side::read(dir, wanted).map_err(|e| Code::Usage.because(e))?;
    let models = select.selection()?.models;
    let split = select.split.as_deref();
    let left = side.retain(|model, of| {
        let is_selected = models.is_empty() || models.iter().any(|glob| glob.is_match(model));
        is_selected && (split.is_none() || of == split)
    });
    if left == 0 {
        let what = "no transcript is selected";
        return Err(Code::NothingSelected.error(format!("{}: {what}", dir.display())));
    }
    Ok(side)
}

/// Replays the sides that are settings on the corpus, in one pass.
fn replay_sides(
    args: &ComparisonOptions,
    inputs: [&SideInput; 2],
    host: &dyn Host,
) -> RunResult<Vec<Side>> {
    let mut plan = Plan::default();
    let settings = inputs.into_iter().filter_map(|input| match input {
        SideInput::Folder(_) => None,
        SideInput::Settings(name, settings) => Some((name.as_str(), plan.add_settings(settings))),
    });
    let named: Vec<(&str, usize)> = settings.collect();
    let Some((first, _)) = named.first() else {
        return Ok(Vec::new());
    };
    let Some(corpus) = &args.corpus else {
        let what = format!("settings are compared on a corpus; name it with {CORPUS}");
        return Err(Code::Usage.error(format!("{first}: {what}")));
    };
    let wanted = SurveyRequest {
        selection: args.select.selection()?,
        ..SurveyRequest::all(corpus, host)
    };
    let (skips, chunks) = (args.select.skips(), args.judge.chunks);
    let (mut surveyed, records) = replay_in_memory(wanted, &plan, skips, chunks)?;
    apply_noticed_faults(&mut surveyed.cases, &plan);
    let evidence = Evidence::new(&plan, &surveyed.cases, &records)?;
    let judge = args.judge.options_for(&surveyed.cases)?;
    let source = corpus.display().to_string();
    let chunks = chunks.map(u64::from);
    let side =
        |(name, cell): &(&str, usize)| Side::new(&source, name, &evidence, *cell, judge, chunks);
    Ok(named.iter().map(side).collect())
}
