//! The verdict on NEW and its gates.
//!
//! A gate that cannot be evaluated does not pass.

use serde::{Deserialize, Serialize};

use super::flips::{Change, Flip};
use super::rows::{Row, SignificanceTest};
use super::significance::MIN_GROUPS;
use super::subject::MeasureRole;
use super::{CompareOptions, Effect};
use crate::measure::{FPR, MeasureUnit};
use crate::sentences::{self, exposure};

/// A condition that NEW must meet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Gate {
    /// The name of the gate.
    pub gate: GateName,
    /// Whether NEW passes. `None` if the gate could not be evaluated.
    pub passed: Option<bool>,
    /// The reason for the result, in words.
    pub why: String,
}

deadloop_replay::detect::words! {
    /// The name of a gate.
    pub enum GateName {
        /// The verdict on the corpus.
        Corpus = "corpus",
        /// Non-inferiority of the rate of wrong alarms.
        WrongAlarms = "wrong-alarms",
        /// Pinned cases.
        Pinned = "pinned",
    }
}

deadloop_replay::detect::words! {
    /// A result of a comparison that fails the gate.
    pub enum FailCondition {
        /// The verdict `regressed`.
        Regressed = "regressed",
        /// The verdict `inconclusive`.
        Inconclusive = "inconclusive",
        /// The verdict `equivalent`.
        Equivalent = "equivalent",
        /// The verdict `improved`.
        Improved = "improved",
        /// A rate of wrong alarms that may be above BASE by more than the margin.
        Inferior = "inferior",
        /// A transcript with another verdict.
        Flips = "flips",
        /// No condition: the comparison only reports.
        Never = "never",
    }
}

impl FailCondition {
    fn matches_effect(self, verdict: Effect) -> bool {
        matches!(
            (self, verdict),
            (Self::Regressed, Effect::Regressed)
                | (Self::Inconclusive, Effect::Inconclusive)
                | (Self::Equivalent, Effect::Equivalent)
                | (Self::Improved, Effect::Improved)
        )
    }
}

/// Returns the verdict on NEW, and its reasons, one line each.
pub(crate) fn decide_verdict(rows: &[Row], flips: &[Flip]) -> (Effect, Vec<String>) {
    let rows = || {
        rows.iter().filter(|row| {
            matches!(row.measured.role, MeasureRole::Primary | MeasureRole::Guard)
                && row.model == "*"
        })
    };
    let with_effect = |effect| rows().filter(move |row| row.verdict == Some(effect));
    let lines = |rows: &mut dyn Iterator<Item = &Row>| rows.map(Row::line).collect::<Vec<_>>();
    let regressed = lines(&mut with_effect(Effect::Regressed));
    if !regressed.is_empty() {
        return (Effect::Regressed, regressed);
    }
    let improved = lines(&mut with_effect(Effect::Improved));
    let worse = lines(&mut rows().filter(|row| row.is_worse_guard()));
    match (improved.is_empty(), worse.is_empty()) {
        (false, true) => return (Effect::Improved, improved),
        (false, false) => return (Effect::Inconclusive, [improved, worse].concat()),
        _ => {}
    }
    let open = lines(&mut with_effect(Effect::Inconclusive));
    if open.is_empty() && rows().any(|row| row.verdict.is_some()) {
        let flipped = flips.iter().filter(|f| f.change == Change::Flip).count();
        let same = format!("{flipped} verdicts changed, and no metric by more than noise");
        return (Effect::Equivalent, vec![same]);
    }
    (Effect::Inconclusive, open)
}

/// Evaluates the gates of a comparison on a corpus.
pub(crate) fn evaluate_gates(
    verdict: Effect,
    rows: &[Row],
    flips: &[Flip],
    options: &CompareOptions,
) -> Vec<Gate> {
    let mut gates = vec![check_verdict(verdict, rows, flips, options)];
    if options.fail_on.contains(&FailCondition::Inferior) {
        gates.extend(check_non_inferiority(verdict, rows, options.margin));
    }
    gates
}

fn check_verdict(verdict: Effect, rows: &[Row], flips: &[Flip], options: &CompareOptions) -> Gate {
    let gate = |passed, why: String| Gate {
        gate: GateName::Corpus,
        passed,
        why,
    };
    let scored = |row: &Row| {
        row.measured.is_exact()
            && row.measured.role != MeasureRole::Informative
            && row.difference.is_some()
    };
    if !rows.iter().any(scored) {
        let nothing = "no transcript is labelled a loop or clean, so nothing can be said";
        return gate(None, nothing.into());
    }
    let flipped = flips.iter().filter(|f| f.change == Change::Flip).count();
    if options.fail_on.contains(&FailCondition::Flips) && flipped > 0 {
        return gate(Some(false), format!("{flipped} verdicts changed"));
    }
    let fails = options.fail_on.iter().any(|f| f.matches_effect(verdict));
    let why = match (fails, verdict) {
        (false, Effect::Regressed) => "regressed, which does not fail it here",
        _ => verdict.name(),
    };
    gate(Some(!fails), why.into())
}

