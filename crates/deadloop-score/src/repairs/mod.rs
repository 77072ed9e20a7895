//! Repairers of faulty streams: held against the truth, counted by fault, chosen under a limit on harm.
//!
//! | to find | look in |
//! |---|---|
//! | what was meant by a stream | [`KnownStream`], [`Gold`] |
//! | the verdict on a repair | [`judge_repair`], [`Mended`], [`MeantText`] |
//! | counts by variant and fault, the choice for each repairer, its price list | [`score_repairs`], [`ScoredRepairs`] |
//! | the choice among the variants of one repairer | [`Contending`], [`RepairTally`] |
//! | the tables | [`write_repairs`], [`write_repair_scores`] |

mod choose;
mod scored;

pub use crate::files::repairs::{
    ArgumentRow, RepairRow, RepairScore, SHARES, share_of, write_arguments, write_repair_scores,
    write_repairs,
};
pub use crate::judge::{
    Came, MeantText, Mended, MendedArguments, MendedEvents, before_and_gold, judge_arguments,
    judge_events, judge_repair,
};
pub use crate::truth::{Gold, KnownStream};
pub use choose::{Candidate, Contending, RepairChoice, RepairTally};
pub use scored::{
    ALL_FAULTS, ChosenRepair, Fare, MendedStream, PricedRepair, RepairOptions, ScoredRepairs,
    WrongRepair, WrongRepairs, described_repairs, repair_rows, score_repairs,
};
