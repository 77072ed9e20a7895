//! Measures of the delay between the onset of a loop and its stop.

use crate::measure::entry::{Measure, MeasureUnit, TableVisibility, UncertaintyMethod};
use crate::measure::formula::{Formula, Term, per_loop, term};
use crate::tally::Count;
use deadloop_replay::detect::Unit as CountingUnit;

/// The mean number of generated units of a loop, over all loops.
///
/// A miss, a premature alarm and a stale alarm cost the whole loop. A stop in an earlier repetition costs nothing.
pub static DELAY: Measure = Measure {
    name: "delay",
    title: "delay, chars",
    unit: MeasureUnit::Chars,
    more_is_better: false,
    meaning: "how far a loop runs on from its onset on average; a miss costs the whole loop",
    about: "delay_chars / loops",
    formula: Formula::Ratio(per_loop(&[term(Count::Delay)])),
    certainty: UncertaintyMethod::Resampled,
    bounds: Some("delay"),
    shown: TableVisibility::EVERYWHERE,
    ..Measure::SHARE
};

/// The share of loops that are ended by the end of their second whole copy, or within 1,000 units of their onset.
pub static IN_PERIODS: Measure = Measure {
    name: "in_periods",
    title: "within two copies",
    meaning: "the share of the loops that are ended by the end of the second whole copy, or within 1,000 units",
    about: "loops ended by the end of the second whole copy, or within 1,000 units / loops",
    formula: Formula::Ratio(per_loop(&[term(Count::InPeriods)])),
    ..Measure::SHARE
};

/// Counts of ended loops by their delay: up to 100 chars, above 100 and up to 200, and so on.
const WITHIN_CHARS: &[Term] = &[
    term(Count::Within100),
    term(Count::Within200),
    term(Count::Within500),
    term(Count::Within1000),
    term(Count::Within2000),
    term(Count::Within5000),
];

/// Counts of ended loops by their delay: up to 2 calls or turns, above 2 and up to 5, and so on.
const WITHIN_STEPS: &[Term] = &[
    term(Count::Within2),
    term(Count::Within5),
    term(Count::Within10),
    term(Count::Within20),
];

/// Returns the measure of the share of loops whose delay is in the first `bins` of `delays`.
const fn ended_within(
    name: &'static str,
    title: &'static str,
    delays: &'static [Term],
    bins: usize,
) -> Measure {
    Measure {
        name,
        title,
        counted_in: &[CountingUnit::Chars],
        meaning: "the share of the loops that are ended within this distance of their onset",
        about: "loops ended with a delay of at most N / loops",
        formula: Formula::Ratio(per_loop(delays.split_at(bins).0)),
        ..Measure::SHARE
    }
}

/// The share of loops that are ended with a delay of at most 100 chars.
pub static WITHIN_100: Measure = ended_within("within_100", "within 100", WITHIN_CHARS, 1);

/// The share of loops that are ended with a delay of at most 200 chars.
pub static WITHIN_200: Measure = ended_within("within_200", "within 200", WITHIN_CHARS, 2);

/// The share of loops that are ended with a delay of at most 500 chars.
pub static WITHIN_500: Measure = ended_within("within_500", "within 500", WITHIN_CHARS, 3);

/// The share of loops that are ended with a delay of at most 1,000 chars.
pub static WITHIN_1000: Measure = Measure {
    shown: TableVisibility::SETTINGS_ONLY,
    ..ended_within("within_1000", "within 1,000", WITHIN_CHARS, 4)
};

/// The share of loops that are ended with a delay of at most 2,000 chars.
pub static WITHIN_2000: Measure = ended_within("within_2000", "within 2,000", WITHIN_CHARS, 5);

/// The share of loops that are ended with a delay of at most 5,000 chars.
pub static WITHIN_5000: Measure = ended_within("within_5000", "within 5,000", WITHIN_CHARS, 6);

/// The share of loops that are ended with a delay of at most 2 calls or turns.
pub static WITHIN_2: Measure = Measure {
    counted_in: &[CountingUnit::Calls, CountingUnit::Turns],
    ..ended_within("within_2", "within 2", WITHIN_STEPS, 1)
};

/// The share of loops that are ended with a delay of at most 5 calls or turns.
pub static WITHIN_5: Measure = Measure {
    counted_in: &[CountingUnit::Calls, CountingUnit::Turns],
    shown: TableVisibility::SETTINGS_ONLY,
    ..ended_within("within_5", "within 5", WITHIN_STEPS, 2)
};

/// The share of loops that are ended with a delay of at most 10 calls or turns.
pub static WITHIN_10: Measure = Measure {
    counted_in: &[CountingUnit::Calls, CountingUnit::Turns],
    ..ended_within("within_10", "within 10", WITHIN_STEPS, 3)
};

/// The share of loops that are ended with a delay of at most 20 calls or turns.
pub static WITHIN_20: Measure = Measure {
    counted_in: &[CountingUnit::Calls, CountingUnit::Turns],
    ..ended_within("within_20", "within 20", WITHIN_STEPS, 4)
};
