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
use deadloop_replay::detect::Unit as CountingUnit;

/// All measures, in the order of their columns in scores.parquet.
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

/// Returns the measures of the share of loops ended within a delay, in the order of
/// [`Count::withins`](crate::Count::withins).
pub fn withins(unit: CountingUnit) -> &'static [Metric] {
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
        CountingUnit::Chars => &CHARS,
        CountingUnit::Calls | CountingUnit::Turns => &STEPS,
    }
}

/// Returns the rate of wrong alarms if output is counted in `unit`.
pub fn wrong_rate(unit: CountingUnit) -> Metric {
    match unit {
        CountingUnit::Chars => &FA_PER_MCHAR,
        CountingUnit::Calls => &FA_PER_KCALL,
        CountingUnit::Turns => &FA_PER_KTURN,
    }
}

/// Returns the rate of transient stops if output is counted in `unit`.
pub(crate) fn transient_rate(unit: CountingUnit) -> Metric {
    match unit {
        CountingUnit::Chars => &TRANSIENT_PER_MCHAR,
        CountingUnit::Calls => &TRANSIENT_PER_KCALL,
        CountingUnit::Turns => &TRANSIENT_PER_KTURN,
    }
}

/// Iterates over the measures that exist if output is counted in `unit`, in the order of [`MEASURES`].
pub fn measures(unit: CountingUnit) -> impl Iterator<Item = Metric> {
    let exists = move |measure: &Metric| measure.counted_in.contains(&unit);
    MEASURES.into_iter().filter(exists)
}

impl Measure {
    /// Returns whether the measure is the rate of wrong alarms, in any unit.
    pub fn is_wrong_rate(&self) -> bool {
        CountingUnit::ALL
            .into_iter()
            .any(|unit| wrong_rate(unit) == self)
    }
}
