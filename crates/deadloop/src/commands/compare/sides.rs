//! BASE and NEW: read from a folder, or replayed on a corpus.

use std::path::{Path, PathBuf};

use deadloop_detect::Settings;
use deadloop_replay::{Job, Plan, PlanGuards, Programs, RunError, run};
use deadloop_score::{Evidence, JudgeOptions, Side};

use super::CompareArgs;
use crate::args::GlobalArgs;
use crate::exit::{Code, Outcome};
use crate::host::Terminal;
use crate::settings;
use deadloop_run::replay::programs;
use deadloop_run::{CorpusSurvey, SurveyRequest, survey};
use deadloop_run::{notice, watched};

/// A side as named by an argument.
enum SideInput {
    /// A result folder.
    Folder(PathBuf),
    /// Settings, and their name.
    Settings(String, Box<Settings>),
}

/// Returns both sides. Sides that are not folders are replayed in one pass.
pub(crate) fn read_sides(args: &CompareArgs, global: GlobalArgs) -> Outcome<(Side, Side)> {
    let base = input(&args.base, &[])?;
    let new = input(&args.new, &args.judge.set)?;
    let mut replayed = run_both(args, [&base, &new], global)?.into_iter();
    let mut side = |input: SideInput, wanted: Option<&str>| match input {
        SideInput::Folder(dir) => folder(&dir, wanted, args),
        SideInput::Settings(..) => replayed
            .next()
            .ok_or_else(|| Code::Unexpected.error("settings were not replayed")),
    };
    let base = side(base, args.base_setting.as_deref())?;
    Ok((base, side(new, args.new_setting.as_deref())?))
}

/// Resolves a path that exists, or the name of a preset.
fn input(path: &Path, set: &[String]) -> Outcome<SideInput> {
    if path.is_dir() {
        let refuse = "changes a settings file, and NEW is a folder of results";
        return if set.is_empty() {
            Ok(SideInput::Folder(path.into()))
        } else {
            Err(Code::Usage.error(format!("--set {}: {refuse}", set.join(" --set "))))
        };
    }
    let name = path.display().to_string();
    let read = |settings| Ok(SideInput::Settings(name.clone(), Box::new(settings)));
    if path.is_file() {
        return read(settings::settings(Some(path), set)?);
    }
    if settings::SHIPPED.contains(&name.as_str()) {
        return read(settings::settings(Some(path), set)?);
    }
    let preset = settings::all_presets()?
        .into_iter()
        .find(|(known, _)| *known == name);
    match preset {
        Some((_, setting)) if set.is_empty() => read(Settings::from_guard(setting)),
        Some(_) => Err(Code::Usage.error(format!(
            "--set does not change a preset; write a settings file with preset = {name:?}"
        ))),
        None => Err(Code::Usage.error(format!(
            "{name}: no such file or folder, and no preset of that name (deadloop detectors lists them)"
        ))),
    }
}

/// Reads the selected rows of a side from a result folder.
fn folder(dir: &Path, wanted: Option<&str>, args: &CompareArgs) -> Outcome<Side> {
    let select = &args.select;
    if !select.wheres.is_empty() || select.limit.is_some() || select.sample.is_some() {
        let what = "results can be narrowed by --model and --split; --where, --limit and --sample are options of the replay";
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
        let meant = models.is_empty() || models.iter().any(|glob| glob.is_match(model));
        meant && (split.is_none() || of == split)
    });
    if left == 0 {
        let what = "no transcript is selected";
        return Err(Code::NothingSelected.error(format!("{}: {what}", dir.display())));
    }
    Ok(side)
}

/// Replays the sides that are settings on the corpus.
fn run_both(args: &CompareArgs, inputs: [&SideInput; 2], global: GlobalArgs) -> Outcome<Vec<Side>> {
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
        let what = "settings are compared on a corpus; name it with --corpus";
        return Err(Code::Usage.error(format!("{first}: {what}")));
    };
    let running = programs::start(&plan, &Terminal::new(global))?;
    let mut surveyed = survey(SurveyRequest {
        path: corpus,
        selection: args.select.selection()?,
        by: &[],
        entry: None,
        host: &Terminal::new(global),
    })?;
    notice(&mut surveyed.cases, &plan);
    surveyed.accept(args.select.skips(), &Terminal::new(global))?;
    let records = records(args, (&plan, &running, &surveyed), global)?;
    let evidence = Evidence::new(&plan, &surveyed.cases, &records)?;
    let judge = args.judge.options_for(&surveyed.cases)?;
    let chunks = args.judge.chunks.map(u64::from);
    let source = corpus.display().to_string();
    let side =
        |(name, cell): &(&str, usize)| Side::new(&source, name, &evidence, *cell, judge, chunks);
    Ok(named.iter().map(side).collect())
}

fn records(
    args: &CompareArgs,
    (plan, programs, surveyed): (&Plan, &Programs, &CorpusSurvey),
    global: GlobalArgs,
) -> Outcome<Vec<deadloop_replay::Record>> {
    let job = Job {
        corpus: &surveyed.corpus,
        ids: &surveyed.ids(),
        subject: &PlanGuards {
            plan,
            programs,
            chunks: args.judge.chunks,
        },
    };
    let ran = watched(&Terminal::new(global), "replaying", |watch| {
        run(&job, None, watch)
    });
    let ran = ran.map_err(|e| match e {
        RunError::Interrupted { .. } => Code::Interrupted.because(e),
        RunError::Changed(_) => Code::Usage.because(e),
        RunError::Journal(_) | RunError::Program(_) | RunError::Machine(_) => {
            Code::Unexpected.because(e)
        }
    })?;
    programs::tell_errors(&ran.records, &Terminal::new(global));
    Ok(ran.records)
}
