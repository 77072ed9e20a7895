//! Two settings held against each other on the same transcripts: what moved, whether it is more than
//! chance and more than noise, and whether a gate lets it pass (scoring.md, "Comparing two
//! detectors").
//!
//! | to find | look in |
//! |---|---|
//! | a side, from a folder or from a replay | `side` |
//! | what makes two sides not comparable | `pairs` |
//! | the test of flips | `significance` |
//! | the paired bootstrap over groups | `resample` |
//! | the table of metrics and models | `rows` |
//! | transcripts that flipped | `flips` |
//! | the verdict and the gates | `gates` |
//! | the measures, and what gates hold | `subject` |

mod flips;
mod gates;
mod pairs;
mod resample;
mod rows;
mod side;
mod significance;
mod subject;

#[cfg(test)]
mod tests;

use deadloop_replay::detect::Unit;
use serde::{Deserialize, Serialize};

pub(crate) use flips::flip_schema;
pub use flips::{Change, Direction, Flip, flips_csv};
pub use gates::{Fails, Gate, GateName, p_shown};
pub use pairs::NotComparable;
pub use rows::{Row, Test};
pub use side::{Side, SideError, SideSeen as Said, Spot};
pub use significance::sign_flips;

use pairs::Pair;

use crate::intervals::Resampling;
use crate::tally::{Count, Tally};

deadloop_replay::detect::words! {
    /// What a difference comes to.
    pub enum Bearing {
        /// Better, by more than chance and noise.
        Improved = "improved",
        /// Worse, by more than chance and noise.
        Regressed = "regressed",
        /// The same, but for noise.
        Equivalent = "equivalent",
        /// These transcripts cannot tell.
        Inconclusive = "inconclusive",
    }
}

/// How two sides are compared.
#[derive(Clone, Debug, PartialEq)]
pub struct CompareOptions {
    /// Replicates and seed of the bootstrap.
    pub resampling: Resampling,
    /// The level of the tests.
    pub alpha: f64,
    /// Differences that do not matter.
    pub noise: Noise,
    /// Wrong alarms per million chars that NEW may at most have more than BASE, by the upper bound
    /// of the difference.
    pub margin: f64,
    /// What does not pass.
    pub fail_on: Vec<Fails>,
    /// In what things are counted: that in which both sides were judged.
    pub unit: Unit,
}

impl Default for CompareOptions {
    fn default() -> Self {
        Self {
            resampling: Resampling::default(),
            alpha: 0.05,
            noise: Noise::default(),
            margin: 0.5,
            fail_on: vec![Fails::Regressed, Fails::Inferior],
            unit: Unit::Chars,
        }
    }
}

/// The noise floor: a difference of a metric up to this does not matter to anybody, however sure it
/// is. The defaults: a hundredth of the loops, of the looping chars; a two-hundredth of the clean transcripts; a tenth of
/// the wrong alarms that `tune` allows by default; 20 chars.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Noise {
    /// Of `ended`.
    pub ended: f64,
    /// Of `recall`.
    pub recall: f64,
    /// Of `fpr`.
    pub fpr: f64,
    /// Of the rate of wrong alarms, in its unit: `fa_per_mchar`, `fa_per_kcall`, `fa_per_kturn`.
    pub fa_per_mchar: f64,
    /// Of `delay`, chars.
    pub delay: f64,
    /// Of `saved`.
    pub saved: f64,
}

impl Default for Noise {
    fn default() -> Self {
        Self {
            ended: 0.01,
            recall: 0.01,
            fpr: 0.005,
            fa_per_mchar: 0.1,
            delay: 20.0,
            saved: 0.01,
        }
    }
}

impl Noise {
    fn of(mut self, metric: &str) -> f64 {
        self.named(metric).map_or(0.0, |floor| *floor)
    }

