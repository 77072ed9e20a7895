//! The kit of the tests: vectors, generated text, slow twins.

pub mod vectors;
