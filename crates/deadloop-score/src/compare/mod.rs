//! The comparison of two settings on the same transcripts.
//!
//! A comparison has the changes, their significance beyond chance and noise, and the gates (`reports/METHOD.md`,
//! "Comparing").
//!
//! | to find | look in |
//! |---|---|
//! | a side, from a folder or from a replay | `side` |
//! | the pairs of transcripts, and the checks that two sides are comparable | `pairs` |
//! | the test of flips | `significance` |
//! | the table of metrics and models, the paired bootstrap over groups | `rows` |
//! | the transcripts that flipped | `flips` |
//! | the verdict and the gates | `gates` |
//! | the measures | `subject` |

mod flips;
mod gates;
mod pairs;
mod rows;
mod side;
mod significance;
mod subject;

#[cfg(test)]
mod tests;

use deadloop_replay::detect::Unit;
use serde::{Deserialize, Serialize, Serializer};

pub(crate) use flips::flip_schema;
pub use flips::{Change, Direction, Flip, flips_csv};
pub use gates::{FailCondition, Gate, GateName, format_p};
pub use pairs::NotComparable;
pub use rows::{Row, SignificanceTest};
pub use side::{JudgedSpan, Side, SideError, SideOutcome};
pub use significance::sign_flips;

use pairs::TranscriptPair;

use crate::intervals::Resampling;
use crate::measure::Measure;
use crate::tally::{Count, Tally};

deadloop_replay::detect::words! {
    /// The effect of NEW on a metric.
    pub enum Effect {
        /// Better, by more than chance and noise.
        Improved = "improved",
        /// Worse, by more than chance and noise.
        Regressed = "regressed",
        /// Equal up to noise.
        Equivalent = "equivalent",
        /// Undecided: more transcripts are needed.
        Inconclusive = "inconclusive",
    }
}

/// The options of a comparison.
#[derive(Clone, Debug, PartialEq)]
pub struct CompareOptions {
    /// The replicates and the seed of the bootstrap.
    pub resampling: Resampling,
    /// The significance level of the tests.
    pub alpha: f64,
    /// The largest difference of each metric that counts as noise.
    pub noise: Noise,
    /// The largest allowed upper bound of the difference in wrong alarms, per million chars, or per thousand calls or
    /// turns.
    pub margin: f64,
    /// The results that fail the comparison.
    pub fail_on: Vec<FailCondition>,
    /// The unit in which both sides were judged.
    pub unit: Unit,
}

impl Default for CompareOptions {
    fn default() -> Self {
        Self {
            resampling: Resampling::default(),
            alpha: 0.05,
            noise: Noise::default(),
            margin: 0.5,
            fail_on: vec![FailCondition::Regressed, FailCondition::Inferior],
            unit: Unit::Chars,
        }
    }
}

/// The noise floor: the largest difference of each metric that counts as noise, however significant it is.
///
/// The defaults are 1 % of the loops and of the looping chars, 0.5 % of the clean transcripts, a tenth of the wrong
/// alarms that `tune` allows by default, and 20 chars.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Noise([(&'static str, f64); 6]);

impl Default for Noise {
    fn default() -> Self {
        Self([
            ("ended", 0.01),
            ("recall", 0.01),
            ("fpr", 0.005),
            ("fa_per_mchar", 0.1),
            ("delay", 20.0),
            ("saved", 0.01),
        ])
    }
}

impl Serialize for Noise {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_map(self.0)
    }
}

impl Noise {
    fn floor_of(mut self, metric: &str) -> f64 {
        self.named(metric).map_or(0.0, |floor| *floor)
    }

    /// Returns the noise floor of the metric with this name. The rates of wrong alarms of all units have one floor.
    /// `None` if the metric is not compared.
    pub fn named(&mut self, metric: &str) -> Option<&mut f64> {
        let is_rate = Measure::named(metric).is_some_and(Measure::is_wrong_rate);
        let metric = if is_rate { "fa_per_mchar" } else { metric };
        let floor = self.0.iter_mut().find(|(name, _)| *name == metric);
        floor.map(|(_, floor)| floor)
    }
}

