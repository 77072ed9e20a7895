//! Context budgets: simulated summaries of runs.
//!
//! For a setting, they compute how often, when and how much a run is summarised, from the recorded sizes of its
//! events. No model is run, so the quality of a summary is unknown.
//!
//! | to find | look in |
//! |---|---|
//! | the parameters, one setting, and its warnings | [`SPEC`], [`Budget`], [`Remark`] |
//! | named settings | [`presets()`] |
//! | a file with several values for each parameter | [`BudgetGrid`] |
//! | the lengths of a run's events | [`Lengths`] |
//! | their tokens by a counter | [`RunSizes`] |
//! | a run under a setting | [`play()`], [`SimulatedRun`]; turn by turn: [`trace`] |
//! | many settings over many runs | [`sweep()`], [`MeasuredRuns`], [`BudgetStage`], [`BudgetTally`] |
//! | the iteration limit that asks the user | [`Limit`], [`LimitEffect`] |
//!
//! A run is never played turn by turn. Between two summaries, the lengths of its prompts follow from sums over its
//! events. So playing a run under a setting takes one search for each act of the policy. 100,000 settings share the
//! sums.

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
pub use simulation::{BudgetStep, SimulatedRun, play, trace};
pub use sizes::RunSizes;
pub use sweep::{BudgetStage, MeasuredRuns, StageTallies, sweep};
pub use tally::{BudgetTally, TokenSums};
