//! How the numbers of a report were made.

use super::Score;
use crate::numbers::writer;
use deadloop_score::measure::SAVED;
use deadloop_score::{Constraint, MEASURES, Metric, Worth};

/// How the numbers were made.
#[derive(Debug, Clone, Default)]
pub struct Run {
    /// The command that made the folder.
    pub command: String,
    /// The name of the corpus.
    pub corpus: String,
    /// The name of its folder or file: where that lies is not said, reports are the same on every machine.
    pub corpus_file: String,
    /// Its chars.
    pub chars: u64,
    /// What tells this corpus from another of the same name.
    pub corpus_hash: Option<String>,
    /// Programs and versions, as they introduce themselves.
    pub versions: Vec<(String, String)>,
    /// How often production loops, and what a wrong alarm costs.
    pub worth: Worth,
    /// What a million tokens cost, and the tokens of a char: net chars in money.
    pub price: Option<(f64, f64)>,
    /// The seed of every random draw.
    pub seed: Option<u64>,
    /// How an alarm was judged.
    pub judge: Vec<(String, String)>,
    /// What a choice has to meet.
    pub constraints: Vec<Constraint>,
    /// The upper limit on `fa_per_mchar` among them, which charts draw.
    pub limit: Option<f64>,
    /// What settings are compared by along the grid.
    pub objective: Objective,
    /// Counts of what was read and left out, in the order in which they are shown.
    pub counts: Vec<(String, u64)>,
    /// How many models have no scores of their own: those of so many settings would be too large.
    pub models_left_out: u64,
}

/// The measure by which settings are compared.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Objective(pub Metric);

impl Default for Objective {
    fn default() -> Self {
        Self(&SAVED)
    }
}

impl Objective {
    /// Its value, with more always better.
    pub(crate) fn merit(self, score: &Score) -> Option<f64> {
        Some(self.0.sign() * score.value(self.0)?)
    }

    /// A value as it is written.
    pub(crate) fn write(self, value: f64) -> String {
        writer(self.0)(Some(value))
    }
}

impl Run {
    /// The measures beside the sliders: those of choices, as there, then those of tables.
    pub(crate) fn on_board(&self) -> Vec<Metric> {
        let more = MEASURES.into_iter();
        let more = more.filter(|measure| measure.shown.tables && !measure.shown.choice);
        self.shown().into_iter().chain(more).collect()
    }

    /// The measures of the table of what models get: what was asked for first.
    pub(crate) fn shown(&self) -> Vec<Metric> {
        let limited = self.constraints.iter().map(|limit| limit.metric);
        let asked = std::iter::once(self.objective.0).chain(limited);
        let rest = MEASURES.into_iter().filter(|measure| measure.shown.choice);
        let mut shown: Vec<Metric> = Vec::new();
        for measure in asked.chain(rest).filter(|measure| measure.shown.choice) {
            if !shown.contains(&measure) {
                shown.push(measure);
            }
        }
        shown
    }
}
