//! [`PinnedComparison`]: a comparison with its sides, options and pinned cases.

use deadloop_score::sentences::wrong_and_transient;
use deadloop_score::{CompareOptions, Comparison, Effect, HealthyAlarms, NotComparable, Side};
use serde::Serialize;
use serde_json::{Value, json};

use super::pins::PinComparison;
use crate::exit::Outcome;
use crate::show;

/// A comparison with its sides, options and pinned cases.
pub(crate) struct PinnedComparison {
    pub(crate) base: Side,
    pub(crate) new: Side,
    pub(crate) options: CompareOptions,
    pub(crate) comparison: Comparison,
    /// The results of the pinned cases, if any were named.
    pub(crate) pinned: Vec<PinComparison>,
    /// The command that explains a flip, with TRANSCRIPT for the id.
    pub(crate) command: Option<String>,
}

impl PinnedComparison {
    pub(crate) fn new(
        (base, new): (Side, Side),
        comparison: Comparison,
        options: CompareOptions,
    ) -> Self {
        Self {
            base,
            new,
            options,
            comparison,
            pinned: Vec::new(),
            command: None,
        }
    }

    /// Returns the comparison as a JSON object.
    pub(crate) fn json(&self) -> Outcome<String> {
        let o = &self.options;
        let options = json!({
            "seed": o.resampling.seed, "replicates": o.resampling.replicates, "alpha": o.alpha,
            "noise": o.noise, "margin": o.margin, "fail_on": o.fail_on,
        });
        let document = Document {
            deadloop: env!("CARGO_PKG_VERSION"),
            base: head(&self.base),
            new: head(&self.new),
            options,
            comparison: &self.comparison,
            pinned: &self.pinned,
        };
        show::json(&document)
    }

    /// Formats the number of transcripts, and of each kind.
    pub(crate) fn numbers(&self) -> String {
        let c = &self.comparison;
        let once = match c.counted_once {
            once if once == c.transcripts => String::new(),
            once => format!(
                ", of which {} count (of equal texts one)",
                show::count(once)
            ),
        };
        format!(
            "{} transcripts{once}: {} loops, {} clean",
            show::count(c.transcripts),
            show::count(c.loops),
            show::count(c.clean)
        )
    }

    /// Formats the wrong alarms and the transient stops of both sides.
    pub(crate) fn healthy(&self) -> String {
        let of =
            |side: &HealthyAlarms| wrong_and_transient(side.wrong_alarms, side.transient_stops);
        let [base, new] = &self.comparison.healthy;
        format!("BASE: {}; NEW: {}", of(base), of(new))
    }

    /// Lists the gates that were not passed, with the reasons.
    pub(crate) fn list_unpassed(&self) -> String {
        let gates = self.comparison.gates.iter();
        let gates = gates.filter(|gate| gate.passed != Some(true));
        let told: Vec<String> = gates
            .map(|gate| format!("{}: {}", gate.gate.name(), gate.why))
            .collect();
        told.join("; ")
    }
}

/// The JSON document of `--json` and `comparison.json`.
#[derive(Serialize)]
struct Document<'a> {
    deadloop: &'static str,
    base: Value,
    new: Value,
    options: Value,
    #[serde(flatten)]
    comparison: &'a Comparison,
    pinned: &'a [PinComparison],
}

fn head(side: &Side) -> Value {
    json!({"source": side.source, "name": side.name, "settings": side.settings})
}

/// Two sides that cannot be compared.
pub(crate) struct NoComparison<'a> {
    pub(crate) base: &'a Side,
    pub(crate) new: &'a Side,
    pub(crate) why: &'a NotComparable,
}

impl NoComparison<'_> {
    pub(crate) fn json(&self) -> Value {
        json!({
            "deadloop": env!("CARGO_PKG_VERSION"), "base": head(self.base),
            "new": head(self.new), "verdict": "not-comparable", "why": self.why.problems,
        })
    }
}

/// Returns the word for the result of a gate. A gate that passes although NEW is worse has a word of its own.
pub(crate) fn gate_word(passed: Option<bool>, verdict: Effect) -> &'static str {
    match passed {
        Some(true) if verdict == Effect::Regressed => "let through",
        Some(true) => "passed",
        Some(false) => "failed",
        None => "not evaluated",
    }
}

/// Returns the words for a verdict.
pub(crate) fn verdict_words(verdict: Effect) -> &'static str {
    match verdict {
        Effect::Improved => "better overall",
        Effect::Regressed => "worse",
        Effect::Equivalent => "no different",
        Effect::Inconclusive => "these transcripts cannot tell",
    }
}
