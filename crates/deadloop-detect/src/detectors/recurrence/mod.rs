//! `recurrence`: an n-gram that occurs again and again, with or without other text between.
//!
//! The exact definition is in `exactly.md`, which `deadloop detectors` shows.
//!
//! N-grams are compared by 61-bit hashes (64-bit for sentences and lines). Two different n-grams of n symbols have
//! equal hashes with probability n / 2^61.
//!
//! Resets follow the rules of gemini-cli. There, the start of a chunk also counts as the start of a line, so that
//! resets depend on chunks. Here they do not.
//!
//! | to find | look in |
//! |---|---|
//! | parameters, and their refused combinations | here |
//! | presets and their sources | `presets.toml` |
//! | chars to symbols: words, elements, code, resets | `symbols` |
//! | structures at the start of a line | `structure` |
//! | counting n-grams in a window: the algorithm | `grams` |
//! | n-grams that may have occurred before | `grams/anchors` |
//! | arithmetic of the hashes | `prime` |
//! | from occurrences to facts | `meter` |
//!
//! The defaults are those of gemini-cli (n-grams of 50 chars, 10 occurrences, 5 texts between, 5000 chars), with two
//! exceptions: `max_gap` is the largest gap that ten copies in the window can have, and nothing resets, since resets
//! would hide loops of list items.

use crate::detectors::entry::detector;
use crate::detectors::{Measurement, Refusal};
use crate::measure::meter::{IGNORE, PER, PROMPT};
use crate::settings::param::{Param, ZeroMeaning};
use crate::settings::params::Params;

mod grams;
mod meter;
mod prime;
mod structure;
mod symbols;

detector! {
    ENTRY = "recurrence", version 3,
    "an n-gram that keeps coming back: of chars, words, sentences or lines, within a window",
    params: PARAMS,
    check: check,
    measure: Measurement::Text(meter::recipe),
}

/// The maximum number of occurrences that are counted. It bounds the work for each n-gram.
const MAX_COUNT: u32 = 100;

/// The maximum length of a window. It bounds memory, which is at most 150 bytes per symbol.
const MAX_WINDOW: i64 = 1_000_000;

static PARAMS: &[Param] = &[
    Param::word("by", "chars", &["chars", "words", "sentences", "lines"])
        .doc("what a symbol is; of words, sentences and lines, completed ones without the blanks around them"),
    Param::count("n", 50, 1..=10_000).unit("symbols").doc("length of an n-gram"),
    Param::count("window", 5000, 1..=MAX_WINDOW)
        .unit("symbols")
        .doc("how far back occurrences count, each whole"),
    Param::count("min_count", 10, 2..=MAX_COUNT as i64)
        .copies()
        .unit("occurrences")
        .doc("occurrences of one n-gram, within the window"),
    Param::count("max_gap", 550, 0..=MAX_WINDOW)
        .at_least()
        .zero(ZeroMeaning::NoBound)
        .unit("symbols")
        .doc("mean distance of occurrences, the last min_count, from beginning to beginning; 0: no bound"),
    Param::count("max_distinct", 5, 0..=MAX_COUNT as i64)
        .at_least()
        .zero(ZeroMeaning::NoBound)
        .unit("texts")
        .doc("different texts between them, the last min_count occurrences; 0: no bound"),
    Param::words("reset_on", &[], structure::NAMES)
        .doc("structures that start anew, at the start of a line: what was read before them is forgotten"),
    Param::word("code", "check", &["check", "skip", "ticks"])
        .doc("text inside ``` fences: as any other, or not read; ticks: nor any text between ``` and the next ```, wherever in a line they stand"),
    PER,
    IGNORE,
    PROMPT,
];

/// Rejects windows that are too short for `min_count` n-grams.
fn check(params: &Params) -> Result<(), Refusal> {
    let (n, count) = (params.count("n"), params.count("min_count"));
    let (window, needed) = (params.count("window"), count + n - 1);
    if needed > window {
        let what = format!(
            "{window} symbols cannot hold {count} n-grams of {n}, which take {needed}: it can never fire"
        );
        return Refusal::err("window", what);
    }
    Ok(())
}
