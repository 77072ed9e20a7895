//! Labels, verdicts, tallies, scores, and the choice of a setting.
mod bootstrap;
mod cases;
mod choose;
mod evidence;
mod floors;
mod folds;
mod goal;
mod intervals;
mod label;
mod labels_csv;
mod latency;
mod metrics;
mod paint;
mod paired;
mod pareto;
mod random;
mod select;
mod sheet;
mod tally;
mod timeline;
mod verdict;

pub use bootstrap::{Intervals, Resampling, bootstrap};
pub use cases::Case;
pub use choose::{
    Choice, ChooseError, ChooseOptions, Choices, NothingFeasible, Restrictive, Why, choose,
};
pub use deadloop_replay as replay;
pub use evidence::{Evidence, Mismatch};
pub use floors::Floor;
pub use folds::folds;
pub use goal::{Constraint, GoalError, Judge, Metric, Standing};
pub use intervals::{
    Interval, PoissonCache, clopper_pearson, poisson, poisson_lower, poisson_upper,
    proportion_lower, proportion_upper, wilson,
};
pub use label::{Class, Span, Truth};
pub use labels_csv::{COLUMNS as LABEL_COLUMNS, LabelsFile};
pub use latency::{Latencies, Quantiles, RANKS, rank};
pub use metrics::{Scores, Worth, delay, f_beta, fa_per_mchar, lost, ppv, saved, utility};
pub use pareto::{Point, front};
pub use sheet::{LatencySheet, Sheet, Trial, tallies, tallies_and_latencies};
pub use tally::{Count, SHARE, Tally, WITHIN};
pub use timeline::Timeline;
pub use verdict::{At, JudgeOptions, Outcome, Transient, Verdict, Watch, judge};
