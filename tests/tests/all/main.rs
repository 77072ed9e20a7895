//! The integration tests of this crate in one binary: linking one takes seconds, linking 11 took minutes.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "in the helpers of tests as in tests"
)]

mod cases;
mod changed_corpus;
mod laws;
mod live;
mod names;
mod planted_circling;
mod print_lints;
mod recurrence;
mod run_vectors;
mod runs;
mod test_modules;
mod think;
mod vectors;
