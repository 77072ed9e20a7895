//! Grids of settings, and their parallel replay over a corpus.
//!
//! | to find | look in |
//! |---|---|
//! | settings files with several values for a parameter | [`Grid`] |
//! | all settings of a run, grouped so that each text is measured once | [`Plan`], [`Block`] |
//! | replay of one transcript through all settings | [`decide`], `regions` |
//! | external programs as detectors | [`Programs`] |
//! | resumable replay of a corpus | [`run()`], [`Journal`] |
//! | other computations over a corpus | [`Subject`], [`run_into`] |
//! | parallel passes over a corpus | [`map_corpus`] |
//! | context budgets, and iteration limits that ask the user | [`budget`] |
//! | results | [`Record`], [`BlockDecision`] |
//!
//! This crate has no type for labels: only `deadloop-score` reads them.

// These macros panic if the reader of the output is gone.
#![deny(clippy::print_stderr, clippy::print_stdout)]

mod arrivals;
mod block;
pub mod budget;
mod corpus_pass;
mod engine;
mod grid;
mod journal;
mod plan;
mod plan_meters;
mod program;
mod record;
mod regions;
pub mod repairers;
mod run;
pub mod shipped;
mod structures;
mod subject;
mod tokens;

pub use arrivals::{EventTokens, event_text};
pub use block::{Axis, Block, BlockIds};
pub use corpus_pass::{Interruption, PassResult, Watcher, map_corpus, map_corpus_at};
pub use deadloop_corpus as corpus;
pub use deadloop_detect as detect;
pub use deadloop_detect::ChannelLengths;
pub use deadloop_detect::harness::Cursor;
pub use engine::{decide, has_turns};
pub use grid::{Grid, GridMember};
pub use journal::{Journal, JournalEntry, JournalError};
pub use plan::{Cell, Plan, PlanError, RefusedCells};
pub use program::{Mender, MenderAnswer, ProgramName, Programs, StartError};
pub use record::{BlockDecision, Moment, Record, Region, Stop};
pub use run::{IdFilter, Job, ResumedJournal, RunError, RunOutput, run, run_into};
pub use subject::{InvalidTranscript, PlanGuards, Subject, map_corpus_for};
pub use tokens::{TokenSum, TurnTokens};
