//! Rates of wrong alarms and of transient stops, per watched healthy unit.

use crate::measure::entry::{Measure, MeasureUnit, TableVisibility, UncertaintyMethod};
use crate::measure::formula::{Formula, Ratio, Term, ratio, term};
use crate::tally::Count;
use deadloop_replay::detect::Unit as CountingUnit;

/// The count of watched healthy units.
const EXPOSURE: &[Term] = &[term(Count::Exposure)];

/// The counts of alarms on healthy text: in a clean transcript, before the onset, or after the end of a repetition.
const WRONG_ALARMS: &[Term] = &[
    term(Count::FalseAlarm),
    term(Count::Premature),
    term(Count::Stale),
];

/// The count of alarms in repetitions that end on their own.
const TRANSIENT_STOPS: &[Term] = &[term(Count::TransientStop)];

/// Returns the number of alarms per watched healthy unit, times `scale`.
const fn per_watched_unit(scale: f64, alarms: &'static [Term]) -> Ratio {
    ratio(scale, alarms, EXPOSURE)
}

/// The number of wrong alarms per million watched healthy chars. With 2 in 106,900 chars, it is 18.7.
pub static FA_PER_MCHAR: Measure = Measure {
    name: "fa_per_mchar",
    title: "wrong alarms/Mchar",
    unit: MeasureUnit::PerMillion,
    counted_in: &[CountingUnit::Chars],
    more_is_better: false,
    meaning: "wrong alarms in a given amount of healthy output",
    about: "1e6 (false_alarm + premature + stale) / exposure",
    formula: Formula::Ratio(per_watched_unit(1e6, WRONG_ALARMS)),
    certainty: UncertaintyMethod::Rate,
    bounds: Some("fa"),
    shown: TableVisibility::EVERYWHERE,
};

/// The number of wrong alarms per thousand watched healthy calls.
pub static FA_PER_KCALL: Measure = Measure {
    name: "fa_per_kcall",
    title: "wrong alarms/kcall",
    counted_in: &[CountingUnit::Calls],
    about: "1e3 (false_alarm + premature + stale) / exposure, in calls",
    formula: Formula::Ratio(per_watched_unit(1e3, WRONG_ALARMS)),
    ..FA_PER_MCHAR
};

/// The number of wrong alarms per thousand watched healthy turns.
pub static FA_PER_KTURN: Measure = Measure {
    name: "fa_per_kturn",
    title: "wrong alarms/kturn",
    counted_in: &[CountingUnit::Turns],
    about: "1e3 (false_alarm + premature + stale) / exposure, in turns",
    formula: Formula::Ratio(per_watched_unit(1e3, WRONG_ALARMS)),
    ..FA_PER_MCHAR
};

/// The number of alarms in repetitions that end on their own, per million watched healthy chars.
pub static TRANSIENT_PER_MCHAR: Measure = Measure {
    name: "transient_per_mchar",
    title: "transient stops/Mchar",
    unit: MeasureUnit::PerMillion,
    counted_in: &[CountingUnit::Chars],
    more_is_better: false,
    meaning: "transient stops, of repetitions that would have ended by themselves, in a given amount of healthy output",
    about: "1e6 transient_stop / exposure",
    formula: Formula::Ratio(per_watched_unit(1e6, TRANSIENT_STOPS)),
    certainty: UncertaintyMethod::Rate,
    ..Measure::SHARE
};

/// The number of alarms in repetitions that end on their own, per thousand watched healthy calls.
pub static TRANSIENT_PER_KCALL: Measure = Measure {
    name: "transient_per_kcall",
    title: "transient stops/kcall",
    counted_in: &[CountingUnit::Calls],
    about: "1e3 transient_stop / exposure, in calls",
    formula: Formula::Ratio(per_watched_unit(1e3, TRANSIENT_STOPS)),
    ..TRANSIENT_PER_MCHAR
};

/// The number of alarms in repetitions that end on their own, per thousand watched healthy turns.
pub static TRANSIENT_PER_KTURN: Measure = Measure {
    name: "transient_per_kturn",
    title: "transient stops/kturn",
    counted_in: &[CountingUnit::Turns],
    about: "1e3 transient_stop / exposure, in turns",
    formula: Formula::Ratio(per_watched_unit(1e3, TRANSIENT_STOPS)),
    ..TRANSIENT_PER_MCHAR
};
