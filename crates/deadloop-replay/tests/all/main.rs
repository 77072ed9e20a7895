//! The integration tests of this crate in one binary: linking one takes seconds, linking 4 took minutes.

mod bad_programs;
mod budget;
mod feedback;
mod kit;
mod programs;
