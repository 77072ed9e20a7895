//! The integration tests of this crate in one binary: linking one takes seconds, linking 35 took minutes.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "in the helpers of tests as in tests"
)]

mod advice;
mod broken_runs;
mod budget;
mod check;
mod claims;
mod cli;
mod compare;
mod detectors;
mod docs;
mod explain;
mod first_steps;
mod folders;
mod foreign_guards;
mod hand_counts;
mod hostile;
mod import;
mod label;
mod library;
mod lost_output;
mod page;
mod per;
mod program;
mod programs;
mod proxy;
mod repair;
mod responses;
mod review;
mod runs;
mod schemas;
mod serve;
mod shards;
mod show;
mod synth;
mod tune;
mod unreadable_names;
mod watch;
mod widths;
