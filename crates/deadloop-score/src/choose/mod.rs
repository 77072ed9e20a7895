//! [`choose`]: the choice of a setting, by the one rule of `reports/METHOD.md`, "Choosing".
//!
//! Step 1 tries the ready guards, step 2 the grid, and step 3 each model. Each step compares with the result of the
//! step before. Labels in doubt are left out of the choice, and copies of a text count once. The reported figures are
//! those of the written settings file on all labels.
//!
//! | to find | look in |
//! |---|---|
//! | the paired test: better, safer | `test.rs` |
//! | the labels in doubt | `doubt.rs` |
//! | the ready guards | `ready.rs` |
//! | the figures of every cell of the grid, fold by fold | `candidates.rs` |
//! | the ladder of rates, and the best cell of a rung | `search.rs` |
//! | the rows of "what a limit costs" | `limits.rs` |
//! | the verdict, and the figures of the file | `verdict.rs` |
//! | the sentence of the verdict, and those of its reasons | `sentences.rs` |
//! | what changes, and what a setting does, in sentences | `changes.rs`, `explanation.rs` |

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use deadloop_replay::detect::Unit;

use crate::constraint::Constraint;
use crate::judge::JudgeOptions;
use crate::measure::{Metric, SAVED, Stakes, wrong_rate};
use crate::tally::{Evidence, Tally};
use crate::truth::{Class, CopyKey};

mod candidates;
mod changes;
mod doubt;
mod explanation;
mod folds;
mod limits;
mod ready;
mod search;
mod sentences;
mod test;
mod verdict;

pub use changes::changes;
pub use doubt::{ContradictedLabel, find_contradictions, limit_doubt};
pub use explanation::{describe_value, explain_setting, in_words, subject};
pub use folds::folds;
pub use limits::{GuardRow, Rung};
pub use search::{SAVED_AT_1, SavedMean};
pub use sentences::format_value;
pub use test::{PairedTest, Ship};
pub use verdict::{Advice, Choice, Choices, Figures, ParamChange, Provenance, Ruling, within};

use search::GridSearch;
use verdict::Pick;

/// Number of folds into which groups of cases are divided.
const FOLDS: usize = 5;
/// Minimum number of loops, and minimum number of groups with a loop, for a choice.
pub const FEWEST_LOOPS: u64 = 10;
/// Minimum number of loops of a model for a choice on its own transcripts.
pub const MODEL_LOOPS: u64 = 50;
/// Minimum numbers of loops, and of groups with a loop, for a ready guard to replace another as safer.
const FEWEST_FOR_SAFER: (u64, u64) = (5, 2);

/// Error for a choice without candidates.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no setting to choose from")]
pub struct NoCandidates;

/// A guard that was not chosen on this corpus: the recommended one, `quiet`, or one of `--also`.
#[derive(Clone, Debug, PartialEq)]
pub struct ReadyGuard {
    /// The guard's number in the plan.
    pub cell: usize,
    /// The guard's name in sentences, such as `the recommended guard`.
    pub name: String,
}

impl ReadyGuard {
    fn candidate(&self) -> Candidate {
        Candidate::from_ready(self.cell)
    }
}

/// The cells of the plan that belong to one grid.
#[derive(Clone, Debug, PartialEq)]
pub struct GridCells {
    /// The names of the grid's detectors.
    pub name: String,
    /// The numbers of the grid's cells in the plan.
    pub cells: Range<usize>,
}

/// Options of a choice.
#[derive(Clone, Debug, PartialEq)]
pub struct ChooseOptions {
    /// The limits on measures of the chosen setting.
    pub constraints: Vec<Constraint>,
    /// Whether the limits are the user's, not the defaults.
    pub given: bool,
    /// The name in sentences of the setting in use.
    pub in_use_is: String,
    /// The ready guards. The first one wins a tie.
    pub ready: Vec<ReadyGuard>,
    /// Whether a cell of the grids may replace the setting in use. The grids are scored in any case.
    pub ships_grid: bool,
    /// Whether the label of each case is in doubt (see [`find_contradictions`]). Empty if no label is in doubt.
    pub doubted: Vec<bool>,
    /// The measure that is optimized.
    pub objective: Metric,
    /// The seed of the folds and of the bootstrap.
    pub seed: u64,
    /// The options for judging alarms.
    pub judge: JudgeOptions,
    /// The costs of errors: the mean clean response, and the share of responses that loop.
    pub worth: Stakes,
    /// Number of bootstrap replicates.
    pub replicates: usize,
}

impl ChooseOptions {
    /// Returns the default limit on wrong alarms: 1 per million chars, 0.2 per thousand calls or turns.
    pub fn default_limit(unit: Unit) -> Constraint {
        Constraint {
            metric: wrong_rate(unit),
            at_most: true,
            bound: if unit == Unit::Chars { 1.0 } else { 0.2 },
        }
    }

