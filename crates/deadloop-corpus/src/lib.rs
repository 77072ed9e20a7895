//! Transcripts: the type, the files they stand in, the `<think>` splitter, planted loops.
mod transcript;
pub use transcript::{Body, Entry, Event, Place, Problem, Transcript};
