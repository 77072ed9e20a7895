//! The integration tests of this crate in one binary: linking one takes seconds, linking 8 took minutes.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "in the helpers of tests as in tests"
)]

#[path = "kit/cells.rs"]
mod cells;
mod choice;
mod files;
mod kit;
mod overrides;
mod packed;
mod painted_tallies;
#[path = "kit/plan.rs"]
mod plan;
mod repair_cases;
mod repair_faults;
mod repair_judge;
#[path = "kit/repairing.rs"]
mod repairing;
#[path = "kit/sweeps.rs"]
mod sweeps;
mod verdicts;
