//! `deadloop budget`: what budgets of context, and limits that ask, make of recorded runs.

use std::path::PathBuf;

use clap::Args;
use deadloop_replay::budget::{
    Budget as Setting, BudgetGrid, BudgetPreset, DEFAULT_GRID, preset, presets,
};
use deadloop_run::Request;
use deadloop_run::budgets::{BudgetRun, BudgetWorld, Budgets, budget};
use deadloop_score::Ruling;
use deadloop_score::budget::BudgetPrice;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

mod shown;
mod told;

use shown::page;

use crate::args::{Global, Select, Sharded};
use crate::exit::{Code, Failure, Outcome};
use crate::host::Terminal;
use crate::replaying::{bare_request, ran, say};
use crate::settings;
use crate::show;

pub(crate) const HELP: &str = "Examples:\n  deadloop budget recordings/ --out budgets\n  deadloop budget recordings/ --grid windows.toml --preset codex --where meta.source=mine --out budgets\n\nThe command asks no model. It counts how often, when and how much is summarised, and not how good a summary is. A grid:\n  [[budget]]\n  [budget.params]\n  window    = [16000, 32000]\n  threshold = [0.5, 0.85]       # of the window; also keep, summary, reserve\n  cache     = [1, 0.1]          # the price of a prompt token that was at the same place before\n  policy    = \"summary\"         # or drop, clear-results\n\nIt chooses threshold, keep and policy, among settings that keep no less than the one in use (the first --preset). Window, counter, tools, reserve and cache are given, and each combination of them gets a verdict. limits.csv has iteration limits: good_runs_cut counts the labelled runs that a limit stopped before a turn outside of loops.\n\nExit codes: 0 ship, decide or keep, 2 wrong usage, 4 nothing selected, 5 too little data, 6 no setting within the limit.";

/// What `deadloop budget` takes.
#[derive(Debug, Args, Serialize, Deserialize)]
pub(crate) struct Budget {
    /// A corpus: a folder, or one .jsonl or .parquet file
    #[serde(skip)]
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
    #[serde(skip)]
    pub(crate) force: bool,
    #[command(flatten)]
    #[serde(skip)]
    pub(crate) sharded: Sharded,
    /// Where the results go
    #[arg(long, value_name = "DIR")]
    #[serde(skip)]
    pub(crate) out: PathBuf,
}

fn share(text: &str) -> Result<f64, String> {
    let share = text.parse::<f64>().ok().filter(|x| (0.0..1.0).contains(x));
    share.ok_or_else(|| "expected a share from 0 to below 1, as 0.01".into())
}

pub(super) fn run(args: &Budget, global: Global) -> Outcome {
    let (text, name) = match &args.grid {
        None => (DEFAULT_GRID.to_owned(), "the default grid".to_owned()),
        Some(path) => (settings::read(path)?, path.display().to_string()),
    };
    let grid = BudgetGrid::parse(&text).map_err(|e| Code::Usage.error(format!("{name}:{e}")))?;
    let named = named(&args.presets)?;
    if !global.quiet {
        tell_remarks(&grid, &named);
    }
    let host = Terminal::of(global);
    let by = [args.by.clone()];
    let request = Request {
        command: "budget",
        opens: false,
        by: &by,
        csv: args.csv,
        force: args.force,
        read: args.grid.iter().map(PathBuf::as_path).collect(),
        inputs: vec![format!("{:?}", args.run)],
        grid: Some(text),
        asked: json!({"budget": args}),
        ..bare_request(
            (&args.corpus, &args.out),
            (&args.select, &args.sharded),
            &host,
        )?
    };
    let asked = Budgets {
        grid: &grid,
        presets: &named,
        overflow: args.overflow,
        forget: args.forget,
    };
    match ran(budget(&request, &asked)?, &request, global)? {
        Some(run) => finish(*run, args, global),
        None => Ok(()),
    }
}

/// The presets of these names; all, where none is named.
fn named(names: &[String]) -> Outcome<Vec<&'static BudgetPreset>> {
    if names.is_empty() {
        return Ok(presets().iter().collect());
    }
    let of = |name: &String| preset(name).map_err(|e| Code::Usage.error(format!("--preset: {e}")));
    names.iter().map(of).collect()
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
fn finish(mut done: BudgetRun, args: &Budget, global: Global) -> Outcome {
    let report = deadloop_report::budget::write(done.run.folder.path(), &page(&done, args))?;
    done.run.manifest.summary = summary(&done.worlds, done.ruling);
    let ended = ended(&done).map_or(Ok(()), Err);
    let said = told::told(&done);
    done.run.finish(ended, |folder, manifest| {
        if global.json {
            say(folder, manifest, global)?;
        } else {
            show::print(&said)?;
        }
        if !global.quiet {
            show::remark(format_args!("report: {}", report.display()));
        }
        let next = format!("deadloop report {} --open", show::typed(folder));
        show::next(&[&next], global)
    })
}

/// How the command ends, where it is not well.
fn ended(done: &BudgetRun) -> Option<Failure> {
    let of = done.worlds.iter();
    let one = of.into_iter().find(|one| one.advice.ruling == done.ruling);
    let reason = one.map_or(String::new(), |one| one.advice.reason.clone());
    match done.ruling {
        Ruling::None => Some(Code::Infeasible.error(reason)),
        Ruling::Collect => Some(Code::TooLittle.error(reason)),
        Ruling::Ship | Ruling::Decide | Ruling::Keep => None,
    }
}

/// What `--json` says.
fn summary(worlds: &[BudgetWorld], ruling: Ruling) -> Map<String, Value> {
    let setting = |one: &BudgetWorld, play: usize| {
        let budget = one.setting(play);
        let params: Map<String, Value> = budget
            .columns()
            .into_iter()
            .map(|(name, value)| (name.to_owned(), json!(value)))
            .collect();
        json!({"id": budget.id(), "names": one.called(play), "params": params})
    };
    let world = |one: &BudgetWorld| {
        let a = &one.advice;
        json!({
            "window": one.known.stage.never.window, "cache": one.cache,
            "counter": one.known.stage.never.counter.name(), "tools": one.known.stage.never.tools,
            "reserve": one.known.stage.never.reserve,
            "verdict": a.ruling.name(), "reason": a.reason,
            "in_use": setting(one, a.in_use),
            "candidate": a.candidate.map(|play| setting(one, play)),
            "saved_points": a.figures.difference.map(|_| a.figures.points()),
            "saved_points_80": a.figures.interval_points(),
            "overflow": {"candidate": a.overflow[0], "in_use": a.overflow[1], "runs": a.overflow[2]},
            "prices": a.prices.iter().map(|price| price_json(one, price)).collect::<Vec<_>>(),
        })
    };
    let mut summary = Map::new();
    summary.insert("verdict".into(), ruling.name().into());
    let reasons = worlds.iter().filter(|one| one.advice.ruling == ruling);
    let reason = reasons.map(|one| one.advice.reason.clone()).next();
    summary.insert("reason".into(), reason.unwrap_or_default().into());
    summary.insert("worlds".into(), worlds.iter().map(world).collect());
    summary
}

fn price_json(one: &BudgetWorld, price: &BudgetPrice) -> Value {
    let budget = one.setting(price.play);
    json!({
        "at_most": price.at_most, "setting": budget.id(), "threshold": budget.threshold, "keep": budget.keep,
        "policy": budget.policy.name(), "overflow": price.overflow, "cost": price.cost,
        "held_out_overflow": price.held_out_overflow, "overflow_lo": price.lo, "overflow_hi": price.hi,
        "held_out_cost": price.held_out_cost, "is": one.called(price.play),
    })
}
