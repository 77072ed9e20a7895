//! `circling`: text that repeats itself in other words.
//!
//! Two conditions must hold together: few pairs of words are new, and there are many markers of doubt ("wait",
//! "maybe"). Neither condition suffices alone. Both are computed from counts, so the detector needs no model and has no
//! rounding errors.
//!
//! | to find | look in |
//! |---|---|
//! | parameters, and their refused combinations | here |
//! | the lists of markers | `markers.toml`, read in `markers` |
//! | chars to tokens | `tokens` |
//! | counts of the window and the history | `recent` |
//! | from counts to facts | `meter` |
//!
//! The exact definition is in `exactly.md`, which `deadloop detectors` shows.
//!
//! Cost: one look-up when a token enters, one when it leaves, and 20 bytes for each token of the history.

use crate::detectors::entry::detector;
use crate::detectors::{Measurement, Refusal, Response};
use crate::measure::meter::{IGNORE, PER, PROMPT};
use crate::settings::param::Param;
use crate::settings::params::Params;
use crate::settings::value::Value;

mod markers;
mod meter;
mod recent;
mod tokens;

detector! {
    ENTRY = "circling", version 2,
    "the same few ideas again in other words: few new pairs of words, many markers of doubt",
    params: PARAMS,
    check: check,
    measure: Measurement::Text(meter::recipe),
    response: Response::Warn,
}

const CODE: &str = "code";
const HISTORY: &str = "history";
const MARKERS: &str = "markers";
const MAX_NEW: &str = "max_new";
const MIN_MARKERS: &str = "min_markers";
const START_AFTER: &str = "start_after";
const WINDOW: &str = "window";

static PARAMS: &[Param] = &[
    Param::count(WINDOW, 5500, 1..=1_000_000)
        .unit("chars")
        .doc("the length of the text that is measured, the last chars"),
    Param::count(HISTORY, 20_000, 1..=1_000_000)
        .unit("chars")
        .doc("how far back an equal pair of words makes one that is not new"),
    Param::texts(MARKERS, &["en", "zh"])
        .doc("markers of doubt: the lists en and zh, and phrases of 1 to 4 words; none: they are not asked"),
    Param::count(MAX_NEW, 160, 1..=1000)
        .at_least()
        .unit("of 1000 pairs")
        .doc("new pairs among those of the window, at most"),
    Param::count(MIN_MARKERS, 7, 0..=1000)
        .at_most()
        .unit("in 1000 chars")
        .doc("markers in the window, at least"),
    Param::count(START_AFTER, 0, 0..=100_000_000)
        .unit("chars")
        .doc("no alarm before this many chars"),
    Param::word(CODE, "skip", &["check", "skip"])
        .doc("text inside ``` fences: as any other, or not read"),
    PER,
    IGNORE,
    PROMPT,
];

/// Rejects a history shorter than the window, and phrases that cannot occur in a text.
fn check(params: &Params) -> Result<(), Refusal> {
    let (window, history) = (params.count(WINDOW), params.count(HISTORY));
    if history < window {
        let what = format!("{history} is below window {window}: a pair would be new to itself");
        return Refusal::err(HISTORY, what);
    }
    for phrase in params.items(MARKERS).iter().filter_map(Value::as_text) {
        let tokens = markers::tokens_of(phrase).len();
        if markers::list(phrase).is_none() && !(1..=markers::MAX_LEN).contains(&tokens) {
            let what = format!(
                "{phrase:?} has {tokens} words; expected a phrase of 1 to {}",
                markers::MAX_LEN
            );
            return Refusal::err(MARKERS, what);
        }
    }
    Ok(())
}
