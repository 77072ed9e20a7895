//! The kit of the tests: vectors, cases, generated text and settings, slow twins.

pub mod cases;
pub mod generate;
pub mod replayed;
pub mod vectors;
