//! Context budgets: how often, when and how much a run is summarised under a setting, computed from the recorded sizes
//! of its events. No model is asked, so nothing says how good a summary is.
//!
//! | to find | look in |
//! |---|---|
//! | the parameters, one setting, what is unsafe in it | [`SPEC`], [`Budget`], [`Remark`] |
//! | settings under names | [`presets()`] |
//! | a file with several values for each parameter | [`BudgetGrid`] |
//! | how long the events of a run are | [`Lengths`] |
//! | how many tokens they have by a counter | [`RunSizes`] |
//! | what happens to a run under a setting | [`play`], [`Played`]; turn by turn: [`trace`] |
//! | many settings over many runs | [`sweep()`], [`Field`], [`Stage`], [`BudgetTally`] |
//! | the iteration limit that asks | [`Limit`], [`LimitAsked`] |
//!
//! A run is never walked turn by turn. Between two summaries the lengths of its prompts follow from sums over its
//! events, so playing a run under a setting takes one search for each act of the policy. 100,000 settings share the sums.

mod grid;
mod lengths;
mod limit;
mod params;
mod play;
mod presets;
mod remarks;
mod sizes;
mod sweep;
mod tally;

pub use grid::{BudgetGrid, DEFAULT_GRID};
pub use lengths::{Lengths, Prompt};
pub use limit::{Limit, LimitAsked};
pub use params::{Budget, Counter, Policy, SPEC};
pub use play::{BudgetStep, Played, play, trace};
pub use presets::{BudgetPreset, presets};
pub use remarks::Remark;
pub use sizes::RunSizes;
pub use sweep::{Field, Stage, Swept, sweep};
pub use tally::{Bill, BudgetTally};
