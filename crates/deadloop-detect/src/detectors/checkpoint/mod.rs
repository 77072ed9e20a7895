//! `checkpoint`: the design document's detector (seed 000). It looks at the text only when its
//! length reaches a checkpoint: at a short window for short units, at the segment before for
//! repeated paragraphs and list items.
//!
//! | to find | look in |
//! |---|---|
//! | parameters | here |
//! | which are refused together | `reach` |
//! | presets and where they come from | `presets.toml` |
//! | what is looked at, and where | `look` |
//! | what is kept of the stream, and when it is looked at | `meter` |
//! | what is seen at a checkpoint, as facts | `facts` |
//! | units that are several times in a row | `short` |
//! | the period check on blocks and lines | `period` |
//! | cutting a segment into blocks and lines, code fences | `segment`, `fence` |
//!
//! What it does exactly is in `exactly.md`, which `deadloop detectors` shows.
//!
//! The document's worked examples do not agree with its rule (they count elements, not matches, and
//! stay below the threshold); the rule is described here, the examples are cases in `tests/`.

use crate::detectors::{Detector, Measuring, Response, Sample};
use crate::fact::Bound;
use crate::param::{Domain, Mark, Param, Threshold, Zero};
use crate::value::Literal;

mod facts;
mod look;
mod meter;
mod period;
mod reach;
mod segment;
mod short;

/// The registry entry.
pub(super) static ENTRY: Detector = Detector {
    name: "checkpoint",
    version: 2,
    about: "the design document's detector: looks at the text when its length reaches a checkpoint",
    exactly: include_str!("exactly.md"),
    params: PARAMS,
    presets: include_str!("presets.toml"),
    grid: include_str!("grid.toml"),
    response: Response::Stop,
    fires: Sample::Text("思考", 1000),
    quiet: Sample::Text("思考", 999),
    check: reach::check,
    dead: |_| Vec::new(),
    measure: Measuring::Text(meter::recipe),
};

/// Positions and lengths stop here: memory is bounded by the parameters, so these are bounded too.
const MAX_CHARS: i64 = 10_000_000;

const fn at_most(repeats: bool) -> Mark {
    Mark::Threshold(Threshold {
        repeats,
        ..Threshold::AT_MOST
    })
}

const fn at_least(zero_is_none: bool) -> Mark {
    Mark::Threshold(Threshold {
        zero: if zero_is_none {
            Zero::NoBound
        } else {
            Zero::Number
        },
        ..Threshold::AT_LEAST
    })
}

/// The thresholds, in the order of [`PARAMS`]; `facts` builds bounds from it.
#[derive(Clone, Copy)]
struct Bounds {
    min_unit: i64,
    max_unit: i64,
    min_repeats: i64,
    min_matches: i64,
    min_cycles: i64,
    max_period: i64,
}

impl Bounds {
    /// Bounds that every setting satisfies.
    const ALWAYS: Self = Self {
        min_unit: i64::MAX,
        max_unit: i64::MIN,
        min_repeats: i64::MAX,
        min_matches: i64::MAX,
        min_cycles: i64::MAX,
        max_period: i64::MIN,
    };

    fn to_vec(self) -> Vec<Bound> {
        let all = [
            self.min_unit,
            self.max_unit,
            self.min_repeats,
            self.min_matches,
            self.min_cycles,
            self.max_period,
        ];
        all.map(Bound::Fixed).to_vec()
    }

    /// The bounds that only settings satisfy which satisfy both.
    fn both(self, other: Self) -> Self {
        Self {
            min_unit: self.min_unit.min(other.min_unit),
            max_unit: self.max_unit.max(other.max_unit),
            min_repeats: self.min_repeats.min(other.min_repeats),
            min_matches: self.min_matches.min(other.min_matches),
            min_cycles: self.min_cycles.min(other.min_cycles),
            max_period: self.max_period.max(other.max_period),
        }
    }
}

