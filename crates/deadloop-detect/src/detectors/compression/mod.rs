//! `compression`: how much smaller deflate makes the last `window` chars.
//!
//! Text that repeats itself, exactly or nearly, shrinks to a small part of its size. Every `stride`
//! chars the detector takes a sample, the ratio of the two sizes. It fires when `hold` samples in a
//! row reach `min_ratio`. With `against = "history"` the ratio is the window's deflated size alone,
//! divided by what the window adds to the deflated size of the text before it. That ratio measures
//! how much of the window was said before, rather than how repetitive the window itself is.
//!
//! | to find | look in |
//! |---|---|
//! | parameters, and which are refused together | here |
//! | presets and where they come from | `presets.toml` |
//! | text to ratios, ratios to facts | `meter` |
//!
//! `exactly.md`, which `deadloop detectors` shows, defines exactly what it does. Chinese takes 3 bytes a
//! char and so reaches higher ratios. The zlib wrapper is counted, because whisper counts it.
//!
//! Cost: one window is deflated every `stride` chars. Against history, the history is deflated twice as well, which is
//! many times more work. Each thread that measures needs 0.3 MB of tables, however many streams there are.

use crate::detectors::{Detector, Measuring, Refusal, Sample};
use crate::hold;
use crate::param::{DECIMAL, Param, Threshold};
use crate::params::Params;
use crate::spec::Spec;

mod meter;

/// The registry entry.
pub(super) static ENTRY: Detector = Detector {
    spec: Spec {
        name: "compression",
        version: 1,
        about: "a high deflate ratio: of the last chars, in themselves or against the text before",
        exactly: include_str!("exactly.md"),
        params: PARAMS,
        presets: include_str!("presets.toml"),
        check,
    },
    grid: include_str!("grid.toml"),
    fires: Sample::Text("Let me check the numbers again. ", 400),
    quiet: Sample::Text("Let me check the numbers again. ", 4),
    ..Detector::measuring(Measuring::Text(meter::recipe))
};

/// How far deflate looks back, in bytes.
const REACH: usize = 32_768;

const MIN_RATIO: &str = "min_ratio";
const HOLD: &str = "hold";

/// A ratio that must be reached.
const RATIO: Threshold = Threshold::AT_MOST.decimal();

static PARAMS: &[Param] = &[
    Param::word("against", "itself", &["itself", "history"])
        .doc("itself: the window's bytes divided by its deflated bytes; history: its deflated bytes divided by what it adds to the deflated history"),
    Param::count("window", 2000, 1..=100_000)
        .unit("chars")
        .doc("the length of the text that is deflated, the last chars"),
    Param::count("history", 8000, 1..=32_768)
        .unit("chars")
        .doc("the text just before the window, for against; with the window at most 32,768 bytes, so a window of more (Chinese: 10,923 chars) never fires"),
    Param::count("min_chars", 0, 0..=1_000_000)
        .unit("chars")
        .doc("no sample before this many chars; 0: once the window is full"),
    Param::count("stride", 500, 1..=100_000).unit("chars").doc("chars from sample to sample"),
    Param::count("level", 6, 1..=9).doc("how hard deflate tries"),
    Param::number(MIN_RATIO, 8.0, 1.0..=100.0)
        .at_most()
        .unit("times")
        .doc("how many times smaller it gets, at least"),
    hold::param(1),
];

/// Refuses ratios that no text of the window's length can reach.
fn check(params: &Params) -> Result<(), Refusal> {
    let window = params.count("window");
    let bytes = 4 * window;
    let most = match against_history(params) {
        // A stream takes 8 bytes, and at least one more for every 1032 bytes of text.
        false => times(bytes, 8 + bytes / 1032),
        true if window >= REACH as u64 => times(1, 1),
        // The highest ratio: alone, deflate makes the text longer; after the history, it adds one byte.
        true => times(bytes + bytes / 64 + 16, 1),
    };
    if ratio(params) > most {
        return Err(Refusal {
            param: MIN_RATIO,
            reason: format!(
                "{}: with a window of {window} chars no ratio is above {}: it can never fire",
                params.float(MIN_RATIO),
                RATIO.written(most),
            ),
        });
    }
    Ok(())
}

fn against_history(params: &Params) -> bool {
    params.text("against") == "history"
}

/// The setting's `min_ratio`, in millionths.
fn ratio(params: &Params) -> i64 {
    params.get(MIN_RATIO).map_or(0, |value| RATIO.number(value))
}

/// The ratio of `a` to `b` in millionths, rounded down. Rounded so, it reaches a setting's value exactly
/// when the ratio itself does.
fn times(a: u64, b: u64) -> i64 {
    let millionths = a * DECIMAL.unsigned_abs() / b.max(1);
    i64::try_from(millionths).unwrap_or(i64::MAX)
}
