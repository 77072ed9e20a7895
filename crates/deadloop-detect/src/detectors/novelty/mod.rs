//! `novelty`: loops that never repeat a line exactly.
//!
//! Every `stride` chars, it measures the share of distinct n-grams of the last `window` chars that do not occur in the
//! `history` chars before them. In text that makes progress, nearly all n-grams are new. Few are new in filled
//! templates, in lists whose entries decay into one answer, and in near-copies. The detector fires when the share stays
//! low for `hold` samples.
//!
//! | to find | look in |
//! |---|---|
//! | parameters, and their refused combinations | here |
//! | presets and their sources | `presets.toml` |
//! | chars to tokens: words, scripts without blanks, numbers | `tokens` |
//! | counts of the window and the history | `recent` |
//! | samples, and facts made from them | `meter` |
//!
//! The exact definition is in `exactly.md`, which `deadloop detectors` shows.
//!
//! The cost is two look-ups for each token. While shares are low, a sample takes up to 50 steps, each of which may
//! report a fact. No other cost depends on the stride, and none depends on the window.

use crate::detectors::entry::detector;
use crate::detectors::{Measurement, Refusal};
use crate::measure::meter::{IGNORE, PER, PROMPT};
use crate::measure::sample_tracker;
use crate::settings::param::{DECIMAL, Param, Threshold};
use crate::settings::params::Params;

mod meter;
mod recent;
mod tokens;

detector! {
    ENTRY = "novelty", version 2,
    "few new n-grams in a window: against the text before it; templates, counters, near-copies",
    params: PARAMS,
    check: check,
    measure: Measurement::Text(meter::recipe),
}

/// The names of the thresholds that are shares, in the order of measurement.
const SHARES: [&str; 3] = ["max_novelty", "max_symbols", "max_grams"];
const HOLD: &str = "hold";

/// A threshold that a share must not exceed.
const SHARE: Threshold = Threshold::AT_LEAST.decimal();

static PARAMS: &[Param] = &[
    Param::word("numbers", "fold", &["keep", "fold"])
        .doc("fold: every run of digits is the same, so that counters are nothing new"),
    Param::count("n", 4, 1..=64)
        .unit("tokens")
        .doc("length of an n-gram"),
    Param::count("window", 1500, 1..=100_000)
        .unit("chars")
        .doc("the length of the text whose novelty is measured, the last chars"),
    Param::count("history", 6000, 1..=1_000_000)
        .unit("chars")
        .doc("the text just before the window, in which nothing is new"),
    Param::count("stride", 250, 1..=100_000)
        .unit("chars")
        .doc("chars from sample to sample"),
    Param::share(SHARES[0], 0.05)
        .at_least()
        .unit("share")
        .doc("new n-grams among the different ones of the window, at most"),
    sample_tracker::param(3),
    Param::share(SHARES[1], 1.0)
        .at_least()
        .unit("share")
        .doc("different tokens among the tokens of window and history, at most; 1: no bound"),
    Param::share(SHARES[2], 1.0)
        .at_least()
        .unit("share")
        .doc("different n-grams among the n-grams of window and history, at most; 1: no bound"),
    PER,
    IGNORE,
    PROMPT,
];

/// Returns the value of a share's parameter, in millionths.
fn number(params: &Params, name: &str) -> i64 {
    params.get(name).map_or(0, |value| SHARE.number(value))
}

/// Rejects windows without an n-gram, and shares too small for any window.
fn check(params: &Params) -> Result<(), Refusal> {
    let (n, window) = (params.count("n"), params.count("window"));
    if window < n {
        let what = format!("{window} chars hold no n-gram of n {n} tokens: it can never fire");
        return Refusal::err("window", what);
    }
    let tokens = window + params.count("history");
    for (name, most) in [(SHARES[1], tokens), (SHARES[2], tokens - n + 1)] {
        let least = DECIMAL.unsigned_abs().div_ceil(most);
        if number(params, name).unsigned_abs() < least {
            let value = params.float(name);
            let what = format!(
                "{value}: one among the {most} that window and history can hold is a larger share: it can never fire"
            );
            return Refusal::err(name, what);
        }
    }
    Ok(())
}
