//! The integration tests of this crate in one binary.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "in the helpers of tests as in tests"
)]

mod bad_input;
mod kit;
mod order;
mod round_trip;
mod starter;
mod stream;
