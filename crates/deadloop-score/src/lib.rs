//! Labels, verdicts, tallies, scores, and the choice of a setting.
//!
//! | to find | look in |
//! |---|---|
//! | what is true about a transcript | [`Truth`], [`LabelsFile`], [`Case`] |
//! | a record held against its label | [`judge`], [`Outcome`] |
//! | the only state: counts that add | [`Tally`], [`Count`] |
//! | a tally for every cell of a block, without a loop over cells | [`tallies`], [`Sheet`] |
//! | the same from sums of many machines | [`Boxes`] |
//! | a corpus of a million transcripts in memory | [`PackedCases`], [`PackedRecords`] |
//! | the numbers, and what they mean | [`measure`], [`Scores`] |
//! | how sure they are | [`wilson`], [`poisson`], [`bootstrap()`] |
//! | sentences that every output prints alike | [`words`] |
//! | which setting to take, and whether to | [`choose()`], [`Advice`], [`front`] |
//! | how far other models speak for one | [`Borrowing`], [`BetaBinomial`], [`GammaPoisson`] |
//! | what clean text alone allows | [`calibrate()`] |
//! | how much data a claim takes | [`power`] |
//! | two settings held against each other | [`compare()`], [`Side`], [`Comparison`] |
//! | cases with the answer beside them | [`parse_pinned`], [`Expect`] |
//! | repairers of faulty streams | [`repairs`] |
//! | the files of a run | [`write_scores`], [`write_outcomes`], [`Results`] |
//!
//! Single-threaded: what is slow here was made to cost little instead.

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
pub mod power;
pub mod proposing;
pub mod repairs;
mod scores;
mod tally;
mod truth;
pub mod words;

pub use choose::advice::{Advice, Changed, Lack, Level, Price, Ruling, RunFigures, Ship};
pub use choose::calibrate::{Calibration, Supported, calibrate};
pub use choose::choices::{Choice, Choices, Why};
pub use choose::duel::Figures;
pub use choose::folds::folds;
pub use choose::options::{ChooseOptions, ReadyGuard};
pub use choose::pieces::EvidencePieces;
pub use choose::pooling::{BetaBinomial, Borrowing, GammaPoisson, GroupSizes};
pub use choose::rule::LEAST as FEWEST_GROUPS;
pub use choose::words::told;
pub use choose::{NoCandidates, against_labels, changes, choose, explained};
pub use compare::{
    Bearing, Change, CompareOptions, ComparedSubject, Comparison, CountedKinds, Direction, Fails,
    Fate, Fit, Flip, Gate, GateName, HealthyAlarms, Noise, NotComparable, Row, Said, Side,
    SideError, Spot, Test, Verdicts, compare, flips, flips_csv, p_shown, sign_flips,
};
pub use constraint::{Assurance, Constraint};
pub use deadloop_replay as replay;
pub use deadloop_tables::{
    Cells, ColumnDoc, HAS_PARQUET, ParquetError, Rows, Table, TableCell, Type, unrunnable,
};
pub use files::breakdown::{IntervalRow, onset_ends, write_intervals, write_scores_by};
pub use files::budget::{SupportedLine, write_budget};
pub use files::calls::{Called, Calls};
pub use files::cases::{About, Described, write_cases};
pub use files::choice::write_choice;
pub use files::described::{ResultTable, result_tables};
pub use files::excerpts::{ExcerptsHead, Group, Opened, Part, read_excerpts, write_excerpts};
pub use files::manifest::{CorpusInfo, Ended, Manifest, ProgramInfo};
pub use files::openings::count_opening;
pub use files::outcomes::{OutcomeLine, write_outcomes};
pub use files::regions::{RegionBlock, Regions, RegionsHead, WatchedText, write_regions};
pub use files::results::{Results, ScoresFile, each_outcomes, macro_means};
pub use files::score_rows::ScoreRows;
pub use files::settings::{InUse, exact_glob, settings_toml, write_setting, write_settings};
pub use files::slices::MAX_ROWS;
pub use files::store::{FileError, read_text_if_named, write_bytes, write_text};
pub use files::sweep::{CSV_ROWS, Marked, NEVER, Scored, Scoring, write_pareto, write_scores};
pub use files::whole::{WHOLE_CHARS, Whole, WholesHead, read_wholes, write_wholes};
pub use intervals::{
    Interval, Intervals, Method, POISSON_1, POISSON_HALF, PoissonCache, Resampling, Weights,
    bootstrap, poisson, poisson_lower, poisson_upper, proportion_lower, proportion_upper, wilson,
};
pub use judge::{JudgeOptions, Outcome, ReadChannels, Transient, Verdict, judge};
pub use measure::{
    GoalError, MEASURES, Measure, MeasureUnit, Metric, Worth, measures, metric, transient_rate,
    withins, wrong_rate,
};
pub use pareto::{FrontPoint, front};
pub use pinned::{CaseInput, Expect, Fired, Marks, Pinned, alarm_words, parse_pinned};
pub use scores::Scores;
pub use tally::{
    AnyEvidence, BoxKey, BoxPlace, BoxSum, Boxes, Count, Evidence, Latencies, LatencySheet,
    Mismatch, PackedEvidence, PackedRecords, Quantiles, RANKS, Sheet, Tally, Trial, rank, tallies,
    tallies_and_latencies, unpacked,
};
pub use truth::{
    Case, Cases, Class, CopyKey, LABEL_COLUMNS, LabelRow, LabelsFile, Names, PackedCases, REVIEW,
    Span, Timeline, Truth, firsts, mean_clean, orphans, units, write_labels,
};
