//! [`budget`]: simulates context budgets and turn limits on recorded runs.
//!
//! | to find | look in |
//! |---|---|
//! | runs as lengths of their events | `CorpusRuns` |
//! | settings simulated on runs, stage by stage | `SweptStage` |

use std::path::PathBuf;

use deadloop_replay::budget::{Budget, BudgetGrid, BudgetPreset, DEFAULT_GRID, presets};
use deadloop_score::budget::{limit_grid, limit_rows, write_limits};

mod runs;
mod stages;
mod tables;

use runs::{CorpusRuns, LengthSubject};
use stages::{SweptStage, simulate_stages, write_rows};

use crate::failure::{Code, RunResult};
use crate::folder::answer::FolderAnswer;
use crate::host::Host;
use crate::options::{FolderOptions, OutputOptions, SelectionOptions};
use crate::replay::request::{Request, record};
use crate::replay::subject_run::{Answers, ask};
use crate::words::several;

options! {
    /// The options of a simulation of budgets.
    pub struct BudgetOptions {
        /// A corpus: a folder, or one .jsonl file
        #[serde(skip)]
        pub corpus: PathBuf,
        /// The settings, as a TOML file with budget tables [default: windows from 8k to 128k, thresholds from 0.5 to 0.95]
        #[arg(long, value_name = "FILE")]
        pub grid: Option<PathBuf>,
        /// The field by whose values rows are given [default: meta.source]
        #[arg(long, value_name = "FIELD")]
        pub by: Option<String>,
        /// The filters that select transcripts.
        #[command(flatten)]
        pub select: SelectionOptions,
        /// The options for the folder.
        #[command(flatten)]
        #[serde(flatten)]
        pub folder: FolderOptions,
        /// The folder of the results
        #[arg(long, value_name = "DIR", help_heading = "Writing")]
        #[serde(skip)]
        pub out: PathBuf,
    }
}

/// Measures the runs of a corpus, simulates every budget and turn limit on them, and writes the tables and the report.
///
/// # Errors
/// Returns an error if the grid is invalid, the corpus is not whole or has no run, the folder holds another result, or
/// the host stops it.
pub fn budget(options: &BudgetOptions, host: &dyn Host) -> RunResult<FolderAnswer> {
    let path = options.grid.as_deref();
    let (text, name) = options.folder.grid_text(path, DEFAULT_GRID, host)?;
    let grid = &BudgetGrid::parse(&text).map_err(|e| Code::Usage.error(format!("{name}:{e}")))?;
    if path.is_some() {
        notify_remarks(grid, host);
    }
    let presets: Vec<&'static BudgetPreset> = presets().iter().collect();
    let by = options.by.clone();
    let request = &Request {
        command: "budget",
        opens: false,
        select: options.select.clone(),
        output: OutputOptions {
            by: vec![by.unwrap_or_else(|| "meta.source".to_owned())],
            folder: options.folder.clone(),
            no_excerpts: false,
        },
        by_default: options.by.is_none(),
        read: path.into_iter().collect(),
        grid: Some(text),
        asked: record("budget", options)?,
        ..Request::new(&options.corpus, &options.out, host)
    };
    let names: Vec<&str> = presets.iter().map(|preset| preset.name.as_str()).collect();
    let more = vec![format!("{:?} {names:?}", request.grid)];
    ask(request, &LengthSubject, more)?.answer(request, |Answers { mut run, said }| {
        let runs = CorpusRuns::new(&run.surveyed.cases, said, &grid.budgets);
        if runs.limits.is_empty() {
            let of = several(runs.turnless, "transcript");
            let what = format!(
                "none of {of} has a turn; a budget applies to runs of agents (events `turn`, `tool_call`, `tool_result`, `user`)"
            );
            return Err(run.give_up(Code::NothingSelected.error(what)));
        }
        let stages = simulate_stages(&runs, (grid, presets.as_slice()), request.host)?;
        let dir = run.folder.path();
        run.manifest.cells = write_rows(&runs, &stages, dir, request.output.folder.csv)?;
        let limits = limit_rows(&runs.limits, &limit_grid());
        write_limits(dir, &limits)?;
        run.sum_up(tables::summary_json(&runs, &stages, &limits));
        let text = tables::format_text(&runs, &stages, &run.manifest.summary);
        run.finish(Ok(()), text, host)
    })
}

/// Notifies the host of the unsafe settings of a grid, once for each reason.
fn notify_remarks(grid: &BudgetGrid, host: &dyn Host) {
    let mut said: Vec<(String, u64)> = Vec::new();
    let remarks = grid.budgets.iter().flat_map(Budget::remarks);
    for remark in remarks.map(|remark| remark.to_string()) {
        match said.iter_mut().find(|(known, _)| *known == remark) {
            Some((_, n)) => *n += 1,
            None => said.push((remark, 1)),
        }
    }
    for (remark, n) in said {
        host.notify(&format!("{remark} ({})", several(n, "setting")));
    }
    for (reason, n) in &grid.refused {
        host.notify(&format!("left out: {reason} ({})", several(*n, "setting")));
    }
}
