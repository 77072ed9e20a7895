//! [`budget`]: budgets of context over recorded runs, into a folder, one chosen in each world under a limit on overflow.
//!
//! | to find | look in |
//! |---|---|
//! | runs without their texts, and how they are measured | [`Runs`] |
//! | settings swept and chosen: a world is a window at a price of cached tokens | [`BudgetWorld`] |

use deadloop_detect::Unit;
use deadloop_replay::budget::{BudgetGrid, BudgetPreset};
use deadloop_score::budget::{
    BudgetOptions, LimitRow, limit_grid, limit_rows, write_budget_runs, write_limits,
};
use deadloop_score::{About, Case, JudgeOptions, Resampling, Ruling, write_cases};

mod runs;
mod worlds;

use runs::Measured;
pub use runs::Runs;
pub use worlds::{BudgetWorld, SweptStage};
use worlds::{described, judged, run_rows, stages, together, write_rows};

use crate::asking::{Answered, Answers, ask};
use crate::failure::{Code, RunResult};
use crate::replay::Done;
use crate::request::Request;
use crate::words::several;

/// The share of runs that may overflow where nothing is said.
const LIMIT: f64 = 0.01;

/// Which budgets are played, and what is chosen among them.
pub struct Budgets<'a> {
    /// The settings.
    pub grid: &'a BudgetGrid,
    /// Settings with a name, played in every window; the first is the one in use.
    pub presets: &'a [&'static BudgetPreset],
    /// The share of runs that may overflow; `None`: one in a hundred.
    pub overflow: Option<f64>,
    /// Whether a setting may be chosen that keeps less than the one in use.
    pub forget: bool,
}

/// Budgets that were played over a corpus, their tables written: everything but what is drawn from them.
pub struct BudgetRun {
    /// The folder, the corpus as it was looked through, and what the folder will say of the run.
    pub run: Answered<Vec<Case>>,
    /// The runs.
    pub runs: Runs,
    /// Every window at every price of cached tokens, with its verdict.
    pub worlds: Vec<BudgetWorld>,
    /// The verdict of all worlds together.
    pub ruling: Ruling,
    /// What limits on turns do.
    pub limits: Vec<LimitRow>,
    /// What was chosen by.
    pub options: BudgetOptions,
}

/// Measures the runs of a corpus, plays every budget on them, chooses in every world, and writes the tables.
///
/// # Errors
/// The corpus is not whole or has no run, the folder holds something else, somebody stopped it.
pub fn budget(request: &Request<'_>, asked: &Budgets<'_>) -> RunResult<Done<BudgetRun>> {
    let Budgets {
        grid,
        presets,
        overflow,
        forget,
    } = *asked;
    let names: Vec<&str> = presets.iter().map(|preset| preset.name.as_str()).collect();
    let more = vec![format!(
        "{:?} {names:?} {overflow:?} {forget}",
        request.grid
    )];
    ask(request, &Measured, more)?.then(|Answers { mut run, said }| {
    let runs = Runs::of(&run.surveyed.cases, said, &grid.budgets, request.seed);
    if runs.ids.is_empty() {
        let of = several(runs.turnless, "transcript");
        let what = format!(
            "none of {of} has a turn; a budget applies to runs of agents (events `turn`, `tool_call`, `tool_result`, `user`)"
        );
        return Err(run.given_up(Code::NothingSelected.error(what)));
    }
    let options = BudgetOptions {
        limit: overflow.unwrap_or(LIMIT),
        given: overflow.is_some(),
        cache: 1.0,
        worthwhile: 1.0,
        forget,
        resampling: Resampling {
            seed: request.seed,
            ..Resampling::default()
        },
    };
    let stages = stages(&runs, (grid, presets), &options, request.host)?;
    let worlds = judged(&runs, &stages, presets, &options);
    let dir = run.folder.path();
    run.manifest.cells = write_rows(&runs, &worlds, dir, request.csv)?;
    let about = About {
        judge: JudgeOptions {
            unit: Unit::Calls,
            ..JudgeOptions::default()
        },
        settings: described(&worlds),
        ..About::default()
    };
    write_cases(dir, &about, &run.surveyed.cases)?;
    let cases = runs.cases(&run.surveyed.cases);
    write_budget_runs(dir, run_rows(&runs, &worlds, &cases), request.csv)?;
    run.manifest.constraints = vec![format!("overflow<={}", options.limit)];
    let limits = limit_rows(&runs.limits, &limit_grid());
    write_limits(dir, &limits)?;
    let rulings: Vec<Ruling> = worlds.iter().map(|one| one.advice.ruling).collect();
    Ok(BudgetRun {
        ruling: together(&rulings),
        run,
        runs,
        worlds,
        limits,
        options,
    })
    })
}