    /// Returns the measure of the ladder: the measure of the limit on wrong alarms, or the rate of wrong alarms without
    /// one.
    pub fn limited(&self) -> Metric {
        let rate = || wrong_rate(self.judge.unit);
        self.limit().map_or_else(rate, |limit| limit.metric)
    }

    /// Returns the name of a ready guard or of the setting `in_use`, given its cell.
    fn name_of(&self, cell: usize, in_use: usize) -> &str {
        let mut ready = self.ready.iter().filter(|_| cell != in_use);
        let ready = ready.find(|guard| guard.cell == cell);
        ready.map_or(&self.in_use_is, |guard| &guard.name)
    }

    /// Returns the limit on wrong alarms, if there is one.
    pub(crate) fn limit(&self) -> Option<&Constraint> {
        self.constraints.iter().find(|c| c.limits_wrong())
    }

    /// Returns whether a tally meets every limit except the one on wrong alarms, by estimate.
    fn meets_others(&self, tally: &Tally) -> bool {
        let limit = self.limit();
        let mut others = self.constraints.iter().filter(|c| Some(*c) != limit);
        others.all(|c| c.estimate(tally, &self.worth).1)
    }

    /// Returns whether a tally meets every limit by estimate. A measure that is n/a meets its limit.
    pub(crate) fn is_within(&self, tally: &Tally) -> bool {
        let mut limits = self.constraints.iter();
        !limits.any(|limit| limit.is_broken(tally, &self.worth))
    }

    /// Returns the value of the objective, signed so that more is better.
    fn merit(&self, tally: &Tally) -> f64 {
        self.signed(self.objective.value(tally, &self.worth))
    }

    /// Signs a value of the objective so that more is better. A value that is n/a is negative infinity.
    fn signed(&self, value: Option<f64>) -> f64 {
        value.map_or(f64::NEG_INFINITY, |value| self.objective.sign() * value)
    }

    /// Returns whether a tally surely breaks a limit: at the limit, so many wrong alarms have a probability below 10 %.
    fn is_surely_over(&self, tally: &Tally) -> bool {
        let mut limits = self.constraints.iter();
        limits.any(|limit| limit.is_surely_broken(tally, &self.worth))
    }
}

impl Default for ChooseOptions {
    fn default() -> Self {
        Self {
            constraints: vec![Self::default_limit(Unit::Chars)],
            given: false,
            in_use_is: "the setting in use".to_owned(),
            ready: Vec::new(),
            ships_grid: true,
            doubted: Vec::new(),
            objective: &SAVED,
            seed: 1,
            judge: JudgeOptions::default(),
            worth: Stakes::default(),
            replicates: 2000,
        }
    }
}

/// Chooses the setting that replaces the setting `in_use`: a ready guard, or a cell of `grids`.
///
/// The caller leaves sealed transcripts (`split = test`) out of `evidence`.
///
/// # Errors
/// There is neither a ready guard nor a cell.
pub fn choose(
    evidence: &Evidence<'_>,
    grids: &[GridCells],
    in_use: usize,
    options: &ChooseOptions,
) -> Result<Choices, NoCandidates> {
    if options.ready.is_empty() && grids.iter().all(|grid| grid.cells.is_empty()) {
        return Err(NoCandidates);
    }
    let chooser = Chooser {
        evidence,
        grids,
        in_use,
        options,
        folds: folds(evidence.cases, FOLDS, options.seed),
    };
    Ok(chooser.run_steps())
}

/// A setting that may be chosen. If it was chosen on this corpus, it has the settings chosen without each fold.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Candidate {
    cell: usize,
    without: Option<[usize; FOLDS]>,
}

impl Candidate {
    /// Wraps a setting that was not chosen on this corpus.
    fn from_ready(cell: usize) -> Self {
        Self {
            cell,
            without: None,
        }
    }

    /// Returns the setting that scores the transcripts of each fold, held out if the setting was chosen on this corpus.
    fn held_out(&self) -> [usize; FOLDS] {
        self.without.unwrap_or([self.cell; FOLDS])
    }
}

/// The transcripts on which a choice is made: labelled, without labels in doubt, each text once.
struct Sample {
    pick: Vec<usize>,
    loops: u64,
    loop_groups: u64,
}

impl Sample {
    /// Returns whether a choice from the sample is allowed.
    fn has_enough_loops(&self) -> bool {
        self.loops >= FEWEST_LOOPS && self.loop_groups >= FEWEST_LOOPS
    }

    fn has_enough_for_safer(&self) -> bool {
        self.loops >= FEWEST_FOR_SAFER.0 && self.loop_groups >= FEWEST_FOR_SAFER.1
    }
}

/// The inputs of all steps of a choice.
struct Chooser<'a> {
    evidence: &'a Evidence<'a>,
    grids: &'a [GridCells],
    in_use: usize,
    options: &'a ChooseOptions,
    folds: Vec<usize>,
}

