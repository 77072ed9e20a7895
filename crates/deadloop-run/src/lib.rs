//! A run as a library call: this corpus, by this plan, into this folder, with progress and a stop. The commands of
//! the program, tests, and whoever embeds deadloop call it; nothing here knows a terminal, an argument or a signal.
//!
//! | to find | look in |
//! |---|---|
//! | what is asked for | [`Request`], [`Judging`] |
//! | who asked: progress, a stop, what a person should hear | [`Host`], [`Alone`] |
//! | from a plan and a corpus to a result folder | [`replay`], [`Replayed`] |
//! | any other subject over a corpus | [`ask`], [`Answers`] |
//! | the choice of a setting | [`tuning`] |
//! | what is made of a run with its corpus at hand: excerpts | [`Opening`] |
//! | the first pass over a corpus | [`survey`], [`Surveyed`] |
//! | the folder, and what must not be written over | [`Folder`], [`apart`] |
//! | repairers of faulty streams, measured | [`repairs`] |
//! | budgets of context, played | [`budgets`] |
//! | a corpus checked for what makes numbers lie | [`checking`] |
//! | a corpus made from a spec | [`making`] |
//! | a corpus that is imported | [`importing`] |
//! | JSON Schemas of the files that people write | [`schemas`] |
//! | labels proposed, reviewed, compared, merged | [`reviewing`] |
//! | one transcript as a person reads it | [`reading`] |
//! | one transcript explained | [`explaining`] |
//! | a corpus on several machines | [`Parts`], [`Written`] |
//! | a pinned case from a recording | [`recorded_case()`] |
//! | claims about a guard | [`judge_claims`] |
//! | pinned cases held against settings | [`pinning`] |
//! | a setting as the configuration of another guard | [`engines`] |
//! | a live stream watched, copied, recorded | [`watching`] |
//! | detectors that are programs | [`programs`] |
//! | errors and their exit codes | [`Failure`], [`Code`] |
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

mod again;
mod asking;
pub mod blocks;
pub mod budgets;
pub mod checking;
mod claims;
pub mod engines;
mod evidence;
pub mod explaining;
mod failure;
mod findings;
mod folder;
mod host;
pub mod importing;
mod kept;
mod left_out;
mod looking;
pub mod making;
mod manifest;
mod notice;
mod one;
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
mod sharding;
mod stamps;
mod survey;
pub mod tuning;
mod units;
pub mod visible;
pub mod watching;
mod words;

pub use again::Again;
pub use asking::{Answered, Answers, ask, failed};
pub use claims::{ClaimVerdict, JudgedClaim, judge_claims, read_claims};
pub use failure::{Code, Failure, RunResult};
pub use folder::{Folder, REPORT_FILES, State, fingerprint, result_files};
pub use host::{Alone, Host, Progress, watched};
pub use kept::Kept;
pub use looking::look;
pub use manifest::now;
pub use notice::notice;
pub use opening::{Focus, Opening};
pub use outputs::apart;
pub use places::Places;
pub use recorded_case::recorded_case;
pub use replay::{Done, MacroMeans, Replayed, name, replay};
pub use request::{Judging, Request, SEALED};
pub use sharding::{Parts, Written};
pub use survey::{
    Surveyed, Wanted, drop_sealed, foreign, listing, open, refuse_machine, rejected_row, survey,
    survey_with, unopened,
};
pub use units::first_unit;
pub use words::{count, number, per, percent, several, typed};
