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
//! | verdicts alone, of a cell of a grid | `said` |
//! | the verdict and the gates | `gates` |
//! | the measures of guards, repairers and budgets, and what gates hold | `subject` |
//! | a side from a folder of `repair` or `budget` | `others` |

mod flips;
mod gates;
mod others;
mod pairs;
mod resample;
mod rows;
mod said;
mod side;
mod significance;
mod subject;

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use deadloop_replay::detect::Unit;
use serde::{Deserialize, Serialize, Serializer};

pub(crate) use flips::flip_columns;
pub use flips::{Change, Direction, Flip, flips_csv};
pub use gates::{Fails, Gate, GateName, p_shown};
pub use pairs::NotComparable;
pub use rows::{Row, Test};
pub use said::Verdicts;
pub use side::{Fate, Fit, Side, SideError, SideSeen as Said, Spot};
pub use significance::sign_flips;
pub use subject::ComparedSubject;

use pairs::Pair;
use side::Adds;
use subject::Comparable;

use crate::choose::contest;
use crate::intervals::Resampling;

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
/// is. The defaults: a hundredth of the loops, of the looping chars, of the damaged streams, of the cost; a two-hundredth
/// of the clean transcripts, of the intact streams, of the runs; a tenth of the wrong alarms that `tune` allows by default; 20 chars.
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
    /// Of `recovered`, `lost` and `leaked`, of repairers.
    #[serde(skip)]
    pub recovered: f64,
    /// Of `wrong` and `false_repair`, of repairers.
    #[serde(skip)]
    pub wrong: f64,
    /// Of `overflow`, of budgets.
    #[serde(skip)]
    pub overflow: f64,
    /// Of `price` and `cost`, of budgets.
    #[serde(skip)]
    pub price: f64,
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
            recovered: 0.01,
            wrong: 0.005,
            overflow: 0.005,
            price: 0.01,
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
            "recovered" | "lost" | "leaked" => Some(&mut self.recovered),
            "wrong" | "false_repair" => Some(&mut self.wrong),
            "overflow" => Some(&mut self.overflow),
            "price" | "cost" => Some(&mut self.price),
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
    /// What of each kind counts on BASE: `loops` and `clean` ones, `damaged` and `intact` streams, runs that `overflow`.
    #[serde(flatten)]
    pub counted: CountedKinds,
    /// The alarms of BASE and NEW in healthy text; `None` of repairers and budgets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub healthy: Option<[HealthyAlarms; 2]>,
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

/// Numbers by their names, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CountedKinds(pub Vec<(&'static str, u64)>);

impl CountedKinds {
    /// The number of a name; 0 where it has none.
    pub fn of(&self, name: &str) -> u64 {
        let found = self.0.iter().find(|(own, _)| *own == name);
        found.map_or(0, |(_, n)| *n)
    }
}

impl Serialize for CountedKinds {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_map(self.0.iter().copied())
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
    match (&base.adds, &new.adds) {
        (Adds::Guards(a), Adds::Guards(b)) => Ok(compared(&pairs, (a, b), options)),
        (Adds::Repairs(a), Adds::Repairs(b)) => Ok(compared(&pairs, (a, b), options)),
        (Adds::Budgets(a), Adds::Budgets(b)) => Ok(compared(&pairs, (a, b), options)),
        // `pairs` has said so.
        _ => Err(NotComparable {
            problems: Vec::new(),
        }),
    }
}

fn compared<A: Comparable>(
    matched: &[Pair<'_>],
    (base, new): (&[A], &[A]),
    options: &CompareOptions,
) -> Comparison {
    let pairs: Vec<Pair<'_, A>> = matched.iter().map(|pair| pair.with(base, new)).collect();
    // Estimates, intervals and tests count a set of equal texts once.
    let once: Vec<Pair<'_, A>> = pairs.into_iter().filter(|pair| pair.first).collect();
    let rows = rows::rows(&once, options);
    let flips = flips::flips(matched);
    let [all, new] = [0, 1].map(|side| contest::sum(once.iter().map(|pair| pair.adds[side])));
    let (verdict, why) = gates::verdict(&rows, &flips);
    let ids = |pairs: &mut dyn Iterator<Item = &str>| pairs.collect::<BTreeSet<_>>().len() as u64;
    Comparison {
        transcripts: ids(&mut matched.iter().map(|pair| pair.base.transcript.as_str())),
        counted_once: ids(&mut once.iter().map(|pair| pair.base.transcript.as_str())),
        counted: CountedKinds(all.counted()),
        healthy: all.healthy().zip(new.healthy()).map(<[_; 2]>::from),
        gates: gates::gates(verdict, &rows, &flips, (A::NOTHING, options)),
        verdict,
        why,
        moved: flips.iter().filter(|f| f.change == Change::Moved).count() as u64,
        rows,
        flips,
    }
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
