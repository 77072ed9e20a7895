//! The integration tests of this crate in one binary: linking one takes seconds, linking 11 took minutes.

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
mod vanished;
mod vectors;
