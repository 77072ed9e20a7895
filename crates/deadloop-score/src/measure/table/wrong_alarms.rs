//! Rates of wrong alarms and of transient stops, per watched healthy unit.

use crate::measure::entry::{Measure, MeasureUnit, TableVisibility, UncertaintyMethod};
use crate::measure::formula::{Formula, Ratio, Term, one, ratio};
use crate::tally::Count;
use deadloop_replay::detect::Unit as Counted;

/// The watched healthy units.
const EXPOSURE: &[Term] = &[one(Count::Exposure)];

/// Alarms on healthy text: in a clean transcript, before the onset, or after a repetition that had ended.
const WRONG_ALARMS: &[Term] = &[
    one(Count::FalseAlarm),
    one(Count::Premature),
    one(Count::Stale),
];

/// Alarms in repetitions that end on their own.
const TRANSIENT_STOPS: &[Term] = &[one(Count::TransientStop)];

/// Returns `scale` times these alarms per watched unit.
const fn per_watched(scale: f64, num: &'static [Term]) -> Ratio {
    ratio(scale, num, EXPOSURE)
}

/// Wrong alarms per million watched healthy chars. 2 in 106,900: 18.7.
pub static FA_PER_MCHAR: Measure = Measure {
    name: "fa_per_mchar",
    title: "wrong alarms/Mchar",
    unit: MeasureUnit::PerMillion,
    counted_in: &[Counted::Chars],
    more_is_better: false,
    meaning: "wrong alarms in a given amount of healthy output",
    about: "1e6 (false_alarm + premature + stale) / exposure",
    formula: Formula::Ratio(per_watched(1e6, WRONG_ALARMS)),
    certainty: UncertaintyMethod::Rate,
    bounds: Some("fa"),
    shown: TableVisibility::EVERYWHERE,
};

/// Wrong alarms per thousand healthy calls.
pub static FA_PER_KCALL: Measure = Measure {
    name: "fa_per_kcall",
    title: "wrong alarms/kcall",
    counted_in: &[Counted::Calls],
    about: "1e3 (false_alarm + premature + stale) / exposure, in calls",
    formula: Formula::Ratio(per_watched(1e3, WRONG_ALARMS)),
    ..FA_PER_MCHAR
};

/// Wrong alarms per thousand healthy turns.
pub static FA_PER_KTURN: Measure = Measure {
    name: "fa_per_kturn",
    title: "wrong alarms/kturn",
    counted_in: &[Counted::Turns],
    about: "1e3 (false_alarm + premature + stale) / exposure, in turns",
    formula: Formula::Ratio(per_watched(1e3, WRONG_ALARMS)),
    ..FA_PER_MCHAR
};

/// Alarms in repetitions that end on their own, per million watched healthy chars.
pub static TRANSIENT_PER_MCHAR: Measure = Measure {
    name: "transient_per_mchar",
    title: "transient stops/Mchar",
    unit: MeasureUnit::PerMillion,
    counted_in: &[Counted::Chars],
    more_is_better: false,
    meaning: "transient stops, of repetitions that would have ended by themselves, in a given amount of healthy output",
    about: "1e6 transient_stop / exposure",
    formula: Formula::Ratio(per_watched(1e6, TRANSIENT_STOPS)),
    certainty: UncertaintyMethod::Rate,
    bounds: None,
    shown: TableVisibility::NOWHERE,
};

/// Alarms in repetitions that end on their own, per thousand healthy calls.
pub static TRANSIENT_PER_KCALL: Measure = Measure {
    name: "transient_per_kcall",
    title: "transient stops/kcall",
    counted_in: &[Counted::Calls],
    about: "1e3 transient_stop / exposure, in calls",
    formula: Formula::Ratio(per_watched(1e3, TRANSIENT_STOPS)),
    ..TRANSIENT_PER_MCHAR
};

/// Alarms in repetitions that end on their own, per thousand healthy turns.
pub static TRANSIENT_PER_KTURN: Measure = Measure {
    name: "transient_per_kturn",
    title: "transient stops/kturn",
    counted_in: &[Counted::Turns],
    about: "1e3 transient_stop / exposure, in turns",
    formula: Formula::Ratio(per_watched(1e3, TRANSIENT_STOPS)),
    ..TRANSIENT_PER_MCHAR
};
