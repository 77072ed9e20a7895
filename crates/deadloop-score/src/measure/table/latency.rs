//! Measures of the delay between the onset of a loop and its stop.

use crate::measure::entry::{Measure, MeasureUnit, TableVisibility, UncertaintyMethod};
use crate::measure::formula::{Term, of_loops, of_one, one};
use crate::tally::Count;
use deadloop_replay::detect::Unit as Counted;

/// The generated length of a loop, averaged over all loops.
///
/// A miss, a premature alarm and a stale one cost the whole loop. A stop in an earlier repetition costs nothing.
pub static DELAY: Measure = Measure {
    name: "delay",
    title: "delay, chars",
    unit: MeasureUnit::Chars,
    counted_in: &Counted::ALL,
    more_is_better: false,
    meaning: "how far a loop runs on from its onset on average; a miss costs the whole loop",
    about: "delay_chars / loops",
    formula: of_one(&[of_loops(&[one(Count::Delay)])]),
    certainty: UncertaintyMethod::Resampled,
    bounds: Some("delay"),
    shown: TableVisibility::EVERYWHERE,
};

/// The share of loops that are ended by the end of their second whole copy, or within 1,000 units of their onset.
pub static IN_PERIODS: Measure = Measure {
    name: "in_periods",
    title: "within two copies",
    unit: MeasureUnit::Share,
    counted_in: &Counted::ALL,
    more_is_better: true,
    meaning: "the share of the loops that are ended by the end of the second whole copy, or within 1,000 units",
    about: "loops ended by the end of the second whole copy, or within 1,000 units / loops",
    formula: of_one(&[of_loops(&[one(Count::InPeriods)])]),
    certainty: UncertaintyMethod::Share,
    bounds: None,
    shown: TableVisibility::NOWHERE,
};

/// Ended loops by their delay: up to 100 chars, above 100 and up to 200, and so on.
const BINS: &[Term] = &[
    one(Count::Within100),
    one(Count::Within200),
    one(Count::Within500),
    one(Count::Within1000),
    one(Count::Within2000),
    one(Count::Within5000),
];

/// Ended loops by their delay: up to 2 calls or turns, above 2 and up to 5, and so on.
const STEPS: &[Term] = &[
    one(Count::Within2),
    one(Count::Within5),
    one(Count::Within10),
    one(Count::Within20),
];

/// The share of loops that are ended with a delay of at most 100 chars.
pub static WITHIN_100: Measure = Measure {
    name: "within_100",
    title: "within 100",
    unit: MeasureUnit::Share,
    counted_in: &[Counted::Chars],
    more_is_better: true,
    meaning: "the share of the loops that are ended within this distance of their onset",
    about: "loops ended with a delay of at most N / loops",
    formula: of_one(&[of_loops(BINS.split_at(1).0)]),
    certainty: UncertaintyMethod::Share,
    bounds: None,
    shown: TableVisibility::NOWHERE,
};

/// The share of loops that are ended with a delay of at most 200 chars.
pub static WITHIN_200: Measure = Measure {
    name: "within_200",
    title: "within 200",
    formula: of_one(&[of_loops(BINS.split_at(2).0)]),
    ..WITHIN_100
};

/// The share of loops that are ended with a delay of at most 500 chars.
pub static WITHIN_500: Measure = Measure {
    name: "within_500",
    title: "within 500",
    formula: of_one(&[of_loops(BINS.split_at(3).0)]),
    ..WITHIN_100
};

/// The share of loops that are ended with a delay of at most 1,000 chars.
pub static WITHIN_1000: Measure = Measure {
    name: "within_1000",
    title: "within 1,000",
    formula: of_one(&[of_loops(BINS.split_at(4).0)]),
    shown: TableVisibility::TABLES,
    ..WITHIN_100
};

/// The share of loops that are ended with a delay of at most 2,000 chars.
pub static WITHIN_2000: Measure = Measure {
    name: "within_2000",
    title: "within 2,000",
    formula: of_one(&[of_loops(BINS.split_at(5).0)]),
    ..WITHIN_100
};

/// The share of loops that are ended with a delay of at most 5,000 chars.
pub static WITHIN_5000: Measure = Measure {
    name: "within_5000",
    title: "within 5,000",
    formula: of_one(&[of_loops(BINS.split_at(6).0)]),
    ..WITHIN_100
};

/// The share of loops that are ended with a delay of at most 2 calls or turns.
pub static WITHIN_2: Measure = Measure {
    name: "within_2",
    title: "within 2",
    counted_in: &[Counted::Calls, Counted::Turns],
    formula: of_one(&[of_loops(STEPS.split_at(1).0)]),
    ..WITHIN_100
};

/// The share of loops that are ended with a delay of at most 5 calls or turns.
pub static WITHIN_5: Measure = Measure {
    name: "within_5",
    title: "within 5",
    formula: of_one(&[of_loops(STEPS.split_at(2).0)]),
    shown: TableVisibility::TABLES,
    ..WITHIN_2
};

/// The share of loops that are ended with a delay of at most 10 calls or turns.
pub static WITHIN_10: Measure = Measure {
    name: "within_10",
    title: "within 10",
    formula: of_one(&[of_loops(STEPS.split_at(3).0)]),
    ..WITHIN_2
};

/// The share of loops that are ended with a delay of at most 20 calls or turns.
pub static WITHIN_20: Measure = Measure {
    name: "within_20",
    title: "within 20",
    formula: of_one(&[of_loops(STEPS.split_at(4).0)]),
    ..WITHIN_2
};
