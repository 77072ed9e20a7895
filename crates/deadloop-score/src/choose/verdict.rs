//! The verdict, and the figures of the file that is written: [`Choices`].

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::search::{Rung, SavedAt1};
use super::test::{PairedTest, Ship};
use super::{Candidate, ChooseOptions, Chooser, Sample, changes, words};
use deadloop_replay::detect::Unit;

use crate::measure::{DELAY, ENDED, Metric, RECALL, SAVED, WITHIN_5, WITHIN_1000, wrong_rate};
use crate::tally::{Count, Tally};

deadloop_replay::detect::words! {
    /// The verdict of a choice.
    #[derive(Default)]
    pub enum Ruling {
        /// The file differs from what is in use.
        Ship = "ship",
        /// The file does not differ.
        #[default]
        Keep = "keep",
        /// There are too few loops to choose by.
        Collect = "collect",
    }

    /// Where a setting comes from.
    pub enum Provenance {
        /// It is in use.
        InUse = "in use",
        /// It is a ready guard.
        Ready = "ready",
        /// It was chosen from the grid.
        Grid = "grid",
        /// It is that of all models.
        All = "all models",
    }
}

/// A guard that replaces another.
pub(super) struct Won {
    pub(super) candidate: Candidate,
    pub(super) source: Provenance,
    pub(super) name: String,
    pub(super) by: Ship,
    pub(super) test: PairedTest,
}

/// What some transcripts get.
pub(super) enum Part {
    /// What they would run otherwise.
    Kept(Candidate),
    /// A guard that replaces it.
    Won(Won),
}

impl Part {
    /// The setting.
    pub(super) fn candidate(&self) -> &Candidate {
        match self {
            Self::Kept(candidate) => candidate,
            Self::Won(won) => &won.candidate,
        }
    }
}

/// A parameter that differs between what is in use and what ships.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Changed {
    /// The model; `*`: every model without a setting of its own.
    pub model: String,
    /// The guard: its detector, with a number if there are several of one.
    pub guard: String,
    /// The parameter; `detector` if a guard is added or removed.
    pub param: String,
    /// Its value in use. `None` if the guard is not there.
    pub from: Option<String>,
    /// Its value in the file. `None` if the guard goes.
    pub to: Option<String>,
    /// The meaning of the new value, if it is not plain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub words: Option<String>,
}

/// The figures of one way to run a guard.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Figures {
    /// The objective.
    pub objective: Option<f64>,
    /// `saved`, whatever the objective is.
    pub saved: Option<f64>,
    /// The share of loops that end, in them or in an earlier repetition.
    pub ended: Option<f64>,
    /// Recall.
    pub recall: Option<f64>,
    /// The share of loops that end within 1,000 chars, or 5 calls or turns.
    pub within: Option<f64>,
    /// The mean delay.
    pub delay: Option<f64>,
    /// Wrong alarms per million healthy chars, or per thousand calls or turns.
    pub rate: Option<f64>,
    /// Wrong alarms.
    pub wrong: u64,
    /// Stops of repetitions that would have ended by themselves.
    pub transient: u64,
    /// Loops.
    pub loops: u64,
}

/// Returns the measure of early ends: within 1,000 chars, or 5 calls or turns.
pub fn within(unit: Unit) -> Metric {
    match unit {
        Unit::Chars => &WITHIN_1000,
        Unit::Calls | Unit::Turns => &WITHIN_5,
    }
}

impl Figures {
    /// The figures of a tally.
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

/// The setting of one model in the file, and the evidence for it. Tallies count all labels.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// The model; `*`: the whole file, and the setting of every model without a table of its own.
    pub model: String,
    /// The setting's number in the plan.
    pub cell: usize,
    /// The setting.
    pub setting: String,
    /// Where it comes from.
    pub source: Provenance,
    /// Its name in sentences.
    pub name: String,
    /// The rule by which it replaces what would run otherwise.
    pub ships: Option<Ship>,
    /// The test that it passed.
    pub test: Option<PairedTest>,
    /// The reason in a sentence.
    pub reason: String,
    /// The counts of the file, where a part of it was chosen by folds on the folds left out.
    pub held_out: Tally,
    /// The counts of the file as a replay of it counts.
    pub in_sample: Tally,
    /// The counts of the setting in use.
    pub in_use: Tally,
}

/// The outcome of a choice.
#[derive(Clone, Debug, PartialEq)]
pub struct Choices {
    /// The verdict and all that is printed.
    pub advice: Advice,
    /// The number of the setting in use.
    pub in_use: usize,
    /// The whole file.
    pub all: Choice,
    /// Each model, by name.
    pub models: Vec<Choice>,
    /// The fold of each case.
    pub folds: Vec<usize>,
}

impl Choices {
    /// Returns the cell that the file holds for each model, and for all others as `*`.
    pub fn cells(&self) -> BTreeMap<String, usize> {
        let all = std::iter::once(&self.all).chain(&self.models);
        all.map(|choice| (choice.model.clone(), choice.cell))
            .collect()
    }

