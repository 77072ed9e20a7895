//! The verdict on NEW, and the gates that it has to pass. A gate that could not be evaluated is not
//! passed.

use serde::{Deserialize, Serialize};

use super::flips::{Change, Flip};
use super::rows::{Row, Test};
use super::significance::FEWEST;
use super::subject::Role;
use super::{Bearing, CompareOptions};
use crate::measure::MeasureUnit;

/// One condition on NEW.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Gate {
    /// Which.
    pub gate: GateName,
    /// Whether NEW passes; `None`: it could not be evaluated.
    pub passed: Option<bool>,
    /// Why.
    pub why: String,
}

deadloop_replay::detect::words! {
    /// The gates there are.
    pub enum GateName {
        /// The verdict on the corpus.
        Corpus = "corpus",
        /// Non-inferiority of the rate of wrong alarms.
        WrongAlarms = "wrong-alarms",
        /// Pinned cases.
        Pinned = "pinned",
    }
}

/// A gate that holds a measure to a margin, and how it is told.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Inferior {
    pub(crate) gate: GateName,
    /// What a value of the gate is counted in.
    pub(crate) per: &'static str,
    /// The factor from the measure to that.
    pub(crate) scale: f64,
    /// Why it cannot be evaluated where the measure is n/a.
    pub(crate) unknown: &'static str,
    /// Another measure that has to be known, and why the gate cannot be evaluated without.
    pub(crate) needs: Option<(&'static str, &'static str)>,
}

deadloop_replay::detect::words! {
    /// What does not pass.
    pub enum Fails {
        /// The verdict `regressed`.
        Regressed = "regressed",
        /// The verdict `inconclusive`.
        Inconclusive = "inconclusive",
        /// The verdict `equivalent`.
        Equivalent = "equivalent",
        /// The verdict `improved`.
        Improved = "improved",
        /// The rate of wrong alarms, if it is not shown to be no worse than BASE's by more than the margin.
        Inferior = "inferior",
        /// Any transcript whose verdict changed.
        Flips = "flips",
        /// Nothing: the comparison only reports.
        Never = "never",
    }
}

impl Fails {
    fn on(self, verdict: Bearing) -> bool {
        matches!(
            (self, verdict),
            (Self::Regressed, Bearing::Regressed)
                | (Self::Inconclusive, Bearing::Inconclusive)
                | (Self::Equivalent, Bearing::Equivalent)
                | (Self::Improved, Bearing::Improved)
        )
    }
}

/// The verdict on NEW as a whole, from what is for all models together loops ended and wrong alarms: it regressed where one of
/// them did, and improved where one did and wrong alarms are not worse by more than noise. What is only told decides nothing,
/// nor does a model by itself.
pub(crate) fn verdict(rows: &[Row], flips: &[Flip]) -> (Bearing, Vec<String>) {
    let rows = || {
        rows.iter()
            .filter(|row| matches!(row.role, Role::Primary | Role::Guard) && row.model == "*")
    };
    let of = |standing| rows().filter(move |row| row.verdict == Some(standing));
    let told = |rows: &mut dyn Iterator<Item = &Row>| rows.map(Row::told).collect::<Vec<_>>();
    let regressed = told(&mut of(Bearing::Regressed));
    if !regressed.is_empty() {
        return (Bearing::Regressed, regressed);
    }
    let improved = told(&mut of(Bearing::Improved));
    let worse = told(&mut rows().filter(|row| row.is_worse_guard()));
    match (improved.is_empty(), worse.is_empty()) {
        (false, true) => return (Bearing::Improved, improved),
        (false, false) => return (Bearing::Inconclusive, [improved, worse].concat()),
        _ => {}
    }
    let open = told(&mut of(Bearing::Inconclusive));
    if open.is_empty() && rows().any(|row| row.verdict.is_some()) {
        let flipped = flips.iter().filter(|f| f.change == Change::Flip).count();
        let same = format!("{flipped} verdicts changed, and no metric by more than noise");
        return (Bearing::Equivalent, vec![same]);
    }
    (Bearing::Inconclusive, open)
}

/// The gates that a comparison on a corpus has.
pub(crate) fn gates(
    verdict: Bearing,
    rows: &[Row],
    flips: &[Flip],
    options: &CompareOptions,
) -> Vec<Gate> {
    let mut gates = vec![corpus(verdict, rows, flips, options)];
    if options.fail_on.contains(&Fails::Inferior) {
        let of_all = rows.iter().filter(|row| row.model == "*");
        let held = of_all.filter_map(|row| Some((row, row.inferior?)));
        gates.extend(held.map(|(row, gate)| inferior(verdict, rows, (row, gate), options.margin)));
    }
    gates
}

