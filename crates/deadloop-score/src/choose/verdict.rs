//! [`Choices`]: the verdict, and the figures of the written file. Its sentences are made in `sentences`.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::limits::{GuardRow, Rung, mark_dominated};
use super::search::{GridSearch, RungTrial, SavedMean};
use super::test::{PairedTest, Ship, Trial};
use super::{Candidate, ChooseOptions, Chooser, changes, sentences};
use deadloop_replay::detect::Unit;

use crate::measure::{DELAY, ENDED, Metric, RECALL, SAVED, WITHIN_5, WITHIN_1000, wrong_rate};
use crate::tally::{Count, Tally};

deadloop_replay::detect::words! {
    /// The verdict of a choice.
    #[derive(Default)]
    pub enum Ruling {
        /// The file differs from the setting in use.
        Ship = "ship",
        /// The file equals the setting in use.
        #[default]
        Keep = "keep",
        /// There are too few loops for a choice.
        Collect = "collect",
    }

    /// The origin of a setting.
    pub enum Provenance {
        /// The setting in use.
        InUse = "in use",
        /// A ready guard.
        Ready = "ready",
        /// A cell of the grid.
        Grid = "grid",
        /// The setting of all models.
        All = "all models",
    }
}

/// The setting of some transcripts.
#[derive(Clone)]
pub(super) struct Pick {
    pub(super) candidate: Candidate,
    pub(super) source: Provenance,
    pub(super) name: String,
    /// The rule by which it replaces the incumbent. `None` if it is the incumbent.
    pub(super) ships: Option<Ship>,
    test: Option<PairedTest>,
}

impl Pick {
    /// Keeps the incumbent.
    pub(super) fn from_candidate(candidate: Candidate, source: Provenance, name: &str) -> Self {
        Self {
            candidate,
            source,
            name: name.to_owned(),
            ships: None,
            test: None,
        }
    }

    /// Returns the setting of all models as that of one model.
    pub(super) fn for_model(&self) -> Self {
        Self::from_candidate(self.candidate.clone(), Provenance::All, &self.name)
    }

    /// Replaces the incumbent, if the trial has a rule for it.
    pub(super) fn from_trial(trial: &Trial, source: Provenance, name: &str) -> Self {
        Self {
            ships: trial.by,
            test: Some(trial.test.clone()),
            ..Self::from_candidate(trial.candidate.clone(), source, name)
        }
    }
}

/// A parameter that differs between the setting in use and the file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ParamChange {
    /// The model, or `*` for every model without its own setting.
    pub model: String,
    /// The guard: its detector, numbered if several guards have it.
    pub guard: String,
    /// The parameter, or `detector` if a guard is added or removed.
    pub param: String,
    /// The value in use. `None` if the guard is new.
    pub from: Option<String>,
    /// The value in the file. `None` if the guard is removed.
    pub to: Option<String>,
    /// The meaning of the new value, if it is not obvious.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub words: Option<String>,
}

/// The figures of one way to run a guard.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Figures {
    /// The objective.
    pub objective: Option<f64>,
    /// The saved share, even if the objective is another measure.
    pub saved: Option<f64>,
    /// The share of loops that are ended, in the loop or in an earlier repetition.
    pub ended: Option<f64>,
    /// Recall.
    pub recall: Option<f64>,
    /// The share of loops that are ended within 1,000 chars, or 5 calls or turns.
    pub within: Option<f64>,
    /// The mean delay.
    pub delay: Option<f64>,
    /// Wrong alarms per million healthy chars, or per thousand calls or turns.
    pub rate: Option<f64>,
    /// Wrong alarms.
    pub wrong: u64,
    /// Stops of repetitions that would have ended on their own.
    pub transient: u64,
    /// Loops.
    pub loops: u64,
}

/// Returns the measure of early stops: within 1,000 chars, or 5 calls or turns.
pub fn within(unit: Unit) -> Metric {
    match unit {
        Unit::Chars => &WITHIN_1000,
        Unit::Calls | Unit::Turns => &WITHIN_5,
    }
}

