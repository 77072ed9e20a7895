//! Recall, precision and related shares.

use crate::measure::entry::{Measure, MeasureUnit, TableVisibility, UncertaintyMethod};
use crate::measure::formula::{Formula, of_clean, of_loops, one, ratio, times};
use crate::tally::Count;
use deadloop_replay::detect::Unit as Counted;

/// The share of loops that are ended: (hit + earlier) / loops.
///
/// A loop that was stopped in an earlier repetition never came. 6 hits and 1 such stop of 10 loops: 0.7.
pub static ENDED: Measure = Measure {
    name: "ended",
    title: "ended",
    unit: MeasureUnit::Share,
    counted_in: &Counted::ALL,
    more_is_better: true,
    meaning: "the share of the loops that are stopped, in the loop or in an earlier repetition",
    about: "(hit + earlier) / loops",
    formula: Formula::Ratio(of_loops(&[one(Count::Hit), one(Count::Earlier)])),
    certainty: UncertaintyMethod::Share,
    bounds: Some("ended"),
    shown: TableVisibility::EVERYWHERE,
};

/// The share of loops that are hits: hit / loops. 6 of 10: 0.6.
pub static RECALL: Measure = Measure {
    name: "recall",
    title: "recall",
    unit: MeasureUnit::Share,
    counted_in: &Counted::ALL,
    more_is_better: true,
    meaning: "the share of the loops that are stopped while they loop",
    about: "hit / loops",
    formula: Formula::Ratio(of_loops(&[one(Count::Hit)])),
    certainty: UncertaintyMethod::Share,
    bounds: Some("recall"),
    shown: TableVisibility::EVERYWHERE,
};

/// The share of scored alarms that are hits. 6 hits, 2 wrong alarms: 0.75.
pub static PRECISION: Measure = Measure {
    name: "precision",
    title: "precision",
    unit: MeasureUnit::Share,
    counted_in: &Counted::ALL,
    more_is_better: true,
    meaning: "the share of the alarms that are right",
    about: "hit / (hit + false_alarm + premature + stale)",
    formula: Formula::Ratio(ratio(
        1.0,
        &[one(Count::Hit)],
        &[
            one(Count::Hit),
            one(Count::FalseAlarm),
            one(Count::Premature),
            one(Count::Stale),
        ],
    )),
    certainty: UncertaintyMethod::Share,
    bounds: None,
    shown: TableVisibility::EVERYWHERE,
};

/// The harmonic mean of precision and recall.
///
/// Computed from counts, so that it is defined if one of them is n/a: a detector that never alarms has F1 = 0 on loops.
/// 6 hits, 4 other loops, 2 wrong alarms: 12 / (12 + 4 + 2) = 0.667.
pub static F1: Measure = Measure {
    name: "f1",
    title: "F1",
    unit: MeasureUnit::Share,
    counted_in: &Counted::ALL,
    more_is_better: true,
    meaning: "the harmonic mean of precision and recall",
    about: "2 hit / (hit + loops + wrong alarms)",
    formula: Formula::Ratio(ratio(
        1.0,
        &[times(2.0, Count::Hit)],
        &[
            times(2.0, Count::Hit),
            times(2.0, Count::Premature),
            times(2.0, Count::Stale),
            one(Count::Miss),
            one(Count::Earlier),
            one(Count::FalseAlarm),
        ],
    )),
    certainty: UncertaintyMethod::Resampled,
    bounds: None,
    shown: TableVisibility::NOWHERE,
};

/// The share of clean transcripts that are cut. 1 of 20: 0.05.
pub static FPR: Measure = Measure {
    name: "fpr",
    title: "clean transcripts cut",
    unit: MeasureUnit::Share,
    counted_in: &Counted::ALL,
    more_is_better: false,
    meaning: "the share of the clean transcripts that are cut",
    about: "false_alarm / clean",
    formula: Formula::Ratio(of_clean(&[one(Count::FalseAlarm)])),
    certainty: UncertaintyMethod::Share,
    bounds: None,
    shown: TableVisibility::NOWHERE,
};
