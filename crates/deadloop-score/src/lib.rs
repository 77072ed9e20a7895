//! Labels, verdicts, tallies, scores, and the choice of a setting.
//!
//! | to find | look in |
//! |---|---|
//! | what is true about a transcript | [`Truth`], [`LabelsFile`], [`Case`] |
//! | a record held against its label | [`judge`], [`Outcome`] |
//! | the only state: counts that add | [`Tally`], [`Count`] |
//! | a tally for every cell of a block, without a loop over cells | [`tallies`], [`Sheet`] |
//! | the numbers, and what they mean | [`Scores`], [`Metric`] |
//! | how sure they are | [`wilson`], [`clopper_pearson`], [`poisson`], [`bootstrap()`] |
//! | which setting to take | [`choose()`], [`folds()`], [`front`] |
//! | the files of a run | [`write_scores`], [`write_outcomes`], [`Results`] |
//!
//! Single-threaded: what is slow here was made to cost little instead.

mod bootstrap;
mod careful;
mod cases;
mod choose;
mod constraint;
mod evidence;
mod files;
mod floors;
mod folds;
mod infeasible;
mod intervals;
mod judging;
mod label;
mod labels_csv;
mod latency;
mod metric;
mod paint;
mod paired;
mod pareto;
mod random;
mod scores;
mod select;
mod sheet;
mod tally;
mod timeline;
mod verdict;

pub use bootstrap::{Intervals, Resampling, bootstrap};
pub use cases::Case;
pub use choose::{Choice, Choices, ChooseOptions, Why, choose};
pub use constraint::{Constraint, Judge, Standing};
pub use deadloop_replay as replay;
pub use evidence::{Evidence, Mismatch};
pub use files::breakdown::{write_intervals, write_scores_by};
pub use files::choice::write_choice;
pub use files::excerpts::{ExcerptsHead, Group, Opened, Part, read_excerpts, write_excerpts};
pub use files::manifest::{CorpusInfo, Manifest, ProgramInfo};
pub use files::outcomes::write_outcomes;
pub use files::regions::{RegionBlock, Regions, RegionsHead, Watched, write_regions};
pub use files::results::{Results, ScoresFile, macro_means};
pub use files::settings::{settings_toml, write_settings};
pub use files::store::{FileError, temporary_prefix, write_text};
pub use files::sweep::{CSV_ROWS, MAX_ROWS, Scored, Scoring, write_pareto, write_scores};
pub use files::table::{Cell, Cells, Table, Type};
pub use floors::Floor;
pub use folds::folds;
pub use infeasible::{ChooseError, NothingFeasible, Restrictive};
pub use intervals::{
    Interval, PoissonCache, clopper_pearson, poisson, poisson_lower, poisson_upper,
    proportion_lower, proportion_upper, wilson,
};
pub use judging::{At, JudgeOptions, Transient, Watch};
pub use label::{Class, Span, Truth};
pub use labels_csv::{COLUMNS as LABEL_COLUMNS, LabelsFile};
pub use latency::{Latencies, Quantiles, RANKS, rank};
pub use metric::{GoalError, Metric};
pub use pareto::{Point, front};
pub use scores::{Scores, Worth, delay, f_beta, fa_per_mchar, lost, ppv, saved, utility};
pub use sheet::{LatencySheet, Sheet, Trial, tallies, tallies_and_latencies};
pub use tally::{Count, SHARE, Tally, WITHIN};
pub use timeline::Timeline;
pub use verdict::{Outcome, Verdict, judge};
