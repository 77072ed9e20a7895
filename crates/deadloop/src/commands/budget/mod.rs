//! `deadloop budget`: context budgets and turn limits on recorded runs.

use std::path::PathBuf;

use clap::Args;
use deadloop_replay::budget::{Budget as Setting, BudgetGrid, BudgetPreset, DEFAULT_GRID, presets};
use deadloop_run::Request;
use deadloop_run::budget::{Budgets, budget};
use serde::{Deserialize, Serialize};

mod tables;

use crate::args::{FolderArgs, GlobalArgs, SelectArgs};
use crate::exit::{Code, Outcome};
use crate::host::Terminal;
use crate::report_page::render;
use crate::requests::{bare_request, print_json, ran, recorded};
use crate::settings;
use crate::show;

pub(crate) const HELP: &str = "Examples:\n  deadloop budget recordings/ --out budgets\n  deadloop budget recordings/ --grid windows.toml --where meta.source=mine --out budgets\n\nThe command asks no model. It counts how often, when and how much is summarised, and not how good a summary is. A grid:\n  [[budget]]\n  [budget.params]\n  window    = [16000, 32000]\n  threshold = [0.5, 0.85]       # of the window; also keep, summary, reserve\n  cache     = [1, 0.1]          # the price of a prompt token that was at the same place before\n  policy    = \"summary\"         # or drop\n\nIt prints two tables and chooses nothing: how many runs overflow under each threshold and policy, and what the prompts of the others cost; how many healthy runs an iteration limit cuts, and how many loops it ends. budgets.parquet and limits.csv have each source.\n\nExit codes: 0, 2 wrong usage, 4 nothing selected.";

/// The arguments of `deadloop budget`.
#[derive(Debug, Args, Serialize, Deserialize)]
pub(crate) struct BudgetArgs {
    /// A corpus: a folder, or one .jsonl file
    #[serde(skip)]
    pub(crate) corpus: PathBuf,
    /// The settings, as a TOML file with budget tables [default: windows from 8k to 128k, thresholds from 0.5 to 0.95]
    #[arg(long, value_name = "FILE")]
    grid: Option<PathBuf>,
    /// The field by whose values rows are given [default: meta.source]
    #[arg(long, value_name = "FIELD")]
    pub(crate) by: Option<String>,
    #[command(flatten)]
    pub(crate) select: SelectArgs,
    #[command(flatten)]
    #[serde(flatten)]
    pub(crate) folder: FolderArgs,
    /// The folder of the results
    #[arg(long, value_name = "DIR", help_heading = "Writing")]
    #[serde(skip)]
    pub(crate) out: PathBuf,
}

pub(super) fn run(args: &BudgetArgs, global: GlobalArgs) -> Outcome {
    let (text, name) = match &args.grid {
        None => (DEFAULT_GRID.to_owned(), "the default grid".to_owned()),
        Some(path) => (settings::read(path)?, path.display().to_string()),
    };
    let grid = BudgetGrid::parse(&text).map_err(|e| Code::Usage.error(format!("{name}:{e}")))?;
    let named: Vec<&'static BudgetPreset> = presets().iter().collect();
    if args.grid.is_some() && !global.quiet {
        tell_remarks(&grid);
    }
    let host = Terminal::new(global);
    let by = [args.by.clone().unwrap_or_else(|| "meta.source".to_owned())];
    let request = Request {
        command: "budget",
        opens: false,
        by: &by,
        by_default: args.by.is_none(),
        csv: args.folder.csv,
        force: args.folder.force,
        read: args.grid.iter().map(PathBuf::as_path).collect(),
        grid: Some(text),
        asked: recorded("budget", args)?,
        ..bare_request(
            (&args.corpus, &args.out),
            (&args.select, &args.folder.sharded),
            &host,
        )?
    };
    let asked = Budgets {
        grid: &grid,
        presets: &named,
    };
    let Some(mut done) = ran(budget(&request, &asked)?, &request, global)? else {
        return Ok(());
    };
    let budgets = tables::budget_lines(&done.stages);
    let limits = tables::limit_lines(&done.limits);
    done.run.manifest.summary = tables::summary(&done, &budgets, &limits);
    let lines = tables::render(&done);
    done.run.finish(Ok(()), |folder, manifest| {
        render(folder, &deadloop_report::Options::default(), global)?;
        if global.json {
            return print_json(folder, manifest, global);
        }
        if global.quiet {
            return Ok(());
        }
        show::print(&lines)
    })
}

/// Prints remarks on the unsafe settings of a grid, once for each reason.
fn tell_remarks(grid: &BudgetGrid) {
    let mut said: Vec<(String, u64)> = Vec::new();
    let remarks = grid.budgets.iter().flat_map(Setting::remarks);
    for remark in remarks.map(|remark| remark.to_string()) {
        match said.iter_mut().find(|(known, _)| *known == remark) {
            Some((_, n)) => *n += 1,
            None => said.push((remark, 1)),
        }
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