fn corpus(verdict: Bearing, rows: &[Row], flips: &[Flip], options: &CompareOptions) -> Gate {
    let gate = |passed, why: String| Gate {
        gate: GateName::Corpus,
        passed,
        why,
    };
    let scored = |row: &Row| row.exact && row.role != Role::Told && row.difference.is_some();
    if !rows.iter().any(scored) {
        let nothing = "no transcript is labelled a loop or clean, so nothing can be said";
        return gate(None, nothing.into());
    }
    let flipped = flips.iter().filter(|f| f.change == Change::Flip).count();
    if options.fail_on.contains(&Fails::Flips) && flipped > 0 {
        return gate(Some(false), format!("{flipped} verdicts changed"));
    }
    let fails = options.fail_on.iter().any(|f| f.on(verdict));
    let why = match (fails, verdict) {
        (false, Bearing::Regressed) => "regressed, which does not fail it here",
        _ => verdict.name(),
    };
    gate(Some(!fails), why.into())
}

/// Non-inferiority: the upper bound of the difference is below the margin. Where NEW has no more wrong alarms than BASE,
/// the bound is asked for only where enough groups differ to tell, and NEW is not improved by the verdict: a handful of
/// alarms that went away leaves a bound that any change would fail.
fn inferior(verdict: Bearing, rows: &[Row], (row, held): (&Row, Inferior), margin: f64) -> Gate {
    let gate = |passed, why: String| Gate {
        gate: held.gate,
        passed,
        why,
    };
    let Some((d, hi)) = row.difference.zip(row.hi) else {
        return gate(None, held.unknown.into());
    };
    let (d, hi) = (held.scale * d, held.scale * hi);
    let known = |metric: &str| {
        let mut of_all = rows.iter().filter(|r| r.model == "*");
        of_all.any(|r| r.metric == metric && r.difference.is_some())
    };
    if let Some((_, why)) = held.needs.filter(|(metric, _)| !known(metric)) {
        return gate(None, why.into());
    }
    let per = held.per;
    let [hi_told, margin_told] = apart(hi, margin);
    let why = format!("{d:+.2} per {per}, at most {hi_told} (95 %), allowed {margin_told}");
    let few = row.differ < FEWEST;
    match () {
        () if hi <= margin => gate(Some(true), why),
        () if d <= 0.0 && verdict == Bearing::Improved => gate(
            Some(true),
            format!("{why}; NEW has no more of them, and improved"),
        ),
        () if d <= 0.0 && few => gate(
            Some(true),
            format!("{why}; NEW has no more of them, and too few groups differ for a bound"),
        ),
        () => gate(Some(false), why),
    }
}

/// Two numbers with their signs, with as many digits as show that they differ: two at least.
fn apart(a: f64, b: f64) -> [String; 2] {
    let with = |digits: usize| [a, b].map(|x| format!("{x:+.digits$}"));
    let differ = |told: &[String; 2]| a == b || told[0] != told[1];
    (2..=9).map(with).find(differ).unwrap_or_else(|| with(9))
}

impl Row {
    /// A guard metric whose estimate is worse by more than noise.
    fn is_worse_guard(&self) -> bool {
        self.role == Role::Guard && self.difference.is_some_and(|d| d > self.noise)
    }

    /// Returns one line: what moved, by how much, how sure.
    pub fn told(&self) -> String {
        let who = match self.model.as_str() {
            "*" => "all models".to_owned(),
            model => model.to_owned(),
        };
        let interval = self.lo.zip(self.hi).map_or(String::new(), |(lo, hi)| {
            format!(" ({} to {})", self.shown(lo, true), self.shown(hi, true))
        });
        let sure = match (self.test, self.p) {
            (_, Some(p)) => format!(", p {}", p_shown(p)),
            (Test::SignFlip, None) => ", too few to tell".into(),
            (Test::Interval, None) => String::new(),
        };
        let value = |x: Option<f64>| x.map_or("n/a".into(), |x| self.shown(x, false));
        let d = self
            .difference
            .map_or("n/a".into(), |d| self.shown(d, true));
        let (base, new) = (value(self.base), value(self.new));
        format!(
            "{} of {who}: {base} to {new}, {d}{interval}{sure}",
            self.metric
        )
    }

    /// A value of this metric, or a difference with its sign, as people read it.
    pub fn shown(&self, x: f64, signed: bool) -> String {
        let (x, decimals, unit) = match self.unit {
            MeasureUnit::Chars => (x, 0, ""),
            MeasureUnit::PerMillion => (x, 2, ""),
            MeasureUnit::Share => (100.0 * x, 1, " %"),
        };
        if signed {
            format!("{x:+.decimals$}{unit}")
        } else {
            format!("{x:.decimals$}{unit}")
        }
    }
}

/// A p with two digits that count.
pub fn p_shown(p: f64) -> String {
    match p {
        _ if p < 0.0001 => "<0.0001".into(),
        _ if p < 0.01 => format!("{p:.4}"),
        _ if p < 0.1 => format!("{p:.3}"),
        _ => format!("{p:.2}"),
    }
}