impl Figures {
    /// Computes the figures of a tally.
    pub fn new(tally: &Tally, options: &ChooseOptions) -> Self {
        let value = |measure: Metric| measure.value(tally, &options.worth);
        Self {
            objective: value(options.objective),
            saved: value(&SAVED),
            ended: value(&ENDED),
            recall: value(&RECALL),
            within: value(within(options.judge.unit)),
            delay: value(&DELAY),
            rate: value(wrong_rate(options.judge.unit)),
            wrong: tally.wrong(),
            transient: tally.get(Count::TransientStop),
            loops: tally.loops(),
        }
    }
}

/// The setting of one model in the file, and the evidence for it. The tallies are on all labels.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// The model, or `*` for the whole file and every model without its own table.
    pub model: String,
    /// The setting's number in the plan.
    pub cell: usize,
    /// The setting.
    pub setting: String,
    /// The origin of the setting.
    pub source: Provenance,
    /// The name of the setting in sentences.
    pub name: String,
    /// The rule by which the setting replaces the incumbent. `None` if it does not.
    pub ships: Option<Ship>,
    /// The test that the setting passed.
    pub test: Option<PairedTest>,
    /// The reason in a sentence.
    pub reason: String,
    /// The held-out counts of the file. Settings not chosen by folds count on all transcripts.
    pub held_out: Tally,
    /// The counts of the file on all transcripts, as a replay computes them.
    pub in_sample: Tally,
    /// The counts of the setting in use.
    pub in_use: Tally,
}

/// The outcome of a choice.
#[derive(Clone, Debug, PartialEq)]
pub struct Choices {
    /// The verdict and everything that is printed.
    pub advice: Advice,
    /// The number of the setting in use.
    pub in_use: usize,
    /// The whole file.
    pub all: Choice,
    /// The choice of each model, by name.
    pub models: Vec<Choice>,
    /// The fold of each case.
    pub folds: Vec<usize>,
}

impl Choices {
    /// Returns the cell of each model, and of all others as `*`.
    pub fn cells(&self) -> BTreeMap<String, usize> {
        let all = std::iter::once(&self.all).chain(&self.models);
        all.map(|choice| (choice.model.clone(), choice.cell))
            .collect()
    }

    /// Returns the cells that get a full report: the cells of the file and of the rungs, and the cell in use.
    pub fn reported_cells(&self) -> Vec<usize> {
        let rungs = self.advice.limits.iter().map(|rung| rung.cell);
        let cells = self.cells().into_values().chain(rungs);
        let cells: BTreeSet<usize> = cells.chain([self.in_use]).collect();
        cells.into_iter().collect()
    }
}

/// The verdict on a choice, and everything that is printed about it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Advice {
    /// The verdict.
    pub verdict: Ruling,
    /// The verdict in a sentence, with the figures of the file.
    pub reason: String,
    /// Further sentences.
    pub more: Vec<String>,
    /// The rule by which the setting of all models ships.
    pub rule: Option<Ship>,
    /// The name of the setting of all models.
    pub is: String,
    /// The name of the setting in use.
    pub in_use_is: String,
    /// The figures of the setting in use.
    pub in_use: Figures,
    /// The held-out figures of the file.
    pub file: Figures,
    /// The figures of the file on all transcripts, as a replay computes them.
    pub in_sample: Figures,
    /// Whether a part of the file was chosen by folds, so that `file` and `in_sample` differ.
    pub by_folds: bool,
    /// Whether the file is over a limit by estimate.
    pub over_limit: bool,
    /// Number of labels in doubt, which the choice leaves out.
    pub doubted: u64,
    /// The parameters that the file changes.
    pub changes: Vec<ParamChange>,
    /// The ready guards.
    #[serde(default)]
    pub ready: Vec<GuardRow>,
    /// The name of the guard against which the rows of limits are tested.
    #[serde(default)]
    pub against: String,
    /// The cost of each limit.
    pub limits: Vec<Rung>,
    /// The quality of each grid.
    pub saved_at_1: Vec<SavedMean>,
    /// Advice about wrong alarms.
    pub to_do: Vec<String>,
    /// The next commands to type.
    pub next: Vec<String>,
}

