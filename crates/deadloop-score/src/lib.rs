//! Labels, verdicts, tallies, scores, and the choice of a setting.
//!
//! | to find | look in |
//! |---|---|
//! | the label of a transcript | [`Truth`], [`LabelsFile`], [`Case`] |
//! | the comparison of an alarm with the label | [`judge()`], [`Outcome`] |
//! | counts of outcomes that can be summed | [`Tally`], [`Count`] |
//! | the tallies of all cells of a block at once | [`tallies`], [`Sheet`] |
//! | a corpus of a million transcripts in memory | [`PackedCases`], [`PackedRecords`] |
//! | the measures and their meaning | [`measure`], [`Scores`] |
//! | confidence intervals | [`wilson`], [`poisson`], [`bootstrap()`] |
//! | sentences shared by every output | [`sentences`] |
//! | the choice of a setting | [`choose`] |
//! | the comparison of two settings | [`compare()`], [`Side`], [`Comparison`] |
//! | cases with expected alarms | [`parse_pinned`], [`Expectation`] |
//! | repairers of faulty streams | [`repairs`] |
//! | the files of a run | [`write_scores`], [`write_outcomes`], [`ResultFolder`] |
//!
//! The crate is single-threaded.

// These macros panic if the reader of the output is gone.
#![deny(clippy::print_stderr, clippy::print_stdout)]

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
pub mod proposals;
pub mod repairs;
mod scores;
pub mod sentences;
mod tally;
mod truth;

pub use choose::{explain_setting, format_value};
pub use compare::{
    Change, CompareOptions, Comparison, Direction, Effect, FailCondition, Flip, Gate, GateName,
    HealthyAlarms, JudgedSpan, Noise, NotComparable, Row, Side, SideError, SideOutcome,
    SignificanceTest, compare, flips, flips_csv, format_p, sign_flips,
};
pub use constraint::Constraint;
pub use deadloop_replay as replay;
pub use deadloop_tables as tables;
pub use deadloop_tables::{ColumnDoc, DataFrame, ParquetError, Type, escape_formula};
pub use files::calls::{CallRecord, RunCalls};
pub use files::choice::write_choice;
pub use files::excerpts::{
    ExcerptPart, ExcerptsHead, Group, OpenCase, read_excerpts, write_excerpts,
};
pub use files::manifest::{CorpusInfo, FORMAT, Manifest, ProgramInfo, ResultFailure};
pub use files::models::MAX_ROWS;
pub use files::openings::count_opening;
pub use files::outcomes::{OutcomeLine, write_outcomes};
pub use files::result_tables::{ResultTable, result_tables};
pub use files::results::{ResultFolder, macro_means, read_outcomes};
pub use files::scores::{BY_MODEL, TOTAL};
pub use files::settings::{SettingsInUse, exact_glob, settings_toml};
pub use files::store::{FileError, read_text_if_named, write_bytes, write_text};
pub use files::sweep::{CSV_ROWS, NEVER, ScoringRequest, ScoringResult, write_scores};
pub use intervals::{
    Interval, Intervals, POISSON_1, PoissonCache, Resampling, Weights, bootstrap, poisson,
    poisson_lower, poisson_upper, proportion_lower, wilson,
};
pub use judge::{JudgeOptions, Outcome, ReadChannels, Transient, Verdict, judge};
pub use measure::{
    GoalError, MEASURES, Measure, MeasureUnit, Metric, Stakes, measures, metric, withins,
    wrong_rate,
};
pub use pareto::FrontPoint;
pub use pinned::{
    CaseEntry, CaseInput, CaseMarks, Expectation, FiredAlarm, describe_alarm, parse_pinned,
};
pub use scores::Scores;
pub use tally::{
    AnyEvidence, BlockTrial, Count, Evidence, Latencies, LatencySheet, Mismatch, PackedEvidence,
    PackedRecords, Quantiles, RANKS, Sheet, Sheets, Tally, rank, tallies, tallies_and_latencies,
    unpack,
};
pub use truth::{
    Case, CaseSet, Class, CopyKey, LABEL_COLUMNS, LabelRow, LabelsFile, PackedCases, REVIEW,
    SharedNames, Span, Timeline, Truth, mean_clean, orphans, units, write_labels,
};
