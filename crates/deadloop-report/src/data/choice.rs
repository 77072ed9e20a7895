//! [`ChoiceRow`]: the setting of a model and its evidence, a row of choice.csv.

use deadloop_score::Metric;
use std::collections::BTreeMap;

/// The setting of a model in the settings file, and the evidence for it.
#[derive(Debug, Clone, Default)]
pub struct ChoiceRow {
    /// The model, or [`ALL_MODELS`](crate::ALL_MODELS) for the whole file.
    pub model: String,
    /// The setting in the file, as an index into [`ReportData::settings`](crate::ReportData::settings).
    ///
    /// In the row of the whole file, it is the setting of every model without its own table.
    pub setting: Option<usize>,
    /// The name in sentences of the setting in use.
    pub in_use_is: String,
    /// The name of the setting in the file.
    pub gets: String,
    /// The reason for the setting, in a sentence.
    pub reason: String,
    /// The rule by which the setting replaces the incumbent. `None` if it does not.
    pub ships: Option<String>,
    /// The number of labelled loops.
    pub loops: u64,
    /// The figures of the setting in use.
    pub in_use: ChoiceFigures,
    /// The held-out figures of the file, if a part of the file was chosen by folds. Otherwise those of all transcripts.
    pub held_out: ChoiceFigures,
    /// The figures of the file on all transcripts, as a replay of the file computes them.
    pub in_sample: ChoiceFigures,
}

/// The figures of a guard on some transcripts.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ChoiceFigures {
    /// The values by the name of the measure.
    pub values: BTreeMap<&'static str, f64>,
    /// The number of wrong alarms.
    pub wrong: u64,
    /// The number of alarms on a repetition that would have ended by itself.
    pub transient: u64,
}

impl ChoiceFigures {
    /// Returns the value of a measure. `None` if it is n/a.
    pub fn value(&self, measure: Metric) -> Option<f64> {
        self.values.get(measure.name).copied()
    }
}

impl ChoiceRow {
    /// Returns whether the row is of a model with its own setting in the file.
    pub(crate) fn is_own(&self) -> bool {
        self.model != crate::ALL_MODELS && self.ships.is_some()
    }
}
