//! The integration tests of this crate in one binary: linking one takes seconds, linking 22 took minutes.

mod bare;
mod circling;
mod common;
mod compression;
mod counters;
mod fences;
mod laws;
mod novelty;
mod peers;
mod per;
mod recycled;
mod repair_cases;
mod repair_faults;
mod repair_judge;
mod repair_laws;
mod repairing;
mod run_laws;
mod run_settings;
mod run_twins;
mod running;
mod runs;
mod settings;
mod shapes;
