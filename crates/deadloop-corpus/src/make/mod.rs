//! Transcripts that are made: loops planted into clean texts, and corpora from a spec, each transcript from a seed of
//! its own.

pub mod plant;
pub mod synth;
