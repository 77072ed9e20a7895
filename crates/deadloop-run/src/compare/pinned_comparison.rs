//! [`PinnedComparison`]: a comparison with its sides, options and pinned cases.

use deadloop_score::sentences::wrong_and_transient;
use deadloop_score::{CompareOptions, Comparison, Effect, HealthyAlarms, NotComparable, Side};
use serde::Serialize;
use serde_json::{Value, json};

use super::pins::PinComparison;
use crate::words::count;

/// A comparison with its sides, options and pinned cases.
pub struct PinnedComparison {
    /// The side BASE, which is in use.
    pub base: Side,
    /// The side NEW, which is judged.
    pub new: Side,
    /// The options of the comparison.
    pub options: CompareOptions,
    /// The comparison of the outcomes.
    pub comparison: Comparison,
    /// The results of the pinned cases. Empty if no case was given.
    pub pinned: Vec<PinComparison>,
    /// The command that explains a flip, with TRANSCRIPT for the id.
    pub command: Option<String>,
}

impl PinnedComparison {
    /// Formats the number of transcripts, of loops and of clean texts.
    pub(super) fn format_counts(&self) -> String {
        let c = &self.comparison;
        let once = match c.counted_once {
            once if once == c.transcripts => String::new(),
            once => format!(", of which {} count (of equal texts one)", count(once)),
        };
        format!(
            "{} transcripts{once}: {} loops, {} clean",
            count(c.transcripts),
            count(c.loops),
            count(c.clean)
        )
    }

    /// Formats the wrong alarms and the transient stops of both sides.
    pub(super) fn format_healthy_alarms(&self) -> String {
        let of =
            |side: &HealthyAlarms| wrong_and_transient(side.wrong_alarms, side.transient_stops);
        let [base, new] = &self.comparison.healthy;
        format!("BASE: {}; NEW: {}", of(base), of(new))
    }

    /// Formats the gates that were not passed, with the reasons.
    pub(super) fn format_unpassed_gates(&self) -> String {
        let gates = self.comparison.gates.iter();
        let gates = gates.filter(|gate| gate.passed != Some(true));
        let reasons: Vec<String> = gates
            .map(|gate| format!("{}: {}", gate.gate.name(), gate.why))
            .collect();
        reasons.join("; ")
    }
}

serialize_as_json!(PinnedComparison, this => {
    let o = &this.options;
    ComparisonDocument {
        deadloop: env!("CARGO_PKG_VERSION"),
        base: side_json(&this.base),
        new: side_json(&this.new),
        options: json!({
            "seed": o.resampling.seed, "replicates": o.resampling.replicates, "alpha": o.alpha,
            "noise": o.noise, "margin": o.margin, "fail_on": o.fail_on,
        }),
        comparison: &this.comparison,
        pinned: &this.pinned,
    }
});

/// The JSON document of a comparison.
#[derive(Serialize)]
struct ComparisonDocument<'a> {
    deadloop: &'static str,
    base: Value,
    new: Value,
    options: Value,
    #[serde(flatten)]
    comparison: &'a Comparison,
    pinned: &'a [PinComparison],
}

fn side_json(side: &Side) -> Value {
    json!({"source": side.source, "name": side.name, "settings": side.settings})
}

/// Two sides that cannot be compared.
pub struct NoComparison {
    /// The side BASE, which is in use.
    pub base: Side,
    /// The side NEW, which was to be judged.
    pub new: Side,
    /// The reasons why the sides cannot be compared.
    pub why: NotComparable,
}

serialize_as_json!(NoComparison, this => {
    json!({
        "deadloop": env!("CARGO_PKG_VERSION"), "base": side_json(&this.base),
        "new": side_json(&this.new), "verdict": "not-comparable", "why": this.why.problems,
    })
});

/// Returns the word for the result of a gate. `let through` is a gate that passes although NEW is worse.
pub(super) fn format_gate(passed: Option<bool>, verdict: Effect) -> &'static str {
    match passed {
        Some(true) if verdict == Effect::Regressed => "let through",
        Some(true) => "passed",
        Some(false) => "failed",
        None => "not evaluated",
    }
}

/// Returns the words for a verdict.
pub(super) fn format_verdict(verdict: Effect) -> &'static str {
    match verdict {
        Effect::Improved => "better overall",
        Effect::Regressed => "worse",
        Effect::Equivalent => "no different",
        Effect::Inconclusive => "these transcripts cannot tell",
    }
}
