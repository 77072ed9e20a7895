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
mod counted;
mod detectors;
mod docs;
mod explain;
mod folders;
mod hostile;
mod import;
mod label;
mod library;
mod named;
mod outside;
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
mod starting;
mod synth;
mod tune;
mod unheard;
mod watch;
mod widths;
