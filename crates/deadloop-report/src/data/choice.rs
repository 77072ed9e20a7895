//! What a model gets, and the evidence for it: rows of choice.csv.

use crate::numbers::Estimate;
use deadloop_score::Metric;
use std::collections::BTreeMap;

/// The setting of one model, and the evidence for it.
#[derive(Debug, Clone, Default)]
pub struct ChoiceRow {
    /// The model, or [`ALL_MODELS`](crate::ALL_MODELS).
    pub model: String,
    /// What `settings.toml` holds for it: index into [`ReportData::settings`](crate::ReportData::settings).
    pub setting: Option<usize>,
    /// What was tried against what it would have otherwise; `None`: nothing was.
    pub candidate: Option<usize>,
    /// Where its setting comes from: `own`, `pooled`, `in use`, `few labels`, `shipped`.
    pub why: String,
    /// The same in a sentence.
    pub reason: String,
    /// By which rule the candidate ships, if it does.
    pub ships: Option<String>,
    /// The candidate, held out, less what it would replace, in points of the objective.
    pub difference: Estimate,
    /// How sure it is that the candidate is better.
    pub better: Option<f64>,
    /// Loops of the model.
    pub loops: u64,
    /// Healthy chars that were watched on the folds left out.
    pub clean_chars: u64,
    /// Wrong alarms of the candidate on those folds.
    pub wrong: u64,
    /// What the candidate does on the folds left out, by measure.
    pub held_out: BTreeMap<&'static str, Estimate>,
    /// What is in use does on all transcripts of the model, by measure.
    pub in_use: BTreeMap<&'static str, f64>,
    /// How much better the objective looks in sample than it is.
    pub optimism: Option<f64>,
    /// How far inside each limit the candidate is, held out.
    pub margins: String,
}

impl ChoiceRow {
    /// A measure of the candidate, held out.
    pub fn of(&self, measure: Metric) -> Estimate {
        self.held_out.get(measure.name).copied().unwrap_or_default()
    }
}
