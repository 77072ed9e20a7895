//! The table [`MEASURES`], and the measures of each unit.

mod latency;
mod recall;
mod savings;
mod wrong_alarms;

pub use latency::*;
pub use recall::*;
pub use savings::*;
pub use wrong_alarms::*;

use super::entry::{Measure, Metric};
use deadloop_replay::detect::Unit as Counted;

/// The measures, in the order of their columns in scores.parquet.
pub static MEASURES: [Metric; 26] = [
    &ENDED,
    &PRECISION,
    &RECALL,
    &FPR,
    &F1,
    &FA_PER_MCHAR,
    &FA_PER_KCALL,
    &FA_PER_KTURN,
    &TRANSIENT_PER_MCHAR,
    &TRANSIENT_PER_KCALL,
    &TRANSIENT_PER_KTURN,
    &DELAY,
    &WITHIN_100,
    &WITHIN_200,
    &WITHIN_500,
    &WITHIN_1000,
    &WITHIN_2000,
    &WITHIN_5000,
    &WITHIN_2,
    &WITHIN_5,
    &WITHIN_10,
    &WITHIN_20,
    &IN_PERIODS,
    &SAVED,
    &LOST,
    &BREAK_EVEN,
];

/// Returns the measures that count loops by delay, in the order of [`Count::withins`](crate::Count::withins).
pub fn withins(unit: Counted) -> &'static [Metric] {
    static CHARS: [Metric; 6] = [
        &WITHIN_100,
        &WITHIN_200,
        &WITHIN_500,
        &WITHIN_1000,
        &WITHIN_2000,
        &WITHIN_5000,
    ];
    static STEPS: [Metric; 4] = [&WITHIN_2, &WITHIN_5, &WITHIN_10, &WITHIN_20];
    match unit {
        Counted::Chars => &CHARS,
        Counted::Calls | Counted::Turns => &STEPS,
    }
}

/// Returns the rate of wrong alarms if things are counted in `unit`.
pub fn wrong_rate(unit: Counted) -> Metric {
    match unit {
        Counted::Chars => &FA_PER_MCHAR,
        Counted::Calls => &FA_PER_KCALL,
        Counted::Turns => &FA_PER_KTURN,
    }
}

/// Returns the rate of transient stops if things are counted in `unit`.
pub(crate) fn transient_rate(unit: Counted) -> Metric {
    match unit {
        Counted::Chars => &TRANSIENT_PER_MCHAR,
        Counted::Calls => &TRANSIENT_PER_KCALL,
        Counted::Turns => &TRANSIENT_PER_KTURN,
    }
}

/// Iterates over the measures that exist if things are counted in `unit`, in the order of [`MEASURES`].
pub fn measures(unit: Counted) -> impl Iterator<Item = Metric> {
    let exists = move |measure: &Metric| measure.counted_in.contains(&unit);
    MEASURES.into_iter().filter(exists)
}

impl Measure {
    /// Returns whether the measure is the rate of wrong alarms, in any unit.
    pub fn is_wrong_rate(&self) -> bool {
        Counted::ALL
            .into_iter()
            .any(|unit| wrong_rate(unit) == self)
    }
}
