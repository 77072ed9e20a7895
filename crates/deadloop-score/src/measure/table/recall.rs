//! Recall, precision and related shares.

use crate::measure::entry::{Measure, TableVisibility, UncertaintyMethod};
use crate::measure::formula::{Formula, per_clean, per_loop, ratio, scaled, term};
use crate::tally::Count;

/// The share of loops that are ended: (hit + earlier) / loops.
///
/// An earlier repetition that is stopped ends the loop too. With 6 hits and 1 such stop in 10 loops, the share is 0.7.
pub static ENDED: Measure = Measure {
    name: "ended",
    title: "ended",
    meaning: "the share of the loops that are stopped, in the loop or in an earlier repetition",
    about: "(hit + earlier) / loops",
    formula: Formula::Ratio(per_loop(&[term(Count::Hit), term(Count::Earlier)])),
    bounds: Some("ended"),
    shown: TableVisibility::EVERYWHERE,
    ..Measure::SHARE
};

/// The share of loops that are hits: hit / loops. With 6 hits in 10 loops, it is 0.6.
pub static RECALL: Measure = Measure {
    name: "recall",
    title: "recall",
    meaning: "the share of the loops that are stopped while they loop",
    about: "hit / loops",
    formula: Formula::Ratio(per_loop(&[term(Count::Hit)])),
    bounds: Some("recall"),
    shown: TableVisibility::EVERYWHERE,
    ..Measure::SHARE
};

/// The share of scored alarms that are hits. With 6 hits and 2 wrong alarms, it is 0.75.
pub static PRECISION: Measure = Measure {
    name: "precision",
    title: "precision",
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
    shown: TableVisibility::EVERYWHERE,
    ..Measure::SHARE
};

/// The harmonic mean of precision and recall.
///
/// It is computed from counts, so that it is defined if precision or recall is n/a. A detector that never alarms has
/// F1 = 0 on loops. With 6 hits, 4 other loops and 2 wrong alarms, it is 12 / (12 + 4 + 2) = 0.667.
pub static F1: Measure = Measure {
    name: "f1",
    title: "F1",
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
    ..Measure::SHARE
};

/// The share of clean transcripts that are cut. With 1 cut in 20 clean transcripts, it is 0.05.
pub static FPR: Measure = Measure {
    name: "fpr",
    title: "clean transcripts cut",
    more_is_better: false,
    meaning: "the share of the clean transcripts that are cut",
    about: "false_alarm / clean",
    formula: Formula::Ratio(per_clean(&[term(Count::FalseAlarm)])),
    ..Measure::SHARE
};
