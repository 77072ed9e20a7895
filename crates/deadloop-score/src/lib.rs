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
//! | how far other models speak for one | [`Borrowing`], [`BetaBinomial`], [`GammaPoisson`] |
//! | what clean text alone allows | [`calibrate()`] |
//! | grids too large for the product | [`draw_structures`], [`race`] |
//! | how much data a claim takes | [`power`] |
//! | two settings held against each other | [`compare()`], [`Side`], [`Comparison`] |
//! | cases with the answer beside them | [`parse_pinned`], [`Expect`] |
//! | the files of a run | [`write_scores`], [`write_outcomes`], [`Results`] |
//!
//! Single-threaded: what is slow here was made to cost little instead.

mod agreement;
mod blend;
mod board;
mod bootstrap;
mod calibrate;
mod careful;
mod cases;
mod choice;
mod choose;
mod compare;
mod consistency;
mod constraint;
mod cross;
mod evidence;
mod files;
mod floors;
mod folds;
mod infeasible;
mod intervals;
mod judging;
mod label;
mod label_rows;
mod labels_csv;
mod latency;
mod ledger;
mod metric;
mod paint;
mod paired;
mod pairing;
mod pareto;
mod pinned;
mod pooling;
pub mod power;
mod random;
mod scores;
mod select;
mod sheet;
mod spread;
mod structures;
mod tally;
mod timeline;
mod verdict;

pub use agreement::{Agreement, Onsets, Overlaps, agreement, alpha};
pub use bootstrap::{Intervals, Resampling, bootstrap};
pub use calibrate::{Calibration, Supported, calibrate};
pub use cases::Case;
pub use choice::{Choice, Choices, ChooseOptions, LeftOut, Why};
pub use choose::choose;
pub use compare::{
    Bearing, Change, CompareOptions, Comparison, Direction, Fails, Flip, Gate, GateName, Noise,
    NotComparable, Row, Said, Side, SideError, Spot, Test, compare, holm, mcnemar, p_shown,
    student,
};
pub use consistency::Consistency;
pub use constraint::{Constraint, Judge, Standing};
pub use deadloop_replay as replay;
pub use evidence::{Evidence, Mismatch};
pub use files::breakdown::{write_intervals, write_scores_by};
pub use files::budget::write_budget;
pub use files::cases::{About, Described, write_cases};
pub use files::choice::write_choice;
pub use files::excerpts::{ExcerptsHead, Group, Opened, Part, read_excerpts, write_excerpts};
pub use files::formula::unrunnable;
pub use files::manifest::{CorpusInfo, Ended, Manifest, ProgramInfo};
pub use files::openings::count_opening;
pub use files::outcomes::write_outcomes;
pub use files::regions::{RegionBlock, Regions, RegionsHead, Watched, write_regions};
pub use files::results::{Results, ScoresFile, macro_means};
pub use files::settings::{settings_toml, write_setting, write_settings};
pub use files::store::{FileError, write_bytes, write_text};
pub use files::sweep::{
    CSV_ROWS, MAX_ROWS, Scored, Scoring, beside_floors, write_pareto, write_scores,
};
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
pub use label_rows::{LabelRow, write_labels};
pub use labels_csv::{COLUMNS as LABEL_COLUMNS, LabelsFile};
pub use latency::{Latencies, Quantiles, RANKS, rank};
pub use metric::{GoalError, Metric};
pub use pareto::{Point, front};
pub use pinned::{Expect, Fired, Marks, Pinned, Subject, parse_pinned};
pub use pooling::{BetaBinomial, Borrowing, GammaPoisson, Sizes};
pub use scores::{Scores, Worth, delay, f_beta, fa_per_mchar, lost, ppv, saved, utility};
pub use sheet::{LatencySheet, Sheet, Trial, tallies, tallies_and_latencies};
pub use structures::{Drawing, Drawn, draw_structures, race};
pub use tally::{Count, SHARE, Tally, WITHIN};
pub use timeline::Timeline;
pub use verdict::{Outcome, Verdict, judge};
