//! `checkpoint`: searches the text for repetition when its length reaches a checkpoint.
//!
//! It searches a short window for short units, and the segment before the checkpoint for repeated paragraphs and list
//! items. The detector implements a design document on dead loops.
//!
//! | to find | look in |
//! |---|---|
//! | parameters | here |
//! | rejected combinations of parameters | `reachability` |
//! | presets and their sources | `presets.toml` |
//! | the compiled structural parameters | `structure` |
//! | the buffer of the stream, and the order of checkpoints | `meter` |
//! | the facts of a checkpoint | `facts` |
//! | adjacent copies of short units | `short_runs` |
//! | the period check on blocks and lines | `period` |
//! | the blocks and lines of a segment | `segment`, with code fences from `text/fence` |
//!
//! The exact definition is in `exactly.md`, which `deadloop detectors` shows.
//!
//! The document's worked examples contradict its rule: they count elements, not matches, and stay below the threshold.
//! The detector follows the rule, and the examples are cases in `tests/`.

use crate::detectors::Measurement;
use crate::detectors::entry::detector;
use crate::measure::meter::{IGNORE, PER, PROMPT};
use crate::settings::param::{Domain, Param, ZeroMeaning};
use crate::settings::value::Literal;

mod facts;
mod meter;
mod period;
mod reachability;
mod segment;
mod short_runs;
mod structure;

detector! {
    ENTRY = "checkpoint", version 3,
    "repetition at checkpoints: looks at the text when its length reaches one of them, and at no other time",
    params: PARAMS,
    check: reachability::check,
    measure: Measurement::Text(meter::recipe),
}

/// The maximum of parameters that are positions or lengths. It bounds memory.
const MAX_CHARS: i64 = 10_000_000;

static PARAMS: &[Param] = &[
    Param::new("checkpoints", Literal::Ints(&[2000, 3000, 5000]), Domain::Rising { min: 1, max: MAX_CHARS })
        .unit("chars")
        .doc("lengths looked at"),
    Param::count("every", 0, 0..=MAX_CHARS)
        .unit("chars")
        .doc("distance of further lengths, after the last one; 0: there are none (as in the document)"),
    Param::count("window", 200, 1..=10_000)
        .unit("chars")
        .doc("reach of the short-sequence check, back from the checkpoint"),
    Param::count("min_unit", 2, 1..=50_000)
        .at_most()
        .unit("chars")
        .doc("shortest unit of the short-sequence check"),
    Param::count("max_unit", 0, 0..=50_000)
        .at_least()
        .zero(ZeroMeaning::NoBound)
        .unit("chars")
        .doc("longest unit of the short-sequence check; 0: no bound"),
    Param::count("min_repeats", 4, 2..=100_000)
        .copies()
        .unit("copies")
        .doc("copies in a row, of the unit of the short-sequence check"),
    Param::word("short_at", "first", &["first", "all"])
        .doc("lengths of the short-sequence check, the first or all"),
    Param::count("min_matches", 6, 1..=1_000_000)
        .copies()
        .unit("elements")
        .doc("matching elements, equal to the one a period before, counted from the end"),
    Param::count("min_cycles", 1, 1..=1_000_000)
        .copies()
        .unit("periods")
        .doc("periods in a row, of which the matches must cover all but one"),
    Param::count("max_period", 50, 1..=1_000_000)
        .at_least()
        .unit("elements")
        .doc("longest period of the period check"),
    Param::word("partial_tail", "keep", &["keep", "drop"])
        .doc("drop: a cut last element is left out, as the checkpoint cuts it"),
    Param::word_or_count("segment", "between", &["between"], 1..=MAX_CHARS)
        .unit("chars")
        .doc("period check reads: the text from the previous checkpoint, or this many of the last chars"),
    Param::new("delimiters", Literal::Text("。.；;！!？?\n"), Domain::CharSet)
        .doc("chars at which a block ends"),
    Param::new("list_marker", Literal::Text(r"^\s*\d+\.\s*"), Domain::Regex)
        .doc("what is taken off the start of a line"),
    Param::word_or_count("code", "check", &["check", "skip"], 1..=1_000_000)
        .unit("elements")
        .doc("text inside ``` fences: checked, left out, or checked with this min_matches"),
    PER,
    IGNORE,
    PROMPT,
];
