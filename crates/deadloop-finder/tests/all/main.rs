//! The integration tests of this crate in one binary.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "in the helpers of tests as in tests"
)]

mod finder;
mod finder_runs;
mod independence;
