//! Repairers of faulty streams, judged by the undamaged streams.
//!
//! | to find | look in |
//! |---|---|
//! | a stream and its undamaged original | [`KnownStream`], [`Gold`] |
//! | the verdict on a repair | [`judge_repair`], [`RepairVerdict`], [`ExpectedText`] |
//! | counts by variant and fault, and the best variant without harm | [`ScoredRepairs`], [`RepairTally`] |
//! | the tables | [`write_repairs`], [`write_arguments`] |

mod tally;
mod variant_verdicts;

pub use crate::files::repairs::{ArgumentRow, RepairRow, write_arguments, write_repairs};
pub use crate::judge::{
    ArgumentsVerdict, EventsVerdict, ExpectedText, RepairResult, RepairVerdict, before_and_gold,
    judge_arguments, judge_events, judge_repair,
};
pub use crate::truth::{Gold, KnownStream};
pub use tally::RepairTally;
pub use variant_verdicts::{
    ALL_FAULTS, BestRepair, INTACT, RepairScore, ScoredRepairs, StreamVerdicts, VariantVerdict,
    repair_rows,
};
