//! A record held against its label: [`judge`] says one [`Verdict`] of one setting on one transcript. Floors are
//! judged the same way, without an engine. Repairs of streams are judged in `mended` and `repaired`.

mod consistency;
mod floors;
mod hearing;
mod mended;
mod options;
mod repaired;
mod verdict;

pub use consistency::Consistency;
pub use floors::Floor;
pub use hearing::judge;
pub use mended::{Meant, Mended, MendedArguments, MendedEvents, judge_arguments, judge_events};
pub use options::{At, JudgeOptions, ReadChannels, Transient};
pub use repaired::{Came, before_and_gold, judge_repair};
pub use verdict::{Outcome, Verdict};
