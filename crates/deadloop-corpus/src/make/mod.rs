//! Made transcripts: planted loops, damaged streams and synthetic corpora.
//!
//! Each transcript is made from a seed of its own.

pub mod damage;
pub mod plant;
pub mod synth;