impl Chooser<'_> {
    /// Runs the steps of the choice.
    fn run_steps(&self) -> Choices {
        let sample = self.select_sample(&self.evidence.all());
        let in_use = Candidate::from_ready(self.in_use);
        let kept = Pick::from_candidate(in_use, Provenance::InUse, &self.options.in_use_is);
        let winner = self.select_ready(&sample, &kept.candidate, &self.options.ready);
        let winner = winner.unwrap_or(kept);
        let search = GridSearch::new(self, &sample, &winner.candidate);
        let tried = search.climb(f64::INFINITY);
        let all = search.best(&tried).unwrap_or_else(|| winner.clone());
        self.conclude(&search, tried, self.choose_models(&sample, all))
    }

    /// Selects the transcripts of `pick` on which a choice is made.
    fn select_sample(&self, pick: &[usize]) -> Sample {
        let (cases, doubted) = (self.evidence.cases, &self.options.doubted);
        let is_labelled = |i: usize| !matches!(cases[i].class(), None | Some(Class::Unsure));
        let is_usable = |i: &usize| is_labelled(*i) && doubted.get(*i) != Some(&true);
        let usable: Vec<usize> = pick.iter().copied().filter(is_usable).collect();
        let mut first: BTreeMap<CopyKey, usize> = BTreeMap::new();
        for i in &usable {
            let key = cases[*i].copy_key(self.options.judge.unit);
            let known = first.entry(key).or_insert(*i);
            if cases[*i].id < cases[*known].id {
                *known = *i;
            }
        }
        let mut pick: Vec<usize> = first.into_values().collect();
        pick.sort_unstable();
        let quiet = self.tallies([None; FOLDS], &pick);
        let looping = pick.iter().zip(&quiet).filter(|(_, one)| one.loops() > 0);
        let groups = looping.map(|(i, _)| cases[*i].cluster());
        Sample {
            loops: quiet.iter().map(Tally::loops).sum(),
            loop_groups: groups.collect::<BTreeSet<&str>>().len() as u64,
            pick,
        }
    }

    /// Chooses a setting for each model with enough labels, or with wrong alarms surely over the limit. This is step 3.
    ///
    /// The incumbent is the setting of all models. The setting in use is a ready guard here, since it may suit a model
    /// better.
    fn choose_per_model(&self, all: &Pick) -> BTreeMap<&str, Pick> {
        let mut ready = self.options.ready.clone();
        ready.push(ReadyGuard {
            cell: self.in_use,
            name: self.options.in_use_is.clone(),
        });
        let models = self.evidence.models();
        let is_alone = models.len() == 1;
        let choose = |pick: &[usize]| {
            let sample = self.select_sample(pick);
            let now = self.sum(&all.candidate, &sample.pick);
            if is_alone || sample.loops < MODEL_LOOPS && !self.options.is_surely_over(&now) {
                return None;
            }
            let won = self.select_ready(&sample, &all.candidate, &ready);
            let winner = won.as_ref().map_or(&all.candidate, |won| &won.candidate);
            let search = GridSearch::new(self, &sample, winner);
            search.best(&search.climb(search.top())).or(won)
        };
        let part = |pick: Vec<usize>| choose(&pick).unwrap_or_else(|| all.for_model());
        let models = models.into_iter();
        models.map(|(model, pick)| (model, part(pick))).collect()
    }

    /// Returns the group name of each transcript of a sample.
    fn groups<'a>(&'a self, sample: &'a Sample) -> impl Iterator<Item = &'a str> {
        let cases = self.evidence.cases;
        sample.pick.iter().map(|i| cases[*i].cluster())
    }

    /// Returns the tally of some transcripts without a guard.
    fn tally_of_never(&self, pick: &[usize]) -> Tally {
        self.tallies([None; FOLDS], pick).into_iter().sum()
    }

    /// Returns the tally of a candidate on some transcripts, held out if the candidate was chosen on this corpus.
    fn sum(&self, candidate: &Candidate, pick: &[usize]) -> Tally {
        let cells = candidate.held_out().map(Some);
        self.tallies(cells, pick).into_iter().sum()
    }

    /// Returns the tally of each transcript under the setting of its fold. A fold with `None` has no guard.
    fn tallies(&self, cells: [Option<usize>; FOLDS], pick: &[usize]) -> Vec<Tally> {
        let (evidence, judge) = (self.evidence, &self.options.judge);
        let quiet = evidence.plan.cell(self.in_use).block;
        let cells = cells.map(|cell| cell.map(|cell| evidence.plan.cell(cell)));
        let outcome = |i: &usize| match &cells[self.folds[*i]] {
            Some(cell) => evidence.outcome(cell, *i, judge),
            None => evidence.judge_quiet(quiet, *i, judge),
        };
        let tally = |i: &usize| Tally::from_outcome(&outcome(i));
        pick.iter().map(tally).collect()
    }
}
