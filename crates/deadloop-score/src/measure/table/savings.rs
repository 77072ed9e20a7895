//! Measures of the chars that a guard spares and costs.

use crate::measure::entry::{Measure, MeasureUnit, TableVisibility, UncertaintyMethod};
use crate::measure::formula::{Formula, Ratio, Term, Times, of_clean, of_loops, one, ratio, times};
use crate::tally::Count;
use deadloop_replay::detect::Unit as Counted;

/// The share of looping chars that were not generated. (6 x 1600 + 500) / (10 x 2000) = 0.505.
pub static SAVED: Measure = Measure {
    name: "saved",
    title: "saved",
    unit: MeasureUnit::Share,
    counted_in: &Counted::ALL,
    more_is_better: true,
    meaning: "the share of what all loops generate that is not generated any more",
    about: "saved_chars / loop_chars",
    formula: Formula::Ratio(ratio(1.0, &[one(Count::Saved)], &[one(Count::LoopChars)])),
    certainty: UncertaintyMethod::Resampled,
    bounds: Some("saved"),
    shown: TableVisibility::EVERYWHERE,
};

/// Healthy chars thrown away, per million watched or thrown away. It is at most a million.
pub static LOST: Measure = Measure {
    name: "lost",
    title: "healthy chars lost/Mchar",
    unit: MeasureUnit::PerMillion,
    counted_in: &Counted::ALL,
    more_is_better: false,
    meaning: "the healthy output that is thrown away",
    about: "1e6 lost_chars / (lost_chars + exposure)",
    formula: Formula::Ratio(ratio(
        1e6,
        &[one(Count::Lost)],
        &[one(Count::Lost), one(Count::Exposure)],
    )),
    certainty: UncertaintyMethod::Resampled,
    bounds: None,
    shown: TableVisibility::NOWHERE,
};

/// S, the units that a loop spares.
///
/// The units that were not generated, minus the units that a premature or stale alarm threw away, minus one mean clean
/// response that is generated again.
pub(in crate::measure) const SPARED: Ratio = of_loops(&[
    one(Count::Saved),
    times(-1.0, Count::CutAt),
    Term(Count::Premature, Times::Responses(-1.0)),
    Term(Count::Stale, Times::Responses(-1.0)),
]);

/// W, the units that a clean transcript costs: those before a false alarm, and one mean clean response generated again.
pub(in crate::measure) const WASTED: Ratio = of_clean(&[
    one(Count::FalseAt),
    Term(Count::FalseAlarm, Times::Responses(1.0)),
]);

/// The share of looping responses from which the guard pays for itself.
pub static BREAK_EVEN: Measure = Measure {
    name: "break_even",
    title: "break-even share of loops",
    unit: MeasureUnit::Share,
    counted_in: &Counted::ALL,
    more_is_better: false,
    meaning: "the share of looping responses from which on the guard pays for itself",
    about: "W / (S + W); S = mean over loops of units spared, less (alarm + R) for premature and stale; W = mean over clean transcripts of (alarm + R) for false alarms; R = units of one mean clean response; n/a where S <= 0",
    formula: Formula::BreakEven {
        spared: SPARED,
        wasted: WASTED,
    },
    certainty: UncertaintyMethod::Resampled,
    bounds: None,
    shown: TableVisibility::NOWHERE,
};
