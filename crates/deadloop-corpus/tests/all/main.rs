//! The integration tests of this crate in one binary: linking one takes seconds, linking 11 took minutes.

mod bad_input;
mod broken_runs;
mod finder;
mod finder_runs;
mod import;
mod kit;
mod parquet;
mod round_trip;
mod starter;
mod stream;
mod synth;
mod synth_runs;