static PARAMS: &[Param] = &[
    Param {
        name: "checkpoints",
        mark: Mark::Structural,
        default: Literal::Ints(&[2000, 3000, 5000]),
        domain: Domain::Rising {
            min: 1,
            max: MAX_CHARS,
        },
        unit: "chars",
        doc: "lengths at which the text is looked at",
    },
    Param {
        name: "every",
        mark: Mark::Structural,
        default: Literal::Int(0),
        domain: Domain::Int {
            min: 0,
            max: MAX_CHARS,
        },
        unit: "chars",
        doc: "after the last checkpoint, the distance to further ones; 0: there are none (as in the document)",
    },
    Param {
        name: "window",
        mark: Mark::Structural,
        default: Literal::Int(200),
        domain: Domain::Int {
            min: 1,
            max: 10_000,
        },
        unit: "chars",
        doc: "how far back from the checkpoint the short-sequence check reads",
    },
    Param {
        name: "min_unit",
        mark: at_most(false),
        default: Literal::Int(2),
        domain: Domain::Int {
            min: 1,
            max: 50_000,
        },
        unit: "chars",
        doc: "shortest repeated unit of the short-sequence check",
    },
    Param {
        name: "max_unit",
        mark: at_least(true),
        default: Literal::Int(0),
        domain: Domain::Int {
            min: 0,
            max: 50_000,
        },
        unit: "chars",
        doc: "longest repeated unit of the short-sequence check; 0: no bound",
    },
    Param {
        name: "min_repeats",
        mark: at_most(true),
        default: Literal::Int(4),
        domain: Domain::Int {
            min: 2,
            max: 100_000,
        },
        unit: "copies",
        doc: "consecutive copies of the unit",
    },
    Param {
        name: "short_at",
        mark: Mark::Structural,
        default: Literal::Text("first"),
        domain: Domain::Word(&["first", "all"]),
        unit: "",
        doc: "at which checkpoints the short-sequence check runs",
    },
    Param {
        name: "short_align",
        mark: Mark::Structural,
        default: Literal::Text("any"),
        domain: Domain::Word(&["any", "end", "before"]),
        unit: "",
        doc: "where copies may stand: anywhere, only whole units counted back from the checkpoint, or anywhere before its last char, which is not read",
    },
    Param {
        name: "unit_script",
        mark: Mark::Structural,
        default: Literal::Text("any"),
        domain: Domain::Word(&["any", "cjk"]),
        unit: "",
        doc: "cjk: the unit must hold an ideograph of U+4E00..U+9FA5",
    },
    Param {
        name: "one_char",
        mark: Mark::Structural,
        default: Literal::Text("skip"),
        domain: Domain::Word(&["skip", "count"]),
        unit: "",
        doc: "whether one char repeated is a unit (\"........\")",
    },
    Param {
        name: "min_matches",
        mark: at_most(true),
        default: Literal::Int(6),
        domain: Domain::Int {
            min: 1,
            max: 1_000_000,
        },
        unit: "elements",
        doc: "elements equal to the one a period before, counted from the end",
    },
    Param {
        name: "min_cycles",
        mark: at_most(true),
        default: Literal::Int(1),
        domain: Domain::Int {
            min: 1,
            max: 1_000_000,
        },
        unit: "periods",
        doc: "the matches must also cover one period less than this",
    },
    Param {
        name: "max_period",
        mark: at_least(false),
        default: Literal::Int(50),
        domain: Domain::Int {
            min: 1,
            max: 1_000_000,
        },
        unit: "elements",
        doc: "longest period of the period check",
    },
    Param {
        name: "period_step",
        mark: Mark::Structural,
        default: Literal::Text("one"),
        domain: Domain::Word(&["one", "period"]),
        unit: "",
        doc: "how the period check goes back: element by element, or a period at a time (one residue class)",
    },
    Param {
        name: "partial_tail",
        mark: Mark::Structural,
        default: Literal::Text("keep"),
        domain: Domain::Word(&["keep", "drop"]),
        unit: "",
        doc: "drop: the last element, which the checkpoint cut, is not compared",
    },
    Param {
        name: "segment",
        mark: Mark::Structural,
        default: Literal::Text("between"),
        domain: Domain::WordOrInt {
            words: &["between"],
            min: 1,
            max: MAX_CHARS,
        },
        unit: "chars",
        doc: "what the period check reads: the text from the previous checkpoint, or this many of the last chars",
    },
    Param {
        name: "delimiters",
        mark: Mark::Structural,
        default: Literal::Text("。.；;！!？?\n"),
        domain: Domain::CharSet,
        unit: "",
        doc: "chars at which a block ends",
    },
    Param {
        name: "list_marker",
        mark: Mark::Structural,
        default: Literal::Text(r"^\s*\d+\.\s*"),
        domain: Domain::Regex,
        unit: "",
        doc: "what is taken off the start of a line",
    },
    Param {
        name: "blank_lines",
        mark: Mark::Structural,
        default: Literal::Text("keep"),
        domain: Domain::Word(&["keep", "drop", "bare"]),
        unit: "",
        doc: "drop: the list check leaves out lines of white space; bare: those of a list_marker alone too",
    },
    Param {
        name: "order",
        mark: Mark::Structural,
        default: Literal::Text("marker"),
        domain: Domain::Word(&["marker", "paragraph", "list"]),
        unit: "",
        doc: "the kind where paragraph and list both fire: list if a marker was removed, or always one",
    },
    Param {
        name: "code",
        mark: Mark::Structural,
        default: Literal::Text("check"),
        domain: Domain::WordOrInt {
            words: &["check", "skip"],
            min: 1,
            max: 1_000_000,
        },
        unit: "elements",
        doc: "text inside ``` fences: checked, left out, or checked with this min_matches",
    },
    Param {
        name: "ignore",
        mark: Mark::Structural,
        default: Literal::Texts(&[]),
        domain: Domain::Regexes,
        unit: "",
        doc: "white list: a block or line that matches one of these is left out",
    },
];
