//! `deadloop budget`: what budgets of context, and limits that ask, make of recorded runs.

use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use deadloop_replay::budget::{
    Budget as Setting, BudgetGrid, BudgetPreset, DEFAULT_GRID, preset, presets,
};

mod gather;
mod make;
mod shown;
mod told;

use gather::{Gathered, gather};
use make::{Made, make};

use crate::args::{Global, Select};
use crate::exit::{Code, Outcome};
use crate::host::Terminal;
use crate::show;
use deadloop_run::{Folder, State, fingerprint};

/// The help after the options.
pub(crate) const HELP: &str = "Examples:\n  deadloop budget recordings/ --out budgets\n  deadloop budget recordings/ --grid windows.toml --preset codex --where meta.source=mine --out budgets\n\nThe command asks no model. It counts how often, when and how much is summarised, and not how good a summary is. A grid:\n  [[budget]]\n  [budget.params]\n  window    = [16000, 32000]\n  threshold = [0.5, 0.85]       # of the window; also keep, summary, reserve\n  cache     = [1, 0.1]          # the price of a prompt token that was at the same place before\n  policy    = \"summary\"         # or drop, clear-results\n\nIt chooses threshold, keep and policy, among settings that keep no less than the one in use (the first --preset). Window, counter, tools, reserve and cache are given, and each combination of them gets a verdict. limits.csv has iteration limits: good_runs_cut counts the labelled runs that a limit stopped before a turn outside of loops.\n\nExit codes: 0 ship, decide or keep, 2 wrong usage, 4 nothing selected, 5 too little data, 6 no setting within the limit.";

/// What `deadloop budget` takes.
#[derive(Debug, Args)]
pub(crate) struct Budget {
    /// A corpus: a folder, or one .jsonl or .parquet file
    pub(crate) corpus: PathBuf,
    /// The settings, as a TOML file with budget tables [default: windows from 8k to 128k, thresholds from 0.5 to 0.95]
    #[arg(long, value_name = "FILE")]
    grid: Option<PathBuf>,
    /// A preset: service, copilot, claude-code, codex, gemini-cli, roo, goose, loom; may be
    /// repeated; the first is the one in use [default: all of them, with service in use]
    #[arg(long = "preset", value_name = "NAME")]
    presets: Vec<String>,
    /// The share of runs that may overflow [default: 0.01]
    #[arg(long, value_name = "SHARE", value_parser = share)]
    pub(crate) overflow: Option<f64>,
    /// Also choose among settings that keep less than the one in use, although forgetting has no price here
    #[arg(long)]
    pub(crate) forget: bool,
    /// The field by whose values rows are given
    #[arg(long, value_name = "FIELD", default_value = "meta.source")]
    pub(crate) by: String,
    /// The id of the run that the page draws [default: the one with the most summaries]
    #[arg(long, value_name = "ID")]
    pub(crate) run: Option<String>,
    #[command(flatten)]
    pub(crate) select: Select,
    /// Also budgets.csv
    #[arg(long)]
    pub(crate) csv: bool,
    /// Overwrite what is in the folder
    #[arg(long)]
    force: bool,
    /// Where the results go
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
}

fn share(text: &str) -> Result<f64, String> {
    let share = text.parse::<f64>().ok().filter(|x| (0.0..1.0).contains(x));
    share.ok_or_else(|| "expected a share from 0 to below 1, as 0.01".into())
}

pub(super) fn run(args: &Budget, global: Global) -> Outcome {
    let began = Instant::now();
    let text = grid_text(args)?;
    let grid = BudgetGrid::parse(&text).map_err(|e| {
        let name = args
            .grid
            .as_deref()
            .map_or("the default grid".into(), |p| p.display().to_string());
        Code::Usage.error(format!("{name}:{e}"))
    })?;
    let named: Vec<&'static BudgetPreset> = match args.presets.is_empty() {
        true => presets().iter().collect(),
        false => {
            let of = |name: &String| {
                preset(name).map_err(|e| Code::Usage.error(format!("--preset: {e}")))
            };
            args.presets.iter().map(of).collect::<Outcome<_>>()?
        }
    };
    let mut read = vec![args.corpus.as_path()];
    read.extend(args.grid.as_deref());
    let folder = Folder::prepare((&args.out, args.force), &read, &Terminal::of(global))?;
    if !global.quiet {
        tell_remarks(&grid, &named);
    }
    let found = gather(args, &grid.budgets, global)?;
    let inputs = fingerprint(&[
        format!("{} budget", env!("CARGO_PKG_VERSION")),
        found.surveyed.hash.clone(),
        text.clone(),
        format!(
            "{:?} {:?} {:?} {:?}",
            args.presets, args.overflow, args.by, args.select
        ),
        format!("{} {} {:?}", args.forget, args.csv, args.run),
    ]);
    if let State::Done(manifest) = folder.state(&inputs)? {
        return crate::replaying::already_done(&folder, &manifest, global);
    }
    found
        .surveyed
        .accept(args.select.skips(), &Terminal::of(global))?;
    found.has_turns()?;
    folder.begin()?;
    let made = make(&found, &grid, &named, args, &folder)?;
    finish(&found, made, &folder, (&inputs, &text, began), global)
}

fn grid_text(args: &Budget) -> Outcome<String> {
    match &args.grid {
        None => Ok(DEFAULT_GRID.to_owned()),
        Some(path) => std::fs::read_to_string(path)
            .map_err(|e| Code::Usage.error(format!("{}: {e}", path.display()))),
    }
}

/// What is unsafe in a setting is said when it is read, once for each reason.
fn tell_remarks(grid: &BudgetGrid, named: &[&'static BudgetPreset]) {
    let mut said: Vec<(String, u64)> = Vec::new();
    let mut count = |remark: String| match said.iter_mut().find(|(known, _)| *known == remark) {
        Some((_, n)) => *n += 1,
        None => said.push((remark, 1)),
    };
    for budget in &grid.budgets {
        budget
            .remarks()
            .iter()
            .for_each(|remark| count(remark.to_string()));
    }
    let world = grid.budgets.first().cloned().unwrap_or_default();
    for preset in named {
        let own: Setting = preset.within(&world);
        let remarks = own.remarks();
        remarks
            .iter()
            .for_each(|remark| count(format!("preset {}: {remark}", preset.name)));
    }
    for (remark, n) in said {
        show::remark(format_args!("{remark} ({})", show::several(n, "setting")));
    }
    for (reason, n) in &grid.refused {
        show::remark(format_args!(
            "left out: {reason} ({})",
            show::several(*n, "setting")
        ));
    }
}

/// Writes page and manifest, says it, and ends as the verdict says.
fn finish(
    found: &Gathered,
    made: Made,
    folder: &Folder,
    (inputs, grid, began): (&str, &str, Instant),
    global: Global,
) -> Outcome {
    found.surveyed.write_rejected(folder.path())?;
    let report = deadloop_report::budget::write(folder.path(), &made.page)?;
    let mut manifest = found.manifest(inputs, grid, &made);
    manifest.files = folder.files();
    manifest.seconds = began.elapsed().as_secs_f64();
    manifest.time = deadloop_run::now();
    manifest.write(folder.path())?;
    if global.json {
        crate::replaying::say(folder.path(), &manifest, global)?;
    } else {
        show::print(&made.told)?;
    }
    if !global.quiet {
        show::remark(format_args!("report: {}", report.display()));
    }
    show::next(
        &[&format!(
            "deadloop report {} --open",
            show::typed(folder.path())
        )],
        global,
    )?;
    match made.ended {
        Some(failure) => Err(failure),
        None => Ok(()),
    }
}
