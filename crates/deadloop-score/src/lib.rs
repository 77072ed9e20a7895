//! Labels, verdicts, tallies, scores, and the choice of a setting.
//!
//! | to find | look in |
//! |---|---|
//! | the label of a transcript | [`Truth`], [`LabelsFile`], [`Case`] |
//! | a record compared with its label | [`judge()`], [`Outcome`] |
//! | counts that add, the only state | [`Tally`], [`Count`] |
//! | a tally for every cell of a block, without a loop over cells | [`tallies`], [`Sheet`] |
//! | a corpus of a million transcripts in memory | [`PackedCases`], [`PackedRecords`] |
//! | the measures and their meaning | [`measure`], [`Scores`] |
//! | confidence intervals | [`wilson`], [`poisson`], [`bootstrap()`] |
//! | sentences shared by every output | [`words`] |
//! | the choice of a setting | [`choose`] |
//! | the comparison of two settings | [`compare()`], [`Side`], [`Comparison`] |
//! | cases with expected alarms | [`parse_pinned`], [`Expect`] |
//! | repairers of faulty streams | [`repairs`] |
//! | the files of a run | [`write_scores`], [`write_outcomes`], [`Results`] |
//!
//! The crate is single-threaded.

#![deny(
    clippy::print_stderr,
    clippy::print_stdout,
    reason = "they panic where nobody reads any more"
)]

pub mod budget;
pub mod choose;

mod compare;
mod constraint;
mod files;
mod intervals;
mod judge;
pub mod measure;
mod pareto;
mod pinned;
pub mod proposing;
pub mod repairs;
mod scores;
mod tally;
mod truth;
pub mod words;

pub use choose::{explained, format_value};
pub use compare::{
    Bearing, Change, CompareOptions, Comparison, Direction, Fails, Flip, Gate, GateName,
    HealthyAlarms, Noise, NotComparable, Row, Side, SideError, SideSeen, Spot, Test, compare,
    flips, flips_csv, p_shown, sign_flips,
};
pub use constraint::Constraint;
pub use deadloop_replay as replay;
pub use deadloop_tables as tables;
pub use deadloop_tables::{ColumnDoc, DataFrame, ParquetError, Type, unrunnable};
pub use files::calls::{Called, Calls};
pub use files::choice::write_choice;
pub use files::excerpts::{ExcerptsHead, Group, Opened, Part, read_excerpts, write_excerpts};
pub use files::manifest::{CorpusInfo, Ended, FORMAT, Manifest, ProgramInfo};
pub use files::models::MAX_ROWS;
pub use files::openings::count_opening;
pub use files::outcomes::{OutcomeLine, write_outcomes};
pub use files::result_tables::{ResultTable, result_tables};
pub use files::results::{Results, macro_means, read_outcomes};
pub use files::scores::{BY_MODEL, TOTAL};
pub use files::settings::{InUse, exact_glob, settings_toml};
pub use files::store::{FileError, read_text_if_named, write_bytes, write_text};
pub use files::sweep::{CSV_ROWS, NEVER, Scored, Scoring, write_scores};
pub use intervals::{
    Interval, Intervals, POISSON_1, PoissonCache, Resampling, Weights, bootstrap, poisson,
    poisson_lower, poisson_upper, proportion_lower, wilson,
};
pub use judge::{JudgeOptions, Outcome, ReadChannels, Transient, Verdict, judge};
pub use measure::{
    GoalError, MEASURES, Measure, MeasureUnit, Metric, Worth, measures, metric, withins, wrong_rate,
};
pub use pareto::FrontPoint;
pub use pinned::{CaseInput, Expect, Fired, Marks, Pinned, alarm_words, parse_pinned};
pub use scores::Scores;
pub use tally::{
    AnyEvidence, Count, Evidence, Latencies, LatencySheet, Mismatch, PackedEvidence, PackedRecords,
    Quantiles, RANKS, Sheet, Tally, Trial, rank, tallies, tallies_and_latencies, unpacked,
};
pub use truth::{
    Case, Cases, Class, CopyKey, LABEL_COLUMNS, LabelRow, LabelsFile, Names, PackedCases, REVIEW,
    Span, Timeline, Truth, mean_clean, orphans, units, write_labels,
};