/// The maximum number of changes that are listed one by one.
const FEW_CHANGES: usize = 8;

impl Advice {
    /// Names the file and its setting of all models.
    pub fn name_file(&self) -> String {
        let is_own = self.changes.iter().any(|change| change.model != "*");
        let own = ["", ", and settings of single models"][usize::from(is_own)];
        let kept = ["unchanged: ", ""][usize::from(self.verdict == Ruling::Ship)];
        format!("settings.toml ({kept}{}{own})", self.is)
    }

    /// Returns a sentence in place of a long list of changes. `None` if the list is short.
    pub fn many_changes(&self) -> Option<String> {
        let (many, old) = (self.changes.len(), &self.in_use_is);
        (many > FEW_CHANGES)
            .then(|| format!("settings.toml replaces {old}: {many} parameters differ"))
    }
}

impl Chooser<'_> {
    /// Computes the verdict and the figures of the file. This is step 4.
    pub(super) fn conclude(
        &self,
        search: &GridSearch<'_>,
        tried: Vec<RungTrial>,
        (all, models): (Pick, BTreeMap<&str, Pick>),
    ) -> Choices {
        let (options, picks) = (self.options, self.evidence.models());
        let mut parts = models.values();
        let by_folds = parts.any(|part| part.candidate.without.is_some());
        let choice = |(model, part): (&str, Pick)| self.choice(model, &picks[model], part);
        let models: Vec<Choice> = models.into_iter().map(choice).collect();
        let mut file = self.choice("*", &[], all);
        for model in &models {
            file.held_out += model.held_out;
            file.in_sample += model.in_sample;
            file.in_use += model.in_use;
        }
        let ships = file.ships.is_some() || models.iter().any(|model| model.ships.is_some());
        let verdict = match (ships, search.sample.has_enough_loops()) {
            (true, _) => Ruling::Ship,
            (false, true) => Ruling::Keep,
            (false, false) => Ruling::Collect,
        };
        let figures = |tally: &Tally| Figures::new(tally, options);
        let doubted = options.doubted.iter().filter(|doubted| **doubted);
        let mut advice = Advice {
            verdict,
            rule: file.ships,
            is: file.name.clone(),
            in_use_is: options.in_use_is.clone(),
            in_use: figures(&file.in_use),
            file: figures(&file.held_out),
            in_sample: figures(&file.in_sample),
            by_folds,
            over_limit: !options.is_within(&file.in_sample),
            doubted: doubted.count() as u64,
            // Folds of so few groups say little.
            limits: if verdict == Ruling::Collect {
                Vec::new()
            } else {
                search.rungs(tried)
            },
            ready: self.ready_rows(search.sample, file.cell),
            against: options.name_of(search.winner.cell, self.in_use).to_owned(),
            saved_at_1: search.saved_at_1(),
            ..Advice::default()
        };
        let guards = advice.guard_rows().map(|guard| &guard.figures);
        let above = guards.chain([&advice.file]).cloned().collect();
        mark_dominated(&mut advice.limits, file.cell, above, options);
        let mut choices = Choices {
            advice,
            in_use: self.in_use,
            all: file,
            models,
            folds: self.folds.clone(),
        };
        choices.advice.changes = changes::of_choices(self.evidence.plan, &choices);
        sentences::add_sentences(&mut choices, self, search.sample);
        choices
    }

    /// Builds the choice for some transcripts, without its reason.
    fn choice(&self, model: &str, pick: &[usize], part: Pick) -> Choice {
        let cell = part.candidate.cell;
        Choice {
            model: model.to_owned(),
            cell,
            setting: self.evidence.plan.id(cell),
            source: part.source,
            name: part.name,
            ships: part.ships,
            test: part.test,
            reason: String::new(),
            held_out: self.sum(&part.candidate, pick),
            in_sample: self.sum(&Candidate::from_ready(cell), pick),
            in_use: self.sum(&Candidate::from_ready(self.in_use), pick),
        }
    }
}
