//! The table: [`MEASURES`], and the measures of each unit.

mod latency;
mod right;
mod worth;
mod wrong_alarms;

pub use latency::*;
pub use right::*;
pub use worth::*;
pub use wrong_alarms::*;

use super::entry::{Measure, Metric};
use deadloop_replay::detect::Unit as Counted;

/// All measures, in the order of their columns in scores.parquet.
pub static MEASURES: [Metric; 20] = [
    &ENDED,
    &PRECISION,
    &RECALL,
    &FPR,
    &F1,
    &FA_PER_MCHAR,
    &TRANSIENT_PER_MCHAR,
    &PPV,
    &DELAY,
    &WITHIN_100,
    &WITHIN_200,
    &WITHIN_500,
    &WITHIN_1000,
    &WITHIN_2000,
    &WITHIN_5000,
    &SAVED,
    &LOST,
    &KIND_ACCURACY,
    &NET_PER_1000,
    &BREAK_EVEN,
];

/// The measures that count hits within a distance of the onset, in the order of [`WITHIN`](crate::WITHIN).
pub static WITHINS: [Metric; 6] = [
    &WITHIN_100,
    &WITHIN_200,
    &WITHIN_500,
    &WITHIN_1000,
    &WITHIN_2000,
    &WITHIN_5000,
];

/// The rate of wrong alarms where things are counted in `unit`.
pub fn wrong_rate(unit: Counted) -> Metric {
    match unit {
        Counted::Chars => &FA_PER_MCHAR,
        Counted::Calls => &FA_PER_KCALL,
        Counted::Turns => &FA_PER_KTURN,
        Counted::Tokens => &FA_PER_MTOKEN,
        Counted::Ms => &FA_PER_HOUR,
        Counted::Money => &FA_PER_MONEY,
    }
}

/// The measures that are written where things are counted in `unit`, in the order of [`MEASURES`].
pub fn measures(unit: Counted) -> impl Iterator<Item = Metric> {
    let told = move |measure: &Metric| {
        unit == Counted::Chars || !std::ptr::eq(*measure, &TRANSIENT_PER_MCHAR)
    };
    let all = MEASURES.into_iter().filter(told);
    all.map(move |measure| {
        if std::ptr::eq(measure, &FA_PER_MCHAR) {
            wrong_rate(unit)
        } else {
            measure
        }
    })
}

impl Measure {
    /// Whether it is the rate of wrong alarms, in whichever unit.
    pub fn is_wrong_rate(&self) -> bool {
        Counted::ALL
            .into_iter()
            .any(|unit| wrong_rate(unit) == self)
    }
}
