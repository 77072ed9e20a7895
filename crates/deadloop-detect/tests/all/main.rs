//! The integration tests of this crate, in one binary for faster linking.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "in the helpers of tests as in tests"
)]

mod bare_units;
mod batches;
mod circling;
mod common;
mod counters;
mod element_reuse;
mod fences;
mod few_kinds;
mod ignore;
mod laws;
mod novelty;
mod peers;
mod per;
mod prompt;
mod run_laws;
mod run_settings;
mod run_twins;
mod running;
mod runs;
mod settings;
mod shapes;