/// The result of a comparison.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// The number of transcripts on both sides.
    pub transcripts: u64,
    /// The number of distinct texts of these transcripts. The counts below take each text once.
    pub counted_once: u64,
    /// The number of loops on BASE.
    pub loops: u64,
    /// The number of clean transcripts on BASE.
    pub clean: u64,
    /// The alarms in healthy text, of BASE and of NEW.
    pub healthy: [HealthyAlarms; 2],
    /// The verdict on NEW.
    pub verdict: Effect,
    /// The reasons for the verdict, a line each.
    pub why: Vec<String>,
    /// The gates for NEW.
    pub gates: Vec<Gate>,
    /// The metrics of each model.
    pub rows: Vec<Row>,
    /// The number of transcripts with the same verdict but a different alarm.
    pub moved: u64,
    /// The transcripts whose alarm or verdict differs between the sides.
    pub flips: Vec<Flip>,
}

/// Number of alarms in healthy text. Transient stops are not counted as wrong alarms.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HealthyAlarms {
    /// The number of wrong alarms.
    pub wrong_alarms: u64,
    /// The number of alarms on a repetition that would have ended by itself.
    pub transient_stops: u64,
}

impl HealthyAlarms {
    fn from_tally(tally: &Tally) -> Self {
        Self {
            wrong_alarms: tally.wrong(),
            transient_stops: tally.get(Count::TransientStop),
        }
    }
}

/// Compares two sides, transcript by transcript.
///
/// # Errors
/// The transcripts, texts, labels or rules of judging differ, or a detector failed on a transcript.
pub fn compare(
    base: &Side,
    new: &Side,
    options: &CompareOptions,
) -> Result<Comparison, NotComparable> {
    let pairs = pairs::pair_up(base, new)?;
    let options = &CompareOptions {
        unit: base.judge.unit,
        ..options.clone()
    };
    // Estimates, intervals and tests count equal texts once.
    let once: Vec<&TranscriptPair> = pairs.iter().filter(|pair| pair.is_first).collect();
    let rows = rows::compare_models(&once, options);
    let flips = flips::find_flips(&pairs);
    let sides = pairs::sum_tallies(&once);
    let (verdict, why) = gates::decide_verdict(&rows, &flips);
    Ok(Comparison {
        transcripts: pairs.len() as u64,
        counted_once: once.len() as u64,
        loops: sides[0].loops(),
        clean: sides[0].clean(),
        healthy: sides.each_ref().map(HealthyAlarms::from_tally),
        gates: gates::evaluate_gates(verdict, &rows, &flips, options),
        verdict,
        why,
        moved: flips.iter().filter(|f| f.change == Change::Moved).count() as u64,
        rows,
        flips,
    })
}

/// Returns the transcripts whose alarm or verdict differs between two sides, without estimates or tests.
///
/// # Errors
/// Those of [`compare`].
pub fn flips(base: &Side, new: &Side) -> Result<Vec<Flip>, NotComparable> {
    Ok(flips::find_flips(&pairs::pair_up(base, new)?))
}

impl Comparison {
    /// Iterates over the transcripts with another verdict.
    pub fn flips(&self) -> impl Iterator<Item = &Flip> {
        self.flips.iter().filter(|f| f.change == Change::Flip)
    }

    /// Adds a gate that was evaluated elsewhere.
    pub fn add_gate(&mut self, gate: Gate) {
        self.gates.push(gate);
    }

    /// Returns whether every gate passed. `None` if no gate failed and one could not be evaluated.
    pub fn passed(&self) -> Option<bool> {
        let any = |passed| self.gates.iter().any(|gate| gate.passed == passed);
        if any(Some(false)) {
            return Some(false);
        }
        (!any(None)).then_some(true)
    }
}
