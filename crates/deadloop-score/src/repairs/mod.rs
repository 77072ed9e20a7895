//! Repairers of faulty streams: judged by the truth, counted by variant and fault.
//!
//! | to find | look in |
//! |---|---|
//! | the truth of a stream | [`KnownStream`], [`Gold`] |
//! | the verdict on a repair | [`judge_repair`], [`Fate`], [`MeantText`] |
//! | counts by variant and fault, and the best variant without harm | [`ScoredRepairs`], [`RepairTally`] |
//! | the tables | [`write_repairs`], [`write_arguments`] |

mod scored;
mod tally;

pub use crate::files::repairs::{ArgumentRow, RepairRow, write_arguments, write_repairs};
pub use crate::judge::{
    Came, Fate, MeantText, MendedArguments, MendedEvents, before_and_gold, judge_arguments,
    judge_events, judge_repair,
};
pub use crate::truth::{Gold, KnownStream};
pub use scored::{
    ALL_FAULTS, BestRepair, Fare, INTACT, MendedStream, RepairScore, ScoredRepairs, repair_rows,
};
pub use tally::RepairTally;
