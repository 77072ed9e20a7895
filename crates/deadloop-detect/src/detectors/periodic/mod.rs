//! `periodic`: exact tail periodicity over the whole stream, in one pass.
//!
//! At each character, the detector finds every unit of at most `max_period` characters of which the text so far ends in
//! two or more copies. It fires at the first character at which a unit has enough copies and enough characters. Chunks
//! do not matter.
//!
//! | to find | look in |
//! |---|---|
//! | parameters and their checks | here |
//! | presets and their sources | `presets.toml` |
//! | the plain matcher: the lags at which a sequence repeats | `runs` |
//! | conversion to symbols: sentences, lines, code, list markers, numbers | `symbols` |
//! | the counting matcher: numbers that count or return, elements in no order | `counting` |
//! | conditions on a repetition | `conditions` |
//! | facts of repetitions | `meter` |
//!
//! The exact definition is in `exactly.md`, which `deadloop detectors` shows. Positions are always positions in the
//! original text.

use crate::detectors::entry::detector;
use crate::detectors::{Measurement, Refusal};
use crate::measure::meter::{IGNORE, PER, PROMPT};
use crate::settings::param::{Domain, Param, ZeroMeaning};
use crate::settings::params::Params;
use crate::settings::value::{Literal, Value};

mod conditions;
mod counting;
mod meter;
mod runs;
mod symbols;

detector! {
    ENTRY = "periodic", version 3,
    "exact tail periodicity: copies of one unit at the end of the text, any time, any period",
    params: PARAMS,
    check: check,
    measure: Measurement::Text(meter::recipe),
}

/// The maximum value of parameters that are counts. It bounds memory.
const MAX_COUNT: i64 = 1_000_000;

const FOLDS: &[&str] = &[
    "none", "lists", "digits", "indent", "markers", "numerals", "counters",
];

static PARAMS: &[Param] = &[
    Param::word("fold", "none", FOLDS)
        .doc("not compared: nothing; list markers at line starts; list markers, and what numbers are worth; leading blanks; markers of every form; markers, and what numerals of any script are worth; markers, and numerals that count on evenly from copy to copy"),
    Param::word("on", "chars", &["chars", "sentences", "clauses", "lines"])
        .doc("compared: chars; completed sentences or lines without the blanks around them; or those sentences and the clauses of Chinese and Japanese"),
    Param::count("max_period", 2000, 1..=100_000)
        .unit("chars, or elements with on")
        .doc("longest unit that repeats"),
    Param::count("min_copies", 4, 2..=MAX_COUNT)
        .copies()
        .unit("copies")
        .doc("copies in a row, the first included"),
    Param::count("min_chars", 200, 1..=MAX_COUNT)
        .at_most()
        .unit("chars")
        .doc("chars in all copies: of what is compared; with on, of all text from the first copy on"),
    Param::count("min_single", 0, 0..=MAX_COUNT)
        .at_most()
        .zero(ZeroMeaning::Elsewhere)
        .unit("chars")
        .doc("chars without a letter or number, of copies that have none, in place of min_chars, and on chars of any one repeated char or escape (`\\u0020`) too; it asks for min_copies, whatever rules say; 0: as for others"),
    Param::word("unit_holds", "any", &["any", "letter", "letter-or-emoji"])
        .doc("what the unit must hold: any char, a letter, or a letter or an emoji"),
    Param::count("min_recycled", 0, 0..=MAX_COUNT)
        .at_most()
        .zero(ZeroMeaning::Elsewhere)
        .unit("chars")
        .doc("chars of recycled text, after which it also fires: each sentence, clause or line occurred twice among the max_period before it, in any order, the first of them with a letter or number; on chars: of one line of few different chars; 0: never"),
    Param::word_or_count("code", "check", &["check", "skip"], 2..=MAX_COUNT)
        .unit("copies")
        .doc("text between lines that begin with ```: as any other, left out, or with this many copies, if that is more than min_copies"),
    Param::new("rules", Literal::Texts(&[]), Domain::Rows(&["max_period", "min_copies", "min_chars"]))
        .doc("rows for shorter units: up to max_period of the first row that holds them, its min_copies and min_chars instead; above the last row, the plain ones"),
    Param::count("min_counters", 0, 0..=MAX_COUNT)
        .at_most()
        .zero(ZeroMeaning::Elsewhere)
        .unit("chars")
        .doc("chars where numbers differ, of copies that are equal but for numbers, in place of min_chars, with fold = counters, and with min_copies whatever rules say; 0: as for others"),
    Param::count("min_numbers", 0, 0..=MAX_COUNT)
        .at_most()
        .zero(ZeroMeaning::Elsewhere)
        .unit("chars")
        .doc("chars where numbers differ anyhow, of min_copies, after which it also fires, with fold = counters; 0: never"),
    Param::count("min_returning", 0, 0..=100)
        .unit("percent")
        .doc("share of returning numbers, where min_numbers decides: of the numbers of the last 4000 chars at least this share must be among the 30 numbers before each; in a loop numbers come again, in a table they are new; 0: not asked"),
    Param::count("min_bare", 0, 0..=MAX_COUNT)
        .at_most()
        .zero(ZeroMeaning::Elsewhere)
        .unit("chars")
        .doc("chars of numbers or pictures, of copies without a letter, in place of min_chars; it asks for min_copies, whatever rules say, and of rows of cells for a tail that is much taller than wide; 0: as for others"),
    Param::count("min_form", 0, 0..=MAX_COUNT)
        .at_most()
        .zero(ZeroMeaning::Elsewhere)
        .unit("chars")
        .doc("chars with blanks to fill in, in place of min_chars (`[ ]`, `____`, `\"\"`, empty cells and staves); it asks for min_copies, whatever rules say; 0: as for others"),
    PER,
    IGNORE,
    PROMPT,
];

/// Rejects rows after one with a longer period. A row for periods above `max_period` is valid, since a grid may have
/// lower values of `max_period`.
fn check(params: &Params) -> Result<(), Refusal> {
    let refuse = |param, reason| Err(Refusal { param, reason });
    let (on, holds) = (params.text("on"), params.text("unit_holds"));
    if on != "chars" && holds != "any" {
        let reason = format!("\"{holds}\" is about chars, and on = \"{on}\"");
        return refuse("unit_holds", reason);
    }
    for name in ["min_counters", "min_numbers", "min_returning"] {
        if params.text("fold") != "counters" && params.int(name) > 0 {
            let reason = format!(
                "it compares numbers, and fold = \"{}\": it decides nothing",
                params.text("fold")
            );
            return refuse(name, reason);
        }
    }
    let field = |row: &Value, name| row.field(name).and_then(Value::as_int).unwrap_or(0);
    let mut before = 0;
    for row in params.items("rules") {
        let upto = field(row, "max_period");
        if upto <= before {
            return refuse(
                "rules",
                format!("max_period {upto} does not rise: no period is left for its row"),
            );
        }
        if field(row, "min_copies") < 2 {
            return refuse(
                "rules",
                "min_copies below 2: one copy repeats nothing".into(),
            );
        }
        if field(row, "min_copies").max(field(row, "min_chars")) > MAX_COUNT {
            return refuse("rules", format!("a count above {MAX_COUNT}"));
        }
        before = upto;
    }
    Ok(())
}