    /// The floor of a metric, by its name; `None` for one that is not compared.
    pub fn named(&mut self, metric: &str) -> Option<&mut f64> {
        match metric {
            "ended" => Some(&mut self.ended),
            "recall" => Some(&mut self.recall),
            "fpr" => Some(&mut self.fpr),
            "fa_per_mchar" | "fa_per_kcall" | "fa_per_kturn" => Some(&mut self.fa_per_mchar),
            "delay" => Some(&mut self.delay),
            "saved" => Some(&mut self.saved),
            _ => None,
        }
    }
}

/// What came out.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// Transcripts on both sides.
    pub transcripts: u64,
    /// Those of them that count: of equal texts one.
    pub counted_once: u64,
    /// Loops on BASE that count.
    pub loops: u64,
    /// Clean transcripts on BASE that count.
    pub clean: u64,
    /// The alarms of BASE and NEW in healthy text.
    pub healthy: [HealthyAlarms; 2],
    /// The verdict on NEW.
    pub verdict: Bearing,
    /// What it rests on, a line each.
    pub why: Vec<String>,
    /// What NEW has to pass.
    pub gates: Vec<Gate>,
    /// Metrics x models.
    pub rows: Vec<Row>,
    /// Transcripts whose verdict is the same and whose alarm is another.
    pub moved: u64,
    /// Transcripts that the sides treat differently.
    pub flips: Vec<Flip>,
}

/// Alarms in healthy text: wrong ones, and transient stops, which stand beside them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HealthyAlarms {
    /// Wrong alarms.
    pub wrong_alarms: u64,
    /// Stops of repetitions that would have ended by themselves.
    pub transient_stops: u64,
}

impl HealthyAlarms {
    fn of(tally: &Tally) -> Self {
        Self {
            wrong_alarms: tally.wrong(),
            transient_stops: tally.get(Count::TransientStop),
        }
    }
}

/// Compares two sides.
///
/// # Errors
/// They are not of the same transcripts, texts and labels, judged by the same rules, or a detector
/// failed on some.
pub fn compare(
    base: &Side,
    new: &Side,
    options: &CompareOptions,
) -> Result<Comparison, NotComparable> {
    let pairs = pairs::pairs(base, new)?;
    let options = &CompareOptions {
        unit: base.judge.unit,
        ..options.clone()
    };
    // Estimates, intervals and tests count a set of equal texts once.
    let once: Vec<&Pair> = pairs.iter().filter(|pair| pair.first).collect();
    let rows = rows::rows(&once, options);
    let flips = flips::flips(&pairs);
    let sides = pairs::sum(&once);
    let (verdict, why) = gates::verdict(&rows, &flips);
    Ok(Comparison {
        transcripts: pairs.len() as u64,
        counted_once: once.len() as u64,
        loops: sides[0].loops(),
        clean: sides[0].clean(),
        healthy: sides.each_ref().map(HealthyAlarms::of),
        gates: gates::gates(verdict, &rows, &flips, options),
        verdict,
        why,
        moved: flips.iter().filter(|f| f.change == Change::Moved).count() as u64,
        rows,
        flips,
    })
}

/// The transcripts that two sides treat differently, and nothing of how sure a difference of rates is.
///
/// # Errors
/// As [`compare`].
pub fn flips(base: &Side, new: &Side) -> Result<Vec<Flip>, NotComparable> {
    Ok(flips::flips(&pairs::pairs(base, new)?))
}

impl Comparison {
    /// Transcripts whose verdict changed.
    pub fn flipped(&self) -> impl Iterator<Item = &Flip> {
        self.flips.iter().filter(|f| f.change == Change::Flip)
    }

    /// Adds a gate that was looked at elsewhere.
    pub fn add_gate(&mut self, gate: Gate) {
        self.gates.push(gate);
    }

    /// Whether every gate was passed; `None`: none failed, and one could not be evaluated.
    pub fn passed(&self) -> Option<bool> {
        let any = |passed| self.gates.iter().any(|gate| gate.passed == passed);
        if any(Some(false)) {
            return Some(false);
        }
        (!any(None)).then_some(true)
    }
}
