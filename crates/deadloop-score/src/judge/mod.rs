//! A record held against its label: [`judge`] says one [`Verdict`] of one setting on one transcript. Floors are
//! judged the same way, without an engine.

mod consistency;
mod floors;
mod hearing;
mod options;
mod verdict;

pub use consistency::Consistency;
pub use floors::Floor;
pub use hearing::judge;
pub use options::{At, JudgeOptions, ReadChannels, Transient};
pub use verdict::{Outcome, Verdict};
