//! Verdicts on records ([`judge`], [`Verdict`]) and on repairs of streams.

mod hearing;
mod mended;
mod options;
mod repaired;
mod verdict;

pub use hearing::judge;
pub use mended::{Fate, MeantText, MendedArguments, MendedEvents, judge_arguments, judge_events};
pub use options::{JudgeOptions, ReadChannels, Transient};
pub use repaired::{Came, before_and_gold, judge_repair};
pub use verdict::{Outcome, Verdict};
