//! Recall, precision and related shares.

use crate::measure::entry::{Measure, MeasureUnit, TableVisibility, UncertaintyMethod};
use crate::measure::formula::{Formula, per_clean, per_loop, ratio, scaled, term};
use crate::tally::Count;
use deadloop_replay::detect::Unit as CountingUnit;

/// The share of loops that are ended: (hit + earlier) / loops.
///
/// An earlier repetition that is stopped ends the loop too. With 6 hits and 1 such stop in 10 loops, the share is 0.7.
pub static ENDED: Measure = Measure {
    name: "ended",
    title: "ended",
    unit: MeasureUnit::Share,
    counted_in: &CountingUnit::ALL,
    more_is_better: true,
    meaning: "the share of the loops that are stopped, in the loop or in an earlier repetition",
    about: "(hit + earlier) / loops",
    formula: Formula::Ratio(per_loop(&[term(Count::Hit), term(Count::Earlier)])),
    certainty: UncertaintyMethod::Share,
    bounds: Some("ended"),
    shown: TableVisibility::EVERYWHERE,
};

/// The share of loops that are hits: hit / loops. With 6 hits in 10 loops, it is 0.6.
pub static RECALL: Measure = Measure {
    name: "recall",
    title: "recall",
    unit: MeasureUnit::Share,
    counted_in: &CountingUnit::ALL,
    more_is_better: true,
    meaning: "the share of the loops that are stopped while they loop",
    about: "hit / loops",
    formula: Formula::Ratio(per_loop(&[term(Count::Hit)])),
    certainty: UncertaintyMethod::Share,
    bounds: Some("recall"),
    shown: TableVisibility::EVERYWHERE,
};

/// The share of scored alarms that are hits. With 6 hits and 2 wrong alarms, it is 0.75.
pub static PRECISION: Measure = Measure {
    name: "precision",
    title: "precision",
    unit: MeasureUnit::Share,
    counted_in: &CountingUnit::ALL,
    more_is_better: true,
    meaning: "the share of the alarms that are right",
    about: "hit / (hit + false_alarm + premature + stale)",
    formula: Formula::Ratio(ratio(
        1.0,
        &[term(Count::Hit)],
        &[
            term(Count::Hit),
            term(Count::FalseAlarm),
            term(Count::Premature),
            term(Count::Stale),
        ],
    )),
    certainty: UncertaintyMethod::Share,
    bounds: None,
    shown: TableVisibility::EVERYWHERE,
};

/// The harmonic mean of precision and recall.
///
/// It is computed from counts, so that it is defined if precision or recall is n/a. A detector that never alarms has
/// F1 = 0 on loops. With 6 hits, 4 other loops and 2 wrong alarms, it is 12 / (12 + 4 + 2) = 0.667.
pub static F1: Measure = Measure {
    name: "f1",
    title: "F1",
    unit: MeasureUnit::Share,
    counted_in: &CountingUnit::ALL,
    more_is_better: true,
    meaning: "the harmonic mean of precision and recall",
    about: "2 hit / (hit + loops + wrong alarms)",
    formula: Formula::Ratio(ratio(
        1.0,
        &[scaled(2.0, Count::Hit)],
        &[
            scaled(2.0, Count::Hit),
            scaled(2.0, Count::Premature),
            scaled(2.0, Count::Stale),
            term(Count::Miss),
            term(Count::Earlier),
            term(Count::FalseAlarm),
        ],
    )),
    certainty: UncertaintyMethod::Resampled,
    bounds: None,
    shown: TableVisibility::NOWHERE,
};

/// The share of clean transcripts that are cut. With 1 cut in 20 clean transcripts, it is 0.05.
pub static FPR: Measure = Measure {
    name: "fpr",
    title: "clean transcripts cut",
    unit: MeasureUnit::Share,
    counted_in: &CountingUnit::ALL,
    more_is_better: false,
    meaning: "the share of the clean transcripts that are cut",
    about: "false_alarm / clean",
    formula: Formula::Ratio(per_clean(&[term(Count::FalseAlarm)])),
    certainty: UncertaintyMethod::Share,
    bounds: None,
    shown: TableVisibility::NOWHERE,
};
