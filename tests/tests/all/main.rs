//! The integration tests of this crate in one binary: linking one takes seconds, linking 11 took minutes.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "in the helpers of tests as in tests"
)]

mod cases;
mod gathered;
mod laws;
mod live;
mod names;
mod planted_circling;
mod printing;
mod recurrence;
mod run_vectors;
mod runs;
mod think;
mod vanished;
mod vectors;
