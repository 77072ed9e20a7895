//! How soon after its onset a loop is stopped.

use crate::measure::entry::{Certainty, Measure, MeasureUnit, Shown};
use crate::measure::formula::{Term, alone, of_loops, one};
use crate::tally::Count;

/// The restricted mean delay: how much of a loop was generated, averaged over all loops. A miss, a premature
/// alarm and a stale one cost the whole loop. A stop in an earlier repetition costs nothing.
pub static DELAY: Measure = Measure {
    name: "delay",
    title: "delay, chars",
    unit: MeasureUnit::Chars,
    more_is_better: false,
    meaning: "how far a loop runs on from its onset on average; a miss costs the whole loop",
    about: "delay_chars / loops",
    formula: alone(&[of_loops(&[one(Count::Delay)])]),
    certainty: Certainty::Resampled,
    bounds: None,
    shown: Shown::EVERYWHERE,
};

/// Hits by their distance from the onset: up to 100 chars, from there to 200, and so on.
const BINS: &[Term] = &[
    one(Count::Within100),
    one(Count::Within200),
    one(Count::Within500),
    one(Count::Within1000),
    one(Count::Within2000),
    one(Count::Within5000),
];

/// The share of all loops that were hit within 100 chars of their onset.
pub static WITHIN_100: Measure = Measure {
    name: "within_100",
    title: "within 100",
    unit: MeasureUnit::Share,
    more_is_better: true,
    meaning: "the share of the loops that are stopped within this distance of their onset",
    about: "hits within the distance / loops",
    formula: alone(&[of_loops(BINS.split_at(1).0)]),
    certainty: Certainty::Share,
    bounds: None,
    shown: Shown::NOWHERE,
};

/// The share of all loops that were hit within 200 chars of their onset.
pub static WITHIN_200: Measure = Measure {
    name: "within_200",
    title: "within 200",
    formula: alone(&[of_loops(BINS.split_at(2).0)]),
    ..WITHIN_100
};

/// The share of all loops that were hit within 500 chars of their onset.
pub static WITHIN_500: Measure = Measure {
    name: "within_500",
    title: "within 500",
    formula: alone(&[of_loops(BINS.split_at(3).0)]),
    ..WITHIN_100
};

/// The share of all loops that were hit within 1,000 chars of their onset.
pub static WITHIN_1000: Measure = Measure {
    name: "within_1000",
    title: "within 1,000",
    formula: alone(&[of_loops(BINS.split_at(4).0)]),
    shown: Shown::TABLES,
    ..WITHIN_100
};

/// The share of all loops that were hit within 2,000 chars of their onset.
pub static WITHIN_2000: Measure = Measure {
    name: "within_2000",
    title: "within 2,000",
    formula: alone(&[of_loops(BINS.split_at(5).0)]),
    ..WITHIN_100
};

/// The share of all loops that were hit within 5,000 chars of their onset.
pub static WITHIN_5000: Measure = Measure {
    name: "within_5000",
    title: "within 5,000",
    formula: alone(&[of_loops(BINS.split_at(6).0)]),
    ..WITHIN_100
};
