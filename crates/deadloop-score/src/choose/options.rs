//! [`ChooseOptions`]: what was asked of a choice.

use deadloop_replay::detect::Unit;

use super::pieces::FOLDS;
use crate::constraint::{Assurance, Constraint};
use crate::intervals::Resampling;
use crate::judge::JudgeOptions;
use crate::measure::{Metric, SAVED, Worth, wrong_rate};

/// A guard that was there before anybody looked at this text: the recommended one, a preset, or what `--also` names. It
/// was not chosen on the text, so it needs no folds.
#[derive(Clone, Debug, PartialEq)]
pub struct ReadyGuard {
    /// Its number in the plan.
    pub cell: usize,
    /// What sentences call it: `the recommended guard`.
    pub name: String,
}

/// How a setting is chosen.
#[derive(Clone, Debug, PartialEq)]
pub struct ChooseOptions {
    /// The limits.
    pub constraints: Vec<Constraint>,
    /// Whether the user gave the limits, rather than the default.
    pub given: bool,
    /// What the setting in use is called in sentences.
    pub in_use_is: &'static str,
    /// The guards that need no folds, in the order in which one is taken where several are as good.
    pub ready: Vec<ReadyGuard>,
    /// Of each case whether its label is in doubt ([`against_labels`](crate::against_labels)): what was not chosen on this text
    /// is compared on the other cases alone. Empty: no label is in doubt.
    pub doubted: Vec<bool>,
    /// Whether the user said how many responses loop ([`Worth::loop_rate`]), rather than the default.
    pub rate_given: bool,
    /// What it is best in.
    pub objective: Metric,
    /// Folds of the cross-validation, at least 2.
    pub folds: usize,
    /// Seed of the folds and of the bootstrap.
    pub seed: u64,
    /// How alarms are judged.
    pub judge: JudgeOptions,
    /// What errors cost.
    pub worth: Worth,
    /// The level of assurance to use; `None`: the lowest that holds on the folds left out.
    pub assurance: Option<Assurance>,
    /// How many points a setting has to gain to count as better.
    pub worthwhile: f64,
    /// The fewest scored loops for a choice, and for a choice for one model by itself.
    pub min_loops: u64,
    /// How many replicates the bootstrap has.
    pub replicates: usize,
}

/// The share of responses that loop where nobody said it: the upper end of what ordinary serving shows.
const ASSUMED_RATE: f64 = 0.003;

impl ChooseOptions {
    /// The share of responses that loop, as it was said, or as it is assumed.
    pub(crate) fn assumed_rate(&self) -> f64 {
        self.worth.loop_rate.unwrap_or(ASSUMED_RATE)
    }

    /// The limit of scoring.md where nobody gave one: one wrong alarm per million chars; in runs 0.2 per thousand
    /// calls, or turns.
    pub fn default_limit(unit: Unit) -> Option<Constraint> {
        let bound = match unit {
            Unit::Chars => 1.0,
            Unit::Calls | Unit::Turns => 0.2,
        };
        Some(Constraint {
            metric: wrong_rate(unit),
            at_most: true,
            bound,
        })
    }
}

/// The defaults of scoring.md: the most `saved` at no more than one wrong alarm per million chars.
impl Default for ChooseOptions {
    fn default() -> Self {
        Self {
            constraints: Self::default_limit(Unit::Chars).into_iter().collect(),
            given: false,
            in_use_is: "the setting in use",
            ready: Vec::new(),
            doubted: Vec::new(),
            rate_given: false,
            objective: &SAVED,
            folds: FOLDS,
            seed: 1,
            judge: JudgeOptions::default(),
            worth: Worth::default(),
            assurance: None,
            worthwhile: 1.0,
            min_loops: 10,
            replicates: Resampling::default().replicates,
        }
    }
}
