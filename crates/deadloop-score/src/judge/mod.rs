//! Verdicts on alarms ([`judge`], [`Verdict`]) and on repairs of streams.

mod alarm_verdict;
mod options;
mod repair_result;
mod repair_verdict;
mod verdict;

pub use alarm_verdict::judge;
pub use options::{JudgeOptions, ReadChannels, Transient};
pub use repair_result::{RepairResult, before_and_gold, judge_repair};
pub use repair_verdict::{
    ArgumentsVerdict, EventsVerdict, ExpectedText, RepairVerdict, judge_arguments, judge_events,
};
pub use verdict::{Outcome, Verdict};