/// Evaluates the gate of non-inferiority: the upper bound of the difference in wrong alarms is at most `margin`.
///
/// If NEW has no more wrong alarms than BASE, the bound counts only if enough groups differ and the verdict is not
/// `improved`. Otherwise every change that removes only a few alarms would fail.
fn check_non_inferiority(verdict: Effect, rows: &[Row], margin: f64) -> Option<Gate> {
    let of_all = |row: &&Row| row.model == "*";
    let row = (rows.iter().filter(of_all)).find(|row| row.measured.role == MeasureRole::Guard)?;
    let gate = |passed, why: String| {
        Some(Gate {
            gate: GateName::WrongAlarms,
            passed,
            why,
        })
    };
    let Some((d, hi)) = row.difference.zip(row.hi) else {
        let unknown = "no healthy char was watched, so no rate is known";
        return gate(None, unknown.into());
    };
    let is_known = |row: &Row| row.measured.metric == &FPR && row.difference.is_some();
    if !rows.iter().filter(of_all).any(is_known) {
        let unseen = "no transcript is clean, so no wrong alarm could have been seen";
        return gate(None, unseen.into());
    }
    let per = exposure(row.measured.metric.counted_in[0]);
    let [hi_text, margin_text] = format_distinct(hi, margin);
    let why = format!("{d:+.2} per {per}, at most {hi_text} (95 %), allowed {margin_text}");
    let more = match () {
        () if hi <= margin => "",
        () if d <= 0.0 && verdict == Effect::Improved => "; NEW has no more of them, and improved",
        () if d <= 0.0 && row.differ < MIN_GROUPS => {
            "; NEW has no more of them, and too few groups differ for a bound"
        }
        () => return gate(Some(false), why),
    };
    gate(Some(true), why + more)
}

/// Formats two numbers with a sign and as many decimals as distinguish them, at least two.
fn format_distinct(a: f64, b: f64) -> [String; 2] {
    let format = |digits: usize| [a, b].map(|x| format!("{x:+.digits$}"));
    let differ = |texts: &[String; 2]| a == b || texts[0] != texts[1];
    let mut texts = (2..=9).map(format);
    texts.find(differ).unwrap_or_else(|| format(9))
}

impl Row {
    /// Returns whether the row is the rate of wrong alarms, and NEW is worse by more than noise.
    fn is_worse_guard(&self) -> bool {
        self.measured.role == MeasureRole::Guard && self.difference.is_some_and(|d| d > self.noise)
    }

    /// Formats the row as a line: the metric, the values of both sides, their difference and its certainty.
    pub fn line(&self) -> String {
        let who = match self.model.as_str() {
            "*" => "all models".to_owned(),
            model => model.to_owned(),
        };
        let interval = self.lo.zip(self.hi).map_or(String::new(), |(lo, hi)| {
            format!(
                " ({} to {})",
                self.format_value(lo, true),
                self.format_value(hi, true)
            )
        });
        let sure = match (self.test, self.p) {
            (_, Some(p)) => format!(", p {}", format_p(p)),
            (SignificanceTest::SignFlip, None) => ", too few to tell".into(),
            (SignificanceTest::Interval, None) => String::new(),
        };
        let value = |x: Option<f64>| x.map_or("n/a".into(), |x| self.format_value(x, false));
        let d = self
            .difference
            .map_or("n/a".into(), |d| self.format_value(d, true));
        let (base, new) = (value(self.base), value(self.new));
        format!(
            "{} of {who}: {base} to {new}, {d}{interval}{sure}",
            self.metric
        )
    }

    /// Formats a value of this metric for people, with a sign if `signed`.
    pub fn format_value(&self, x: f64, signed: bool) -> String {
        let (x, decimals, unit) = match self.measured.metric.unit {
            MeasureUnit::Chars => (x, 0, ""),
            MeasureUnit::PerMillion => (x, 2, ""),
            MeasureUnit::Share => (100.0 * x, 1, " %"),
        };
        sentences::group(&if signed {
            format!("{x:+.decimals$}{unit}")
        } else {
            format!("{x:.decimals$}{unit}")
        })
    }
}

/// Formats a p value with two significant digits.
pub fn format_p(p: f64) -> String {
    match p {
        _ if p < 0.0001 => "<0.0001".into(),
        _ if p < 0.01 => format!("{p:.4}"),
        _ if p < 0.1 => format!("{p:.3}"),
        _ => format!("{p:.2}"),
    }
}
