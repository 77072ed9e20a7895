//! How the numbers of a report were made.

use super::Score;
use crate::numbers::writer;
use deadloop_score::measure::{FA_PER_MCHAR, SAVED};
use deadloop_score::replay::detect::Unit;
use deadloop_score::{Constraint, MeasureUnit, Metric, Worth, measures, wrong_rate};
use std::borrow::Cow;

/// How the numbers were made.
#[derive(Debug, Clone, Default)]
pub struct RunInfo {
    /// The command that made the folder.
    pub command: String,
    /// The name of the corpus.
    pub corpus: String,
    /// The name of its folder or file: where that lies is not said, reports are the same on every machine.
    pub corpus_file: String,
    /// Its chars.
    pub chars: u64,
    /// The hash of the corpus: it differs where two corpora of one name differ.
    pub corpus_hash: Option<String>,
    /// Programs and versions, as they introduce themselves.
    pub versions: Vec<(String, String)>,
    /// How often production loops, and what a wrong alarm costs.
    pub worth: Worth,
    /// The seed of every random draw.
    pub seed: Option<u64>,
    /// In what loops and healthy output are counted.
    pub unit: Unit,
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
    /// How many models have no scores of their own, because tables with so large a number of settings would be too large.
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

impl RunInfo {
    /// The rate of wrong alarms.
    pub(crate) fn wrong(&self) -> Metric {
        wrong_rate(self.unit)
    }

    /// What that rate is called on an axis; `short`: where there is little room.
    pub(crate) fn wrong_name(&self, short: bool) -> &'static str {
        match (self.unit, short) {
            (Unit::Chars, true) => "wrong alarms / Mchar",
            (Unit::Chars, false) => "wrong alarms per million clean chars",
            (Unit::Calls, true) => "wrong alarms / kcall",
            (Unit::Calls, false) => "wrong alarms per thousand clean calls",
            (Unit::Turns, true) => "wrong alarms / kturn",
            (Unit::Turns, false) => "wrong alarms per thousand clean turns",
        }
    }

    /// A text of charts, which are written in chars, in the unit of the run: as tables name measures
    /// ([`Measure::title_in`](deadloop_score::Measure::title_in)), and the rate of wrong alarms.
    pub(crate) fn told(&self, text: &'static str) -> Cow<'static, str> {
        if self.unit == Unit::Chars {
            return text.into();
        }
        let text = text.replace(
            "wrong alarms per million clean chars",
            self.wrong_name(false),
        );
        let text = text.replace(FA_PER_MCHAR.name, self.wrong().name);
        text.replace("chars", self.unit.name()).into()
    }

    /// The measure that is the height of the plane: the objective, where that is a share.
    pub(crate) fn height(&self) -> Metric {
        match self.objective.0.unit {
            MeasureUnit::Share => self.objective.0,
            _ => &SAVED,
        }
    }

    /// The measures of the table of what models get: what was asked for first.
    pub(crate) fn shown(&self) -> Vec<Metric> {
        let limited = self.constraints.iter().map(|limit| limit.metric);
        let asked = std::iter::once(self.objective.0).chain(limited);
        let rest = measures(self.unit).filter(|measure| measure.shown.choice);
        let mut shown: Vec<Metric> = Vec::new();
        for measure in asked.chain(rest).filter(|measure| measure.shown.choice) {
            if !shown.contains(&measure) {
                shown.push(measure);
            }
        }
        shown
    }
}
