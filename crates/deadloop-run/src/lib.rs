//! The commands of deadloop as library calls: options in, an answer out.
//!
//! The program, tests and embedding programs call this crate. It uses no terminal, no arguments and no signals. The
//! options of a command derive serde, and clap with the feature `clap`. An answer is `Serialize` and `Display`:
//! `{answer:80}` folds its text to 80 columns, `{answer:#}` has colours.
//!
//! | to find | look in |
//! |---|---|
//! | a command | [`replay()`], [`sweep()`], [`compare()`], [`explain()`], [`report()`], [`check()`], [`cases()`], [`import()`], [`label()`], [`repair()`], [`budget()`], [`tune()`], [`merge()`], [`synth`] |
//! | options that commands share | [`options`] |
//! | the caller: progress, a stop, messages | [`Host`], [`SilentHost`] |
//! | the answer of a command that leaves a folder | [`FolderAnswer`] |
//! | a text for people, fitted to a width | [`layout`] |
//! | settings and grids from files | [`settings`] |
//! | any plan, or any other subject, over a corpus | [`Request`], [`replay_plan()`], [`ask`] |
//! | the first pass over a corpus | [`survey`], [`CorpusSurvey`] |
//! | a review of labels by a person | [`label::review`] |
//! | a transcript as text for a person | [`show`] |
//! | a corpus on several machines | [`ShardParts`] |
//! | a setting as the configuration of another guard | [`export`] |
//! | a live stream watched, copied, recorded | [`watch`] |
//! | JSON Schemas of the files that people write | [`schemas`] |
//! | errors, their kinds and options | [`Failure`], [`Code`], [`option`] |
//!
//! ```no_run
//! use deadloop_run::{ReplayOptions, SilentHost, replay};
//!
//! let options = ReplayOptions {
//!     corpus: "recordings".into(),
//!     settings: vec!["settings.toml".into()],
//!     out: "replayed".into(),
//!     ..ReplayOptions::default()
//! };
//! let answer = replay(&options, &SilentHost::default())?;
//! println!("{answer}");
//! # Ok::<(), deadloop_run::Failure>(())
//! ```

// These macros panic if the reader of the output is gone.
#![deny(clippy::print_stderr, clippy::print_stdout)]

#[macro_use]
pub mod options;

pub mod budget;
pub mod cases;
pub mod check;
pub mod compare;
pub mod corpus;
pub mod explain;
pub mod export;
mod failure;
mod folder;
mod host;
pub mod import;
pub mod label;
pub mod layout;
pub mod merge;
#[cfg(feature = "clap")]
pub mod option_words;
pub mod repair;
pub mod replay;
pub mod report;
pub mod schemas;
pub mod settings;
mod shards;
pub mod show;
pub mod sweep;
pub mod synth;
pub mod tune;
pub mod visible;
pub mod watch;
mod words;

pub use corpus::case_store::CaseStore;
pub use corpus::places::Places;
pub use corpus::survey::{CorpusSurvey, SurveyRequest, open, survey, survey_with};
pub use deadloop_corpus::option;
pub use failure::{Code, Failure, RunResult};
pub use folder::answer::{FolderAnswer, FolderContent};
pub use folder::outputs::prove_folder_of;
pub use folder::{Folder, REPORT_FILES, result_files};
pub use host::{Chosen, Host, Progress, SilentHost, watched};

pub use replay::request::{Request, SEALED, record};
pub use replay::subject_run::{AnsweredRun, Answers, ask};
pub use replay::units::first_unit;
pub use replay::{ReplayOptions, ReplayRun, RunOutcome, replay_plan};
pub use shards::{PartSummary, ShardParts};
pub use words::{count, number, per, percent, several, typed};
pub use {
    budget::budget, cases::cases, check::check, compare::compare, explain::explain, import::import,
    label::label, merge::merge, repair::repair, replay::replay, report::report, sweep::sweep,
    tune::tune,
};
