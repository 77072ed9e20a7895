//! The setting of a model and its evidence: rows of choice.csv.

use deadloop_score::Metric;
use std::collections::BTreeMap;

/// The setting of a model in the file, and the evidence for it.
#[derive(Debug, Clone, Default)]
pub struct ChoiceRow {
    /// The model, or [`ALL_MODELS`](crate::ALL_MODELS) for the whole file.
    pub model: String,
    /// The setting in the file, as an index into [`ReportData::settings`](crate::ReportData::settings). In the row of
    /// the whole file, this is the setting of every model without a table of its own.
    pub setting: Option<usize>,
    /// The name of the setting in use, for sentences.
    pub in_use_is: String,
    /// The name of the setting in the file.
    pub gets: String,
    /// The reason in a sentence.
    pub reason: String,
    /// The rule by which the setting replaces what would run otherwise. `None` if it does not.
    pub ships: Option<String>,
    /// The number of labelled loops.
    pub loops: u64,
    /// The figures of the setting in use.
    pub in_use: ChoiceFigures,
    /// The figures of the file. Where folds chose a part of the file, they are from transcripts outside of the choice.
    pub held_out: ChoiceFigures,
    /// The in-sample figures of the file, which a replay of the file reproduces.
    pub in_sample: ChoiceFigures,
}

/// The figures of a guard on the transcripts of a model.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ChoiceFigures {
    /// Values by measure.
    pub values: BTreeMap<&'static str, f64>,
    /// The number of wrong alarms.
    pub wrong: u64,
    /// The number of stops of repetitions that would have ended by themselves.
    pub transient: u64,
}

impl ChoiceFigures {
    /// Returns the value of a measure. `None` if it is n/a.
    pub fn value(&self, measure: Metric) -> Option<f64> {
        self.values.get(measure.name).copied()
    }
}

impl ChoiceRow {
    /// Returns whether a model has a setting of its own in the file.
    pub(crate) fn is_own(&self) -> bool {
        self.model != crate::ALL_MODELS && self.ships.is_some()
    }
}
