//! What a report is made of: plain data, read from a result folder by `load.rs` and from nowhere else.
//!
//! An undefined number is `None`; a latency that is never reached is infinite.

mod board;
mod comparison;
mod outcome;

pub(crate) use board::varint;
pub use board::{Board, COUNTED, Column, Counted};
pub use comparison::{Became, Comparison, Difference, Flip, Gate, Side};
pub use deadloop_score::Verdict;
pub use outcome::Outcome;
use std::sync::OnceLock;

use crate::numbers::{Interval, decimal, percent};
use deadloop_score::{ExcerptsHead, Opened};

/// The name under which the rows of all models together stand.
pub const ALL_MODELS: &str = "*";

/// Where `within` is counted, in chars after the onset.
pub const WITHIN: [u32; 6] = [100, 200, 500, 1000, 2000, 5000];

/// Everything that tables and charts need.
#[derive(Debug, Clone, Default)]
pub struct ReportData {
    /// How the numbers were made.
    pub run: Run,
    /// The names of the parameters that vary or are set, `guard.parameter`.
    pub parameters: Vec<String>,
    /// Every setting with a row in the scores or outcomes.
    pub settings: Vec<Setting>,
    /// A row for each setting and model.
    pub scores: Vec<Score>,
    /// The choice for each model, and for all together where the model is [`ALL_MODELS`].
    pub choices: Vec<Choice>,
    /// A row for each transcript and setting that was written out.
    pub outcomes: Vec<Outcome>,
    /// Scores of the named and chosen settings by a field of the transcripts.
    pub by: Vec<By>,
    /// What the sliders move over, where a grid was searched.
    pub board: Option<Board>,
    /// The transcripts that are opened, and what was left out; none where no outcomes were written.
    pub opened: Option<(ExcerptsHead, Vec<Opened>)>,
    /// What `deadloop compare` found, where that was asked for.
    pub comparison: Option<Comparison>,
    /// Whether letters and digits of the transcripts are hidden.
    pub redacted: bool,
    /// The text of `settings.toml`, where a choice was made.
    pub settings_toml: Option<String>,
    /// Which of the parameters differ between cells: worked out when it is first asked for, since there may be a
    /// hundred thousand settings to look through.
    pub varying: OnceLock<Vec<bool>>,
}

/// How the numbers were made.
#[derive(Debug, Clone, Default)]
pub struct Run {
    /// The command that made the folder.
    pub command: String,
    /// The name of the corpus.
    pub corpus: String,
    /// The last part of its path, for commands that can be copied.
    pub corpus_file: String,
    /// What tells this corpus from another of the same name.
    pub corpus_hash: Option<String>,
    /// Programs and versions, as they introduce themselves.
    pub versions: Vec<(String, String)>,
    /// The share of production's transcripts that loop, and what a false alarm costs (lambda).
    pub worth: Option<(f64, f64)>,
    /// The seed of every random draw.
    pub seed: Option<u64>,
    /// How an alarm was judged.
    pub judge: Vec<(String, String)>,
    /// What a chosen setting has to meet, as text.
    pub constraints: Vec<String>,
    /// The upper limit on `fa_per_mchar` among them, which charts draw.
    pub limit: Option<f64>,
    /// What settings are compared by along the grid.
    pub objective: Objective,
    /// Counts of what was read and left out, in the order in which they are shown.
    pub counts: Vec<(String, u64)>,
    /// Why nothing was chosen, where no setting satisfies the constraints.
    pub nothing: Option<Nothing>,
}

/// No setting satisfies the constraints.
#[derive(Debug, Clone)]
pub struct Nothing {
    /// All of them, as text.
    pub constraints: String,
    /// The one that fewest settings meet.
    pub restrictive: Option<Restrictive>,
    /// How many settings there are.
    pub cells: u64,
    /// Index into [`ReportData::settings`] of the setting that violates them least.
    pub nearest: usize,
}

/// The constraint that fewest settings meet.
#[derive(Debug, Clone)]
pub struct Restrictive {
    /// As text.
    pub constraint: String,
    /// How many settings meet it.
    pub met: u64,
    /// What was compared with its bound for the nearest setting: a confidence bound, or the estimate.
    pub compared: Option<f64>,
}

