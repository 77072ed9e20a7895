//! Measures of the chars that a guard spares and costs.

use crate::measure::entry::{Measure, MeasureUnit, TableVisibility, UncertaintyMethod};
use crate::measure::formula::{
    Formula, Ratio, Term, Times, per_clean, per_loop, ratio, scaled, term,
};
use crate::tally::Count;

/// The share of looping output that was not generated. For example, (6 x 1600 + 500) / (10 x 2000) = 0.505.
pub static SAVED: Measure = Measure {
    name: "saved",
    title: "saved",
    meaning: "the share of what all loops generate that is not generated any more",
    about: "saved_chars / loop_chars",
    formula: Formula::Ratio(ratio(1.0, &[term(Count::Saved)], &[term(Count::LoopChars)])),
    certainty: UncertaintyMethod::Resampled,
    bounds: Some("saved"),
    shown: TableVisibility::EVERYWHERE,
    ..Measure::SHARE
};

/// Healthy output thrown away, per million units that were watched or thrown away. It is at most a million.
pub static LOST: Measure = Measure {
    name: "lost",
    title: "healthy chars lost/Mchar",
    unit: MeasureUnit::PerMillion,
    more_is_better: false,
    meaning: "the healthy output that is thrown away",
    about: "1e6 lost_chars / (lost_chars + exposure)",
    formula: Formula::Ratio(ratio(
        1e6,
        &[term(Count::Lost)],
        &[term(Count::Lost), term(Count::Exposure)],
    )),
    certainty: UncertaintyMethod::Resampled,
    ..Measure::SHARE
};

/// S, the mean number of units that a guard spares per loop.
///
/// Units that were not generated count. A premature or stale alarm costs the units up to the alarm, and one mean clean
/// response that is generated again.
pub(in crate::measure) const SPARED: Ratio = per_loop(&[
    term(Count::Saved),
    scaled(-1.0, Count::CutAt),
    Term(Count::Premature, Times::Responses(-1.0)),
    Term(Count::Stale, Times::Responses(-1.0)),
]);

/// W, the mean number of units that a guard costs per clean transcript.
///
/// A false alarm costs the units up to the alarm, and one mean clean response that is generated again.
pub(in crate::measure) const WASTED: Ratio = per_clean(&[
    term(Count::FalseAt),
    Term(Count::FalseAlarm, Times::Responses(1.0)),
]);

/// The share of looping responses at which the guard pays for itself.
pub static BREAK_EVEN: Measure = Measure {
    name: "break_even",
    title: "break-even share of loops",
    more_is_better: false,
    meaning: "the share of looping responses from which on the guard pays for itself",
    about: "W / (S + W); S = mean over loops of units spared, less (alarm + R) for premature and stale; W = mean over clean transcripts of (alarm + R) for false alarms; R = units of one mean clean response; n/a where S <= 0",
    formula: Formula::BreakEven {
        spared: SPARED,
        wasted: WASTED,
    },
    certainty: UncertaintyMethod::Resampled,
    ..Measure::SHARE
};
