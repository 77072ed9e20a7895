//! Runs of deadloop as library calls: replay, tune, check, import, explain.
//!
//! The commands of the program, tests and embedding programs call this crate. It uses no terminal, no arguments and
//! no signals.
//!
//! | to find | look in |
//! |---|---|
//! | the request and its options | [`Request`], [`Judging`] |
//! | the caller: progress, a stop, messages | [`Host`], [`Alone`] |
//! | from a plan and a corpus to a result folder | [`replay()`], [`Replayed`] |
//! | any other subject over a corpus | [`ask`], [`Answers`] |
//! | the choice of a setting | [`tuning`] |
//! | excerpts of transcripts, for a report | [`Opening`] |
//! | the first pass over a corpus | [`survey`], [`Surveyed`] |
//! | the folder, and inputs kept from being overwritten | [`Folder`], [`apart`] |
//! | repairers of faulty streams, measured | [`repairs`] |
//! | context budgets, simulated | [`budgets`] |
//! | a corpus checked for misleading figures | [`checking`] |
//! | a corpus made from a spec | [`making`] |
//! | an imported corpus | [`importing`] |
//! | JSON Schemas of the files that people write | [`schemas`] |
//! | labels proposed, reviewed, compared, merged | [`reviewing`] |
//! | a transcript as text for a person | [`reading`] |
//! | a transcript explained | [`explaining`] |
//! | a corpus on several machines | [`Parts`], [`PartSummary`] |
//! | a pinned case from a recording | [`recorded_case()`] |
//! | claims about a guard | [`judge_claims`] |
//! | pinned cases compared with settings | [`pinning`] |
//! | a setting as the configuration of another guard | [`engines`] |
//! | a live stream watched, copied, recorded | [`watching`] |
//! | detectors that are programs | [`programs`] |
//! | errors and their kinds | [`Failure`], [`Code`] |
//!
//! ```no_run
//! use deadloop_detect::Settings;
//! use deadloop_replay::Plan;
//! use deadloop_run::{Alone, Done, Request, replay};
//!
//! let settings = Settings::default();
//! let mut plan = Plan::default();
//! let cell = plan.add_settings(&settings);
//! let host = Alone::default();
//! let request = Request::of("recordings".as_ref(), "replayed".as_ref(), &host);
//! if let Done::Ran(done) = replay(&request, &plan, &settings)? {
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

pub mod blocks;
pub mod budgets;
mod case_store;
pub mod checking;
mod claims;
pub mod engines;
mod evidence;
mod excluded_names;
pub mod explaining;
mod failure;
mod findings;
mod first_pass;
mod folder;
mod host;
pub mod importing;
mod lookup;
pub mod making;
mod manifest;
mod notice;
mod opening;
pub mod outline;
mod outputs;
mod own_limits;
pub mod pinning;
mod places;
pub mod programs;
pub mod reading;
mod recorded_case;
pub mod reference;
pub mod repairs;
mod replay;
mod request;
pub mod reviewing;
pub mod schemas;
mod second_pass;
mod sharding;
mod stamps;
mod subject_run;
mod survey;
pub mod tuning;
mod units;
pub mod visible;
pub mod watching;
mod words;

pub use case_store::CaseStore;
pub use claims::{ClaimVerdict, JudgedClaim, judge_claims, read_claims};
pub use failure::{Code, Failure, RunResult};
pub use first_pass::look;
pub use folder::{Folder, REPORT_FILES, State, fingerprint, result_files};
pub use host::{Alone, Host, Progress, watched};
pub use manifest::now;
pub use notice::notice;
pub use opening::{Focus, Opening};
pub use outputs::apart;
pub use places::Places;
pub use recorded_case::recorded_case;
pub use replay::{Done, MacroMeans, Replayed, name, replay};
pub use request::{Judging, Request, SEALED};
pub use second_pass::SecondPass;
pub use sharding::{PartSummary, Parts};
pub use subject_run::{Answered, Answers, ask, failed};
pub use survey::{
    SurveyRequest, Surveyed, drop_sealed, foreign, listing, open, refuse_machine, rejected_row,
    survey, survey_with, unopened,
};
pub use units::first_unit;
pub use words::{count, number, per, percent, several, typed};