/// A column of the scores by which settings are compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Objective {
    /// The column's name.
    pub name: String,
    /// Whether more of it is better.
    pub more_is_better: bool,
    /// Whether it is a share, from 0 to 1.
    pub is_share: bool,
}

impl Default for Objective {
    fn default() -> Self {
        Self {
            name: "saved".into(),
            more_is_better: true,
            is_share: true,
        }
    }
}

impl Objective {
    /// A value with more always better.
    pub fn merit(&self, value: f64) -> f64 {
        if self.more_is_better { value } else { -value }
    }

    /// A value as it is written.
    pub(crate) fn write(&self, value: f64) -> String {
        if self.is_share {
            percent(Some(value))
        } else {
            decimal(Some(value))
        }
    }
}

/// What a setting is to the reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The setting in use now, or the first one that was replayed.
    Current,
    /// Another named setting.
    Named,
    /// A floor: `never`, `first-checkpoint`, `random`.
    Floor,
    /// A cell of the grid.
    Cell,
}

/// One setting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    /// Its hash, or a floor's name.
    pub id: String,
    /// What people call it, where it has a name.
    pub label: Option<String>,
    /// What it is to the reader.
    pub role: Role,
    /// Its values, in the order of [`ReportData::parameters`].
    pub params: Vec<Option<String>>,
}

impl Setting {
    /// The label, or the id.
    pub fn name(&self) -> &str {
        self.label.as_deref().unwrap_or(&self.id)
    }
}

/// The scores of a setting on a model's transcripts.
#[derive(Debug, Clone, Default)]
pub struct Score {
    /// Index into [`ReportData::settings`].
    pub setting: usize,
    /// The model, or [`ALL_MODELS`].
    pub model: String,
    /// Transcripts, labelled or not.
    pub transcripts: u64,
    /// Transcripts that loop.
    pub loops: u64,
    /// Transcripts that are clean.
    pub clean: u64,
    /// Transcripts without a label.
    pub unlabelled: u64,
    /// Loops found in time.
    pub hit: u64,
    /// Alarms on clean transcripts.
    pub false_alarm: u64,
    /// Alarms before a loop began.
    pub premature: u64,
    /// Alarms after a loop had ended.
    pub stale: u64,
    /// Transcripts on which the detector failed.
    pub errors: u64,
    /// hit / (hit + false alarms of all kinds).
    pub precision: Interval,
    /// hit / loops.
    pub recall: Interval,
    /// False alarms per million clean chars that were watched.
    pub fa: Interval,
    /// Clean chars that were watched.
    pub exposure: u64,
    /// The harmonic mean of precision and recall.
    pub f1: Option<f64>,
    /// Mean chars from onset to alarm, a miss costing the whole loop.
    pub delay: Interval,
    /// Median latency over all loops.
    pub latency_p50: Option<f64>,
    /// 90th percentile of the latency over all loops.
    pub latency_p90: Option<f64>,
    /// Share of all loops found within each of [`WITHIN`] chars.
    pub within: [Option<f64>; 6],
    /// Share of the looping chars that were not generated.
    pub saved: Option<f64>,
    /// Healthy chars thrown away per million clean chars.
    pub lost: Option<f64>,
    /// Share of hits whose kind is the label's.
    pub kind_accuracy: Option<f64>,
    /// Worth between no detector (0) and an alarm at every onset (100).
    pub utility: Option<f64>,
    /// The column that is the run's [`Objective`].
    pub objective: Option<f64>,
    /// Whether the run's constraints are met.
    pub meets: bool,
    /// The mean over models of recall and of `fa_per_mchar`, where it was computed.
    pub macro_means: [Option<f64>; 2],
}

/// The scores of a setting on the transcripts that have one value of a field.
#[derive(Debug, Clone)]
pub struct By {
    /// The field, as it was asked for: `lang`, `meta.source`.
    pub field: String,
    /// The value; none where a transcript has none.
    pub value: Option<String>,
    /// The scores.
    pub score: Score,
}

