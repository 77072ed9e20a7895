//! The integration tests of this crate in one binary.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "in the helpers of tests as in tests"
)]

mod broken_runs;
mod databases;
mod found_recordings;
mod import;
#[path = "../../../deadloop-corpus/tests/all/kit/mod.rs"]
mod kit;
mod own_format;
