//! Wrong alarms per healthy text, calls, turns, tokens, time or money that was watched.

use crate::measure::entry::{Certainty, Measure, MeasureUnit, Shown};
use crate::measure::formula::{Ratio, Sample, Term, alone, one};
use crate::tally::Count;

/// The healthy units that were watched.
const EXPOSURE: &[Term] = &[one(Count::Exposure)];

/// Alarms on healthy text: in a clean transcript, before the onset, or after a repetition that had ended.
const WRONG: &[Term] = &[
    one(Count::FalseAlarm),
    one(Count::Premature),
    one(Count::Stale),
];

/// `scale` times the wrong alarms per unit that was watched.
const fn wrong_alarms(scale: f64) -> Ratio {
    Ratio {
        scale,
        num: WRONG,
        den: EXPOSURE,
        of: Sample::Clean,
    }
}

/// Wrong alarms per million healthy chars that were watched. 2 in 106,900: 18.7.
pub static FA_PER_MCHAR: Measure = Measure {
    name: "fa_per_mchar",
    title: "false alarms/Mchar",
    unit: MeasureUnit::PerMillion,
    more_is_better: false,
    meaning: "wrong alarms in a given amount of healthy output",
    about: "1e6 (false_alarm + premature + stale) / exposure",
    formula: alone(&[wrong_alarms(1e6)]),
    certainty: Certainty::Rate,
    bounds: Some("fa"),
    shown: Shown::EVERYWHERE,
};

/// Wrong alarms per thousand healthy calls.
pub static FA_PER_KCALL: Measure = Measure {
    name: "fa_per_kcall",
    title: "false alarms/kcall",
    about: "1e3 (false_alarm + premature + stale) / exposure, in calls",
    formula: alone(&[wrong_alarms(1e3)]),
    ..FA_PER_MCHAR
};

/// Wrong alarms per thousand healthy turns.
pub static FA_PER_KTURN: Measure = Measure {
    name: "fa_per_kturn",
    title: "false alarms/kturn",
    about: "1e3 (false_alarm + premature + stale) / exposure, in turns",
    formula: alone(&[wrong_alarms(1e3)]),
    ..FA_PER_MCHAR
};

/// Wrong alarms per million healthy tokens.
pub static FA_PER_MTOKEN: Measure = Measure {
    name: "fa_per_mtoken",
    title: "false alarms/Mtoken",
    about: "1e6 (false_alarm + premature + stale) / exposure, in tokens",
    formula: alone(&[wrong_alarms(1e6)]),
    ..FA_PER_MCHAR
};

/// Wrong alarms per hour of healthy output; exposure is in milliseconds.
pub static FA_PER_HOUR: Measure = Measure {
    name: "fa_per_hour",
    title: "false alarms/hour",
    about: "3.6e6 (false_alarm + premature + stale) / exposure, in ms",
    formula: alone(&[wrong_alarms(3.6e6)]),
    ..FA_PER_MCHAR
};

/// Wrong alarms per unit of the currency; exposure is in millionths of it.
pub static FA_PER_MONEY: Measure = Measure {
    name: "fa_per_money",
    title: "false alarms/unit of the currency",
    about: "1e6 (false_alarm + premature + stale) / exposure, in millionths of the currency",
    formula: alone(&[wrong_alarms(1e6)]),
    ..FA_PER_MCHAR
};

/// Alarms in repetitions that end by themselves, per million healthy chars that were watched.
pub static TRANSIENT_PER_MCHAR: Measure = Measure {
    name: "transient_per_mchar",
    title: "recovered repetitions cut/Mchar",
    unit: MeasureUnit::PerMillion,
    more_is_better: false,
    meaning: "stops of repetitions that end by themselves, in a given amount of healthy output",
    about: "1e6 transient_stop / exposure",
    formula: alone(&[Ratio {
        scale: 1e6,
        num: &[one(Count::TransientStop)],
        den: EXPOSURE,
        of: Sample::Clean,
    }]),
    certainty: Certainty::Rate,
    bounds: None,
    shown: Shown::TABLES,
};
