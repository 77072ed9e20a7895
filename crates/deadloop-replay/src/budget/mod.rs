//! Budgets of context: how often, when and how much a run is summarised under a setting, from the recorded sizes of
//! its events alone. No model is asked, so nothing is said of how good a summary is.
//!
//! | to find | look in |
//! |---|---|
//! | the parameters, one setting, what is unsafe in it | [`PARAMS`], [`Budget`], [`Remark`] |
//! | settings under names | [`presets`] |
//! | a file with several values a parameter | [`BudgetGrid`] |
//! | how long the events of a run are | [`Lengths`] |
//! | how many tokens they are to a counter | [`RunSizes`] |
//! | what a setting makes of a run | [`play`], [`Played`]; turn by turn: [`trace`] |
//! | many settings over many runs | [`sweep()`], [`Field`], [`Stage`], [`BudgetTally`] |
//! | the iteration limit that asks | [`Limit`], [`LimitAsked`] |
//!
//! A run is never walked turn by turn. What its prompts are between two summaries follows from sums over its
//! events, so a setting costs a run one search for each time that something happens; 100,000 settings share the sums.

mod grid;
mod lengths;
mod limit;
mod params;
mod play;
mod sizes;
mod sweep;
mod words;

pub use grid::{BudgetGrid, DEFAULT_GRID};
pub use lengths::{Lengths, Prompt, Use};
pub use limit::{Limit, LimitAsked};
pub use params::{Budget, BudgetPreset, Counter, PARAMS, Policy, Remark, preset, presets};
pub use play::{Played, Step, play, trace};
pub use sizes::RunSizes;
pub use sweep::{Bill, BudgetTally, Field, Stage, Swept, sweep};
