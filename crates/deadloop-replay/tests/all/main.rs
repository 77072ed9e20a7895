//! The integration tests of this crate in one binary, since linking one takes seconds and linking four took minutes.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "in the helpers of tests as in tests"
)]

mod bad_programs;
mod budget;
mod kit;
mod programs;
mod tasks;