    /// Returns the cells that deserve a full report: those of the file, of the rungs, and the one in use.
    pub fn worth_reporting(&self) -> Vec<usize> {
        let rungs = self.advice.limits.iter().map(|rung| rung.cell);
        let mut cells: Vec<usize> = self
            .cells()
            .into_values()
            .chain(rungs)
            .chain([self.in_use])
            .collect();
        cells.sort_unstable();
        cells.dedup();
        cells
    }
}

/// The verdict and all that is printed of a choice.
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
    /// Where the setting of all models comes from; its name.
    pub is: String,
    /// The name of the setting in use.
    pub in_use_is: String,
    /// The figures of the setting in use.
    pub in_use: Figures,
    /// The figures of the file, held out.
    pub file: Figures,
    /// The figures of the file as a replay of it has them.
    pub in_sample: Figures,
    /// Whether a part of the file was chosen by folds, so that `file` and `in_sample` differ.
    pub by_folds: bool,
    /// Whether the file is over a limit by estimate.
    pub over_limit: bool,
    /// Labels in doubt, which the choice leaves out.
    pub doubted: u64,
    /// The parameters that the file changes.
    pub changes: Vec<Changed>,
    /// What a limit costs.
    pub limits: Vec<Rung>,
    /// How good each grid is.
    pub saved_at_1: Vec<SavedAt1>,
    /// What to do about wrong alarms.
    pub to_do: Vec<String>,
    /// What to type next.
    pub next: Vec<String>,
}

impl Chooser<'_> {
    /// Step 4: the verdict and the figures of the file.
    pub(super) fn conclude(
        self,
        sample: &Sample,
        (all, models): (Part, Vec<(String, Part)>),
        limits: Vec<Rung>,
        saved_at_1: Vec<SavedAt1>,
    ) -> Choices {
        let picks = self.evidence.models();
        let by_folds = models
            .iter()
            .any(|(_, part)| part.candidate().without.is_some());
        let name = match &all {
            Part::Kept(_) => &self.options.in_use_is,
            Part::Won(won) => &won.name,
        };
        let otherwise = (Provenance::All, name.clone());
        let models: Vec<Choice> = models
            .into_iter()
            .map(|(model, part)| {
                self.choice(&model, &picks[model.as_str()], part, otherwise.clone())
            })
            .collect();
        let of_all = (Provenance::InUse, self.options.in_use_is.clone());
        let mut file = self.choice("*", &[], all, of_all);
        for model in &models {
            file.held_out += model.held_out;
            file.in_sample += model.in_sample;
            file.in_use += model.in_use;
        }
        let advice = self.advice((&file, &models), sample, by_folds);
        let mut choices = Choices {
            advice: Advice {
                limits,
                saved_at_1,
                ..advice
            },
            in_use: self.in_use,
            all: file,
            models,
            folds: Vec::new(),
        };
        choices.advice.changes = changes::of_choices(self.evidence.plan, &choices);
        words::say(&mut choices, &self, sample);
        choices.folds = self.folds;
        choices
    }

    /// The verdict on a file and its figures, without a sentence.
    fn advice(
        &self,
        (file, models): (&Choice, &[Choice]),
        sample: &Sample,
        by_folds: bool,
    ) -> Advice {
        let ships = file.ships.is_some() || models.iter().any(|model| model.ships.is_some());
        let verdict = match (ships, sample.is_enough()) {
            (true, _) => Ruling::Ship,
            (false, true) => Ruling::Keep,
            (false, false) => Ruling::Collect,
        };
        let figures = |tally: &Tally| Figures::new(tally, self.options);
        let doubted = self.options.doubted.iter().filter(|doubted| **doubted);
        Advice {
            verdict,
            rule: file.ships,
            is: file.name.clone(),
            in_use_is: self.options.in_use_is.clone(),
            in_use: figures(&file.in_use),
            file: figures(&file.held_out),
            in_sample: figures(&file.in_sample),
            by_folds,
            over_limit: !self.options.is_within(&file.in_sample),
            doubted: doubted.count() as u64,
            ..Advice::default()
        }
    }

    /// The choice of some transcripts. `otherwise`: the source and name of what they have if nothing won.
    fn choice(
        &self,
        model: &str,
        pick: &[usize],
        part: Part,
        otherwise: (Provenance, String),
    ) -> Choice {
        let sum = |candidate: &Candidate| self.tallies(candidate, pick).into_iter().sum();
        let candidate = part.candidate().clone();
        let cell = candidate.cell;
        let (source, name, ships, test) = match part {
            Part::Won(won) => (won.source, won.name, Some(won.by), Some(won.test)),
            Part::Kept(_) => (otherwise.0, otherwise.1, None, None),
        };
        Choice {
            model: model.to_owned(),
            cell,
            setting: self.evidence.plan.id(cell),
            source,
            name,
            ships,
            test,
            reason: String::new(),
            held_out: sum(&candidate),
            in_sample: sum(&Candidate::ready(cell)),
            in_use: sum(&Candidate::ready(self.in_use)),
        }
    }
}
