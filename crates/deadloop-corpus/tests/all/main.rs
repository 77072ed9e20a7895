//! The integration tests of this crate in one binary: linking one takes seconds, linking 11 took minutes.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "in the helpers of tests as in tests"
)]

mod bad_input;
mod broken_runs;
mod damage;
mod databases;
mod finder;
mod finder_runs;
mod found;
mod import;
mod kit;
mod order;
mod parquet;
mod round_trip;
mod starter;
mod stream;
mod synth;
mod synth_runs;
mod synth_shapes;
