//! What a report is made of: plain data, read from a result folder by `load.rs` and from nowhere else.
//!
//! An undefined number is `None`; a latency that is never reached is infinite.

mod board;
mod budget;
mod comparison;
mod naming;
mod outcome;
mod run;
mod written;

pub(crate) use board::varint;
pub use board::{Board, COUNTED, Column, Counted};
pub use budget::Supported;
pub use comparison::{Became, Comparison, Difference, Flip, Gate, Side};
pub use deadloop_score::Verdict;
pub(crate) use naming::{member, short};
pub use outcome::Outcome;
pub use run::{Nothing, Objective, Over, Restrictive, Run};
use std::collections::BTreeMap;
use std::sync::OnceLock;

use crate::numbers::Interval;
use deadloop_score::{Consistency, ExcerptsHead, Opened};

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
    /// What `settings.toml` does, each model under its own setting; `None` where it names no model. It is no
    /// setting of the list.
    pub shipped: Option<Choice>,
    /// What clean text alone supports, where a budget was asked for.
    pub budget: Vec<Supported>,
    /// A row for each transcript and setting that was written out.
    pub outcomes: Vec<Outcome>,
    /// Scores of the named and chosen settings by a field of the transcripts.
    pub by: Vec<By>,
    /// How often named and chosen settings are right where floors are, all models together.
    pub beside_floors: Vec<BesideFloor>,
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
    /// Settings with a name in the order in which they are worth looking at: worked out when it is first asked for.
    pub leading: OnceLock<Vec<usize>>,
    /// The best setting of a search: worked out when it is first asked for.
    pub best: OnceLock<Option<usize>>,
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

/// A setting beside a floor, all models together.
#[derive(Debug, Clone)]
pub struct BesideFloor {
    /// Index into [`ReportData::settings`].
    pub setting: usize,
    /// The floor.
    pub floor: String,
    /// Who was right: the one is the setting, the other the floor.
    pub counts: Consistency,
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
    /// The objective on those folds.
    pub held_out: Option<f64>,
    /// What the choice of the other models alone does on this one.
    pub left_out: LeftOut,
    /// How much better the objective looks in sample than it is.
    pub optimism: Option<f64>,
    /// Limits that the setting does not keep on the model's own transcripts.
    pub over: Vec<Over>,
    /// How each limit stood on the counts that decided.
    pub decided: Vec<Over>,
}

/// What a setting that was chosen on the other models does on one: held out as a whole.
#[derive(Debug, Clone, Copy, Default)]
pub struct LeftOut {
    /// The objective.
    pub objective: Option<f64>,
    /// Recall.
    pub recall: Option<f64>,
    /// False alarms per million clean chars.
    pub fa: Option<f64>,
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

    /// How many loops of each model are labelled, the most that any setting has: `never` stops before none.
    pub(crate) fn labelled_loops(&self) -> BTreeMap<&str, u64> {
        let mut loops: BTreeMap<&str, u64> = BTreeMap::new();
        for score in &self.scores {
            let most = loops.entry(&score.model).or_default();
            *most = score.loops.max(*most);
        }
        loops
    }

    /// Settings with a name: the one in use (or the first) before the others, those with the highest F1 first, or without
    /// loops those with the fewest false alarms. That only orders them: so that what is shown of many are those that
    /// find much and cut little, whatever a false alarm costs.
    pub fn leading(&self) -> &[usize] {
        self.leading.get_or_init(|| {
            let named = |at: &usize| matches!(self.settings[*at].role, Role::Current | Role::Named);
            let mut list: Vec<usize> = (0..self.settings.len()).filter(named).collect();
            let first = self.current().or(list.first().copied());
            let loops = self.has_loops();
            let worth = |score: &Score| match loops {
                true => score.f1,
                false => score.fa.value.map(|rate| -rate),
            };
            let scores: BTreeMap<usize, f64> = self
                .together()
                .filter_map(|score| Some((score.setting, worth(score)?)))
                .collect();
            let worth = |at: &usize| scores.get(at).copied().unwrap_or(f64::NEG_INFINITY);
            list.sort_by(|a, b| {
                let later = |at: &usize| Some(*at) != first;
                let rank = later(a).cmp(&later(b));
                rank.then(worth(b).total_cmp(&worth(a))).then(a.cmp(b))
            });
            list
        })
    }

    /// What [`leading`](Self::leading) orders by, as it is said.
    pub(crate) fn leading_by(&self) -> &'static str {
        match self.has_loops() {
            true => "the highest F1",
            false => "the fewest false alarms",
        }
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

    /// Where a grid was searched and nothing was chosen, nor given up: the setting with the best objective of those
    /// that meet the limit, the first of equals.
    pub fn best(&self) -> Option<usize> {
        *self.best.get_or_init(|| {
            if !self.searched() {
                return None;
            }
            let meets =
                |score: &&Score| score.meets && self.settings[score.setting].role != Role::Floor;
            let merit =
                |score: &Score| Some((score.setting, self.run.objective.merit(score.objective?)));
            let best = self.together().filter(meets).filter_map(merit);
            let best = best.reduce(|a, b| if b.1 > a.1 { b } else { a });
            best.map(|best| best.0)
        })
    }

    /// Whether cells of a grid were replayed and nothing was chosen among them, nor given up.
    pub(crate) fn searched(&self) -> bool {
        let mut settings = self.settings.iter();
        self.choices.is_empty()
            && self.run.nothing.is_none()
            && settings.any(|setting| setting.role == Role::Cell)
    }
}
