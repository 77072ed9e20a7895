//! Simulation of context budgets over recorded runs.
//!
//! For each setting, computes how often, when and how much a run is summarised, from the recorded sizes of its events.
//! No model is run, so the quality of the summaries is unknown.
//!
//! | to find | look in |
//! |---|---|
//! | the parameters, one setting, and its warnings | [`SPEC`], [`Budget`], [`Remark`] |
//! | named settings | [`presets()`] |
//! | files with several values for a parameter | [`BudgetGrid`] |
//! | the lengths of a run's events | [`Lengths`] |
//! | token counts of a run's events | [`RunSizes`] |
//! | one run under one setting | [`simulate_run()`], [`SimulatedRun`], [`trace_run`] |
//! | many settings over many runs | [`sweep()`], [`MeasuredRuns`], [`BudgetStage`], [`BudgetTally`] |
//! | the iteration limit that asks the user | [`Limit`], [`LimitEffect`] |
//!
//! Runs are not simulated turn by turn. Between two summaries, the lengths of prompts follow from sums over the events,
//! so a run takes one search for each action of the policy. The sums are shared by all settings.

mod grid;
mod lengths;
mod limit;
mod params;
mod presets;
mod remarks;
mod simulation;
mod sizes;
mod sweep;
mod tally;

pub use grid::{BudgetGrid, DEFAULT_GRID};
pub use lengths::{Lengths, Prompt};
pub use limit::{Limit, LimitEffect};
pub use params::{Budget, Policy, SPEC, TokenCounter};
pub use presets::{BudgetPreset, presets};
pub use remarks::Remark;
pub use simulation::{BudgetStep, SimulatedRun, simulate_run, trace_run};
pub use sizes::RunSizes;
pub use sweep::{BudgetStage, MeasuredRuns, StageTallies, sweep};
pub use tally::{BudgetTally, TokenSums};
