//! Transcripts that are made: loops planted into clean texts, streams damaged on purpose, and corpora from a spec, each
//! transcript from a seed of its own.

pub mod damage;
pub mod plant;
pub mod synth;