/// Why a model got its setting.
#[derive(Debug, Clone, Default)]
pub struct Choice {
    /// The model, or [`ALL_MODELS`].
    pub model: String,
    /// Index into [`ReportData::settings`]; none where no setting met the constraint.
    pub setting: Option<usize>,
    /// `own`, `pooled` or `few labels`.
    pub why: String,
    /// The same in a sentence.
    pub reason: String,
    /// Whether it is the setting in use, kept.
    pub kept: bool,
    /// Whether there was too little clean text for the upper bound to decide.
    pub thin: bool,
    /// Loops of the model.
    pub loops: u64,
    /// Clean chars that were watched on the folds that the selection did not see.
    pub clean_chars: u64,
    /// Recall on the folds that the selection did not see.
    pub recall: Interval,
    /// False alarms per million clean chars on those folds.
    pub fa: Interval,
    /// Delay on those folds.
    pub delay: Option<f64>,
    /// How much better the objective looks in sample than it is.
    pub optimism: Option<f64>,
}

impl ReportData {
    /// The scores of all models together.
    pub fn together(&self) -> impl Iterator<Item = &Score> {
        self.scores.iter().filter(|score| score.model == ALL_MODELS)
    }

    /// The score of a setting on a model.
    pub fn score(&self, setting: usize, model: &str) -> Option<&Score> {
        self.scores
            .iter()
            .find(|score| score.setting == setting && score.model == model)
    }

    /// The setting in use now, if one is known.
    pub fn current(&self) -> Option<usize> {
        self.settings
            .iter()
            .position(|setting| setting.role == Role::Current)
    }

    /// The setting chosen for all models together.
    pub fn pooled(&self) -> Option<usize> {
        self.choices
            .iter()
            .find(|choice| choice.model == ALL_MODELS)?
            .setting
    }

    /// The setting that `settings.toml` gives to `model`: its own choice, or the pooled one.
    pub fn chosen_for(&self, model: &str) -> Option<usize> {
        let own = self.choices.iter().find(|choice| choice.model == model);
        own.and_then(|choice| choice.setting)
            .or_else(|| self.pooled())
    }

    /// Whether any loop is labelled.
    pub fn has_loops(&self) -> bool {
        self.scores.iter().any(|score| score.loops > 0)
            || self.outcomes.iter().any(|row| row.verdict.is_loop())
    }

    /// Whether anything is labelled at all.
    pub fn has_labels(&self) -> bool {
        self.has_loops() || self.scores.iter().any(|score| score.clean > 0)
    }

    /// What a setting is called: its label, or the values in which it differs from the current one, or its id.
    pub fn describe(&self, setting: usize) -> String {
        let Some(this) = self.settings.get(setting) else {
            return String::new();
        };
        if let Some(label) = &this.label {
            let beside =
                this.role == Role::Current && label != "current" && self.settings.len() > 1;
            return if beside {
                format!("current ({label})")
            } else {
                label.clone()
            };
        }
        let differences = self.differences(setting);
        if differences.is_empty() {
            this.id.clone()
        } else {
            differences.join(", ")
        }
    }

    fn varying(&self) -> &[bool] {
        self.varying.get_or_init(|| {
            let mut cells = self
                .settings
                .iter()
                .filter(|setting| setting.role == Role::Cell);
            let Some(first) = cells.next() else {
                return Vec::new();
            };
            let mut varying = vec![false; self.parameters.len()];
            for cell in cells {
                for (at, varies) in varying.iter_mut().enumerate() {
                    *varies |= cell.params.get(at) != first.params.get(at);
                }
            }
            varying
        })
    }

    /// `parameter=value` for each value in which a setting differs from the current one; without a current one, for
    /// each that is not the same in all cells.
    pub fn differences(&self, setting: usize) -> Vec<String> {
        let Some(this) = self.settings.get(setting) else {
            return Vec::new();
        };
        let base = self.current().and_then(|at| self.settings.get(at));
        let differs = |at: usize| match base {
            Some(base) => base.params.get(at) != this.params.get(at),
            None => self.varying().get(at) == Some(&true),
        };
        let named = self
            .parameters
            .iter()
            .enumerate()
            .filter(|(at, _)| differs(*at));
        named
            .filter_map(|(at, name)| {
                Some(format!(
                    "{}={}",
                    short(name),
                    this.params.get(at)?.as_ref()?
                ))
            })
            .collect()
    }
}

/// A parameter's name without its guard.
pub(crate) fn short(parameter: &str) -> &str {
    parameter.rsplit('.').next().unwrap_or(parameter)
}
