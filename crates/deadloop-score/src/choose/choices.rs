//! [`Choices`]: what was chosen for all models together and for each, and the evidence for it.

use std::collections::BTreeMap;

use super::advice::{Advice, Ship};
use super::duel::Figures;
use super::pooling::Borrowing;
use crate::measure::{Metric, Worth};
use crate::tally::Tally;

deadloop_replay::detect::words! {
    /// Where the setting of a model comes from.
    pub enum Why {
        /// Chosen on its own transcripts, helped by those of the other models.
        Own = "own",
        /// Chosen on all transcripts.
        Pooled = "pooled",
        /// A guard that was there before, chosen on none of them.
        Ready = "ready",
        /// What is in use, since nothing else was shown to be better.
        InUse = "in use",
        /// That of all models, since its own labels are too few to try another.
        FewLabels = "few labels",
        /// Not one choice: the settings of all models together, as the file has them.
        Shipped = "shipped",
    }
}

/// The setting of one model, and the evidence for it.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// The model; `*`: all together, the setting of every model that has none of its own.
    pub model: String,
    /// What `settings.toml` holds for it: the setting's number in the plan.
    pub cell: usize,
    /// Its name.
    pub setting: String,
    /// Where that comes from.
    pub why: Why,
    /// The same in a sentence, with the numbers that decided.
    pub reason: String,
    /// What was tried against what it would have otherwise; `None`: nothing was.
    pub candidate: Option<usize>,
    /// The name of the candidate.
    pub candidate_setting: Option<String>,
    /// By which rule the candidate ships, if it does.
    pub ships: Option<Ship>,
    /// How the candidate compares with what it would replace, held out.
    pub figures: Option<Figures>,
    /// The counts of the candidate on all of these transcripts; without a candidate, those of the setting in the file.
    pub tally: Tally,
    /// The counts of such choices on the folds left out.
    pub held_out_tally: Tally,
    /// The counts of the same choices, each on all the folds: see [`optimism`](Self::optimism).
    pub looked_tally: Tally,
    /// The counts of the setting in use on all of these transcripts.
    pub in_use_tally: Tally,
    /// In how many folds no setting was within the limits. The setting in use is scored there.
    pub folds_without: usize,
    /// How much the other models helped, where the candidate is the model's own.
    pub borrowing: Option<Borrowing>,
}

impl Choice {
    /// How much better the candidate looks on what it was chosen on than such choices are.
    ///
    /// It is measured on the settings that the folds chose: what each looks like on all transcripts, less what it
    /// is on the fold left out. In-sample less held-out would be too large where labels are few, since a fold
    /// chooses with fewer of them and so a little worse: Burman (1989), "A comparative study of ordinary
    /// cross-validation, v-fold cross-validation and the repeated learning-testing methods", corrects by just that.
    pub fn optimism(&self, objective: Metric, worth: &Worth) -> Option<f64> {
        let looked = objective.value(&self.looked_tally, worth)?;
        let held_out = objective.value(&self.held_out_tally, worth)?;
        Some(objective.sign() * (looked - held_out))
    }
}

/// What was chosen.
#[derive(Clone, Debug, PartialEq)]
pub struct Choices {
    /// What it comes to.
    pub advice: Advice,
    /// The number of the setting in use.
    pub in_use: usize,
    /// For all models together.
    pub pooled: Choice,
    /// For each model, by name.
    pub models: Vec<Choice>,
    /// What the settings file does, each model under what it holds for it. `None` where it names no model.
    pub shipped: Option<Choice>,
    /// The fold of each case.
    pub folds: Vec<usize>,
}

impl Choices {
    /// The cell that `settings.toml` holds for each model, and for all others as `*`.
    pub fn cells(&self) -> BTreeMap<String, usize> {
        let all = std::iter::once(&self.pooled).chain(&self.models);
        all.map(|choice| (choice.model.clone(), choice.cell))
            .collect()
    }

    /// The cells that are worth a full report: what the file holds, the candidates, the price list.
    pub fn worth_reporting(&self) -> Vec<usize> {
        let all = std::iter::once(&self.pooled).chain(&self.models);
        let cells = all.flat_map(|choice| [Some(choice.cell), choice.candidate]);
        let prices = self.advice.prices.iter().map(|price| price.cell);
        let mut cells: Vec<usize> = cells.flatten().chain(prices).chain([self.in_use]).collect();
        cells.sort_unstable();
        cells.dedup();
        cells
    }
}
