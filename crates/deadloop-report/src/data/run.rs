//! [`RunInfo`]: the facts about a run that a report prints.

use super::Score;
use crate::numbers::formatter_of;
use deadloop_score::measure::{FA_PER_MCHAR, SAVED};
use deadloop_score::replay::detect::Unit;
use deadloop_score::{Constraint, MeasureUnit, Metric, Stakes, measures, wrong_rate};
use std::borrow::Cow;

/// The facts about a run that a report prints.
#[derive(Debug, Clone, Default)]
pub struct RunInfo {
    /// The command that wrote the result folder.
    pub command: String,
    /// The name of the corpus.
    pub corpus: String,
    /// The name of the corpus's folder or file, without its path, so that reports are equal on every machine.
    pub corpus_file: String,
    /// The number of chars of the corpus.
    pub chars: u64,
    /// The hash of the corpus, which distinguishes corpora of the same name.
    pub corpus_hash: Option<String>,
    /// The names and versions of programs, as the programs report them.
    pub versions: Vec<(String, String)>,
    /// The share of production responses that loop, and the cost of a wrong alarm.
    pub worth: Stakes,
    /// The seed of every random draw.
    pub seed: Option<u64>,
    /// The unit of loops and healthy output.
    pub unit: Unit,
    /// The options by which alarms were judged.
    pub judge: Vec<(String, String)>,
    /// The limits of the choice.
    pub constraints: Vec<Constraint>,
    /// The upper limit on the rate of wrong alarms that charts draw.
    pub limit: Option<f64>,
    /// The measure by which settings of a grid are compared.
    pub objective: Objective,
    /// The numbers of records that were read and left out, in the order of the page.
    pub counts: Vec<(String, u64)>,
    /// The number of models without rows in very large tables.
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
    /// Returns the value of the objective, signed so that more is better.
    pub(crate) fn merit(self, score: &Score) -> Option<f64> {
        Some(self.0.sign() * score.value(self.0)?)
    }

    /// Formats a value of the objective.
    pub(crate) fn format_value(self, value: f64) -> String {
        formatter_of(self.0)(Some(value))
    }
}

impl RunInfo {
    /// Returns the measure of the rate of wrong alarms in the unit of the run.
    pub(crate) fn wrong(&self) -> Metric {
        wrong_rate(self.unit)
    }

    /// Returns the name of the rate of wrong alarms for an axis.
    pub(crate) fn wrong_name(&self) -> &'static str {
        match self.unit {
            Unit::Chars => "wrong alarms per million clean chars",
            Unit::Calls => "wrong alarms per thousand clean calls",
            Unit::Turns => "wrong alarms per thousand clean turns",
        }
    }

    /// Converts a text about chars to the unit of the run. The names of the unit and of the rate of wrong alarms are
    /// replaced.
    pub(crate) fn in_unit(&self, text: &'static str) -> Cow<'static, str> {
        if self.unit == Unit::Chars {
            return text.into();
        }
        let text = text.replace("wrong alarms per million clean chars", self.wrong_name());
        let text = text.replace(FA_PER_MCHAR.name, self.wrong().name);
        text.replace("chars", self.unit.name()).into()
    }

    /// Returns the vertical measure of the plane: the objective if it is a share, otherwise the share saved.
    pub(crate) fn height_measure(&self) -> Metric {
        match self.objective.0.unit {
            MeasureUnit::Share => self.objective.0,
            _ => &SAVED,
        }
    }

    /// Returns the measures in the table of choices. The objective and the limited measures come first.
    pub(crate) fn table_measures(&self) -> Vec<Metric> {
        let limited = self.constraints.iter().map(|limit| limit.metric);
        let requested = std::iter::once(self.objective.0).chain(limited);
        let rest = measures(self.unit).filter(|measure| measure.shown.choice);
        let mut shown: Vec<Metric> = Vec::new();
        for measure in requested.chain(rest).filter(|measure| measure.shown.choice) {
            if !shown.contains(&measure) {
                shown.push(measure);
            }
        }
        shown
    }
}
