//! Runs of deadloop as library calls: replay, tune, check, import, explain.
//!
//! The commands of the program, tests and embedding programs call this crate. It uses no terminal, no arguments and
//! no signals.
//!
//! | to find | look in |
//! |---|---|
//! | the request and its options | [`Request`], [`options`] |
//! | the caller: progress, a stop, messages | [`Host`], [`SilentHost`] |
//! | from a plan and a corpus to a result folder | [`replay()`], [`ReplayRun`] |
//! | any other subject over a corpus | [`ask`], [`Answers`] |
//! | the choice of a setting | [`tune`] |
//! | excerpts of transcripts, for a report | [`OpeningOptions`] |
//! | the first pass over a corpus | [`survey`], [`CorpusSurvey`] |
//! | the folder, and inputs kept from being overwritten | [`Folder`], [`apart`] |
//! | repairers of faulty streams, measured | [`repair`] |
//! | context budgets, simulated | [`budget`] |
//! | a corpus checked for misleading figures | [`check`] |
//! | a corpus made from a spec | [`synth`] |
//! | an imported corpus | [`import`] |
//! | JSON Schemas of the files that people write | [`generate::schemas`] |
//! | labels proposed, reviewed, compared, merged | [`label`] |
//! | a transcript as text for a person | [`show`] |
//! | a transcript explained | [`explain`] |
//! | a corpus on several machines | [`ShardParts`], [`PartSummary`] |
//! | a pinned case from a recording | [`recorded_case()`] |
//! | claims about a guard | [`judge_claims`] |
//! | pinned cases compared with settings | [`cases`] |
//! | a setting as the configuration of another guard | [`export`] |
//! | a live stream watched, copied, recorded | [`watch`] |
//! | detectors that are programs | [`replay::programs`] |
//! | errors, their kinds and options | [`Failure`], [`Code`], [`option`] |
//!
//! ```no_run
//! use deadloop_detect::Settings;
//! use deadloop_replay::Plan;
//! use deadloop_run::{SilentHost, RunOutcome, Request, replay};
//!
//! let settings = Settings::default();
//! let mut plan = Plan::default();
//! let cell = plan.add_settings(&settings);
//! let host = SilentHost::default();
//! let request = Request::new("recordings".as_ref(), "replayed".as_ref(), &host);
//! if let RunOutcome::Ran(done) = replay(&request, &plan, &settings)? {
//!     let evidence = done.evidence(&plan)?;
//!     done.score(&evidence, &[cell], &[], true)?;
//!     done.finish(Ok(()), |folder, _| Ok(println!("{}", folder.display())))?;
//! }
//! # Ok::<(), deadloop_run::Failure>(())
//! ```

#![deny(
    clippy::print_stderr,
    clippy::print_stdout,
    reason = "they panic where nobody reads any more"
)]

pub mod budget;
pub mod cases;
pub mod check;
pub mod corpus;
pub mod explain;
pub mod export;
mod failure;
mod folder;
pub mod generate;
mod host;
pub mod import;
pub mod label;
mod merge;
pub mod option;
#[cfg(feature = "clap")]
pub mod option_words;
pub mod options;
pub mod repair;
pub mod replay;
pub mod show;
pub mod synth;
pub mod tune;
pub mod visible;
pub mod watch;
mod words;

pub use cases::recorded_case::recorded_case;
pub use check::claims::{ClaimVerdict, JudgedClaim, judge_claims, read_claims};
pub use corpus::case_store::CaseStore;
pub use corpus::places::Places;
pub use corpus::survey::{
    CorpusSurvey, SurveyRequest, foreign, listing, open, refuse_machine, rejected_row, survey,
    survey_with,
};
pub use failure::{Code, Failure, RunResult};
pub use folder::manifest::now;
pub use folder::outputs::apart;
pub use folder::{Folder, FolderState, REPORT_FILES, fingerprint, result_files};
pub use host::{Host, Progress, SilentHost, watched};
pub use merge::{PartSummary, ShardParts};
pub use replay::notice::notice;
pub use replay::opened_transcripts::{Focus, OpeningOptions};
pub use replay::request::{Request, SEALED, record};
pub use replay::second_pass::SecondPass;
pub use replay::subject_run::{AnsweredRun, Answers, ask, failed};
pub use replay::units::first_unit;
pub use replay::{MacroMeans, ReplayRun, RunOutcome, name, replay};
pub use words::{count, number, per, percent, several, typed};
