//! [`budget`]: context budgets and turn limits, simulated on recorded runs.
//!
//! | to find | look in |
//! |---|---|
//! | runs without their texts, and their measures | [`CorpusRuns`] |
//! | settings swept over runs, window by window | [`SweptStage`] |

use deadloop_replay::budget::{BudgetGrid, BudgetPreset};
use deadloop_score::Case;
use deadloop_score::budget::{LimitRow, limit_grid, limit_rows, write_limits};

mod runs;
mod stages;

pub use runs::CorpusRuns;
use runs::LengthSubject;
pub use stages::SweptStage;
use stages::{stages, write_rows};

use crate::failure::{Code, RunResult};
use crate::replay::RunOutcome;
use crate::replay::request::Request;
use crate::replay::subject_run::{AnsweredRun, Answers, ask};
use crate::words::several;

/// The budgets to simulate.
pub struct Budgets<'a> {
    /// The settings.
    pub grid: &'a BudgetGrid,
    /// The presets, simulated in every window.
    pub presets: &'a [&'static BudgetPreset],
}

/// The finished simulation of budgets on a corpus, with its tables written.
pub struct BudgetRun {
    /// The folder, the surveyed corpus and the manifest.
    pub run: AnsweredRun<Vec<Case>>,
    /// The runs.
    pub runs: CorpusRuns,
    /// The settings by stage, with their counts.
    pub stages: Vec<SweptStage>,
    /// The effect of each limit on turns.
    pub limits: Vec<LimitRow>,
}

/// Measures the runs of a corpus, simulates every budget and limit on them, and writes the tables.
///
/// # Errors
/// Returns an error if the corpus is not whole or has no run, the folder holds another result, or the host stops it.
pub fn budget(request: &Request<'_>, asked: &Budgets<'_>) -> RunResult<RunOutcome<BudgetRun>> {
    let Budgets { grid, presets } = *asked;
    let names: Vec<&str> = presets.iter().map(|preset| preset.name.as_str()).collect();
    let more = vec![format!("{:?} {names:?}", request.grid)];
    ask(request, &LengthSubject, more)?.then(|Answers { mut run, said }| {
        let runs = CorpusRuns::new(&run.surveyed.cases, said, &grid.budgets);
        if runs.limits.is_empty() {
            let of = several(runs.turnless, "transcript");
            let what = format!(
                "none of {of} has a turn; a budget applies to runs of agents (events `turn`, `tool_call`, `tool_result`, `user`)"
            );
            return Err(run.given_up(Code::NothingSelected.error(what)));
        }
        let stages = stages(&runs, (grid, presets), request.host)?;
        let dir = run.folder.path();
        run.manifest.cells = write_rows(&runs, &stages, dir, request.csv)?;
        let limits = limit_rows(&runs.limits, &limit_grid());
        write_limits(dir, &limits)?;
        Ok(BudgetRun {
            run,
            runs,
            stages,
            limits,
        })
    })
}
