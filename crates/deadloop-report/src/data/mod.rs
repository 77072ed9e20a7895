//! [`ReportData`]: the data of a report, which `load` reads from a result folder.
//!
//! An undefined number is `None`. A latency that is never reached is infinite.

mod choice;
mod outcome;
mod run;
mod score;
mod setting_names;
mod short_names;

pub use choice::{ChoiceFigures, ChoiceRow};
pub use deadloop_score::Verdict;
pub use outcome::OutcomeRow;
pub use run::{Objective, RunInfo};
pub use score::Score;
pub(crate) use setting_names::{Difference, Differences, guard_of, param_of, parameter_subject};
pub use short_names::{NamedGuard, brief, short_name};
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, OnceLock};

use deadloop_score::choose::{Advice, Ruling};
use deadloop_score::measure::F1;
use deadloop_score::replay::detect::Setting;
use deadloop_score::{ExcerptsHead, OpenCase};

/// The name of the model in rows of all models together.
pub const ALL_MODELS: &str = "*";

/// The data of all tables and charts of a report.
#[derive(Debug, Clone, Default)]
pub struct ReportData {
    /// The facts about the run.
    pub run: RunInfo,
    /// The names of the parameters that vary, each as `guard.parameter`.
    pub parameters: Vec<String>,
    /// Every setting with a row in the scores or outcomes.
    pub settings: Vec<SettingRow>,
    /// A row for each setting and model.
    pub scores: Vec<Score>,
    /// The advice of `tune` on the settings, if there is any.
    pub advice: Option<Advice>,
    /// The setting of each model in the settings file. The row of [`ALL_MODELS`] is about the whole file.
    pub choices: Vec<ChoiceRow>,
    /// A row for each transcript and setting in the outcomes, except the dropped rows counted in [`idle`](Self::idle).
    pub outcomes: Vec<OutcomeRow>,
    /// The number of dropped rows of each setting, which had no loop, no alarm and no error. Rows are dropped only if
    /// there is a single setting.
    pub idle: BTreeMap<usize, u64>,
    /// The scores of the named and chosen settings by the value of a field of the transcripts.
    pub by: Vec<FieldScore>,
    /// The transcripts that the report opens, and counts of all transcripts. `None` if no outcomes were written.
    pub opened: Option<(ExcerptsHead, Vec<OpenCase>)>,
    /// Whether letters and digits of the transcripts are hidden.
    pub redacted: bool,
    /// The results of `repair` or `budget` in the manifest. Empty for other commands.
    pub summary: serde_json::Map<String, serde_json::Value>,
    /// The text of `settings.toml`. `None` if no choice was made.
    pub settings_toml: Option<String>,
    /// The guards with a name, the guard in use first. Computed on first use.
    pub named_guards: OnceLock<Vec<NamedGuard>>,
    /// The settings with a name, in the order of [`leading`](Self::leading()). Computed on first use.
    pub leading: OnceLock<Vec<usize>>,
    /// The best setting of a search for settings. Computed on first use.
    pub best: OnceLock<Option<usize>>,
    /// The index of the setting in use. Computed on first use.
    pub in_use_at: OnceLock<Option<usize>>,
    /// The indices in `scores` by setting and model. Computed on first use.
    pub places: OnceLock<HashMap<(usize, String), usize>>,
    /// The indices in `choices` by model. Computed on first use.
    pub chosen_at: OnceLock<HashMap<String, usize>>,
}

/// The role of a setting in the report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The setting in use, or the first one that was replayed.
    InUse,
    /// Another named setting.
    Named,
    /// The setting `never`, without a guard.
    Never,
    /// A cell of the grid.
    Cell,
}

/// A setting that has scores or outcomes.
#[derive(Debug, Clone)]
pub struct SettingRow {
    /// The hash of the setting, or `never`.
    pub id: String,
    /// The setting's name in the manifest, if it has one.
    pub label: Option<String>,
    /// The role of the setting in the report.
    pub role: Role,
    /// The values of the parameters that vary, in the order of [`ReportData::parameters`].
    pub params: Vec<Option<Arc<str>>>,
    /// The text of the settings file. `None` for `never`.
    pub toml: Option<Arc<str>>,
    /// The guard in the settings file, parsed on first use.
    pub guard: OnceLock<Option<Setting>>,
}

impl SettingRow {
    /// Returns the label of the setting, or else its id.
    pub fn name(&self) -> &str {
        self.label.as_deref().unwrap_or(&self.id)
    }
}

/// The scores of a setting on the transcripts with one value of a field.
#[derive(Debug, Clone)]
pub struct FieldScore {
    /// The field as named in `--by`, such as `lang` or `meta.source`.
    pub field: String,
    /// The value of the field. `None` for transcripts without a value.
    pub value: Option<String>,
    /// The scores on these transcripts.
    pub score: Score,
}

impl ReportData {
    /// Returns the text of a setting's settings file.
    pub fn toml(&self, setting: usize) -> Option<&str> {
        self.settings.get(setting)?.toml.as_deref()
    }

    /// Iterates over the scores of all models together.
    pub fn together(&self) -> impl Iterator<Item = &Score> {
        self.scores.iter().filter(|score| score.model == ALL_MODELS)
    }

    /// Returns the scores of a setting on a model.
    pub fn score(&self, setting: usize, model: &str) -> Option<&Score> {
        let indices = self.places.get_or_init(|| {
            let all = self.scores.iter().enumerate();
            all.map(|(at, score)| ((score.setting, score.model.clone()), at))
                .collect()
        });
        self.scores.get(*indices.get(&(setting, model.to_owned()))?)
    }

    /// Returns the setting in use, if it is known.
    pub fn in_use(&self) -> Option<usize> {
        *self.in_use_at.get_or_init(|| {
            let mut settings = self.settings.iter();
            settings.position(|setting| setting.role == Role::InUse)
        })
    }

    /// Returns the setting of all models in the file. `None` if the file changes nothing, or if it is the setting in
    /// use.
    pub fn chosen(&self) -> Option<usize> {
        let of_all = self.choice_of(ALL_MODELS).filter(|_| self.ships())?;
        of_all.setting.filter(|at| self.in_use() != Some(*at))
    }

    /// Returns the name of the setting in use, if a choice has one.
    pub(crate) fn in_use_is(&self) -> &str {
        let advice = self.advice.as_ref();
        let name = advice.map_or("in use", |advice| advice.in_use_is.as_str());
        let name = name.trim_start_matches("the ");
        name.trim_start_matches("setting ")
    }

    /// Returns the choice for a model.
    pub(crate) fn choice_of(&self, model: &str) -> Option<&ChoiceRow> {
        let by_model = self.chosen_at.get_or_init(|| {
            let models = self.choices.iter().map(|choice| choice.model.clone());
            models.zip(0..).collect()
        });
        self.choices.get(*by_model.get(model)?)
    }

    /// Returns whether `settings.toml` differs from the setting in use.
    pub(crate) fn ships(&self) -> bool {
        let advice = self.advice.as_ref();
        advice.is_some_and(|advice| advice.verdict == Ruling::Ship)
    }

    /// Returns the setting of `model` in `settings.toml`: its own setting, or the setting of all models.
    pub fn held_for(&self, model: &str) -> Option<usize> {
        let own = self.choice_of(model).and_then(|choice| choice.setting);
        own.or_else(|| self.choice_of(ALL_MODELS)?.setting)
    }

    /// Returns the number of labelled loops of each model. It is the maximum over all settings, since `never` counts
    /// every loop.
    pub(crate) fn labelled_loops(&self) -> BTreeMap<&str, u64> {
        let mut loops: BTreeMap<&str, u64> = BTreeMap::new();
        for score in &self.scores {
            let most = loops.entry(&score.model).or_default();
            *most = score.loops().max(*most);
        }
        loops
    }

    /// Returns the settings with a name. The setting in use, or else the first, leads.
    ///
    /// All others are in order of the highest F1, or without loops of the fewest wrong alarms. The cost of wrong alarms
    /// does not affect this order, which only decides which of many settings are shown.
    pub fn leading(&self) -> &[usize] {
        self.leading.get_or_init(|| {
            let named = |at: &usize| matches!(self.settings[*at].role, Role::InUse | Role::Named);
            let mut list: Vec<usize> = (0..self.settings.len()).filter(named).collect();
            let first = self.in_use().or(list.first().copied());
            let loops = self.has_loops();
            let merit = |score: &Score| {
                if loops {
                    score.value(&F1)
                } else {
                    score.value(self.run.wrong()).map(|rate| -rate)
                }
            };
            let merit = |at: &usize| {
                let merit = self.score(*at, ALL_MODELS).and_then(merit);
                merit.unwrap_or(f64::NEG_INFINITY)
            };
            list.sort_by(|a, b| merit(b).total_cmp(&merit(a)));
            list.sort_by_key(|at| Some(*at) != first);
            list
        })
    }

    /// Returns the criterion of the order of [`leading`](Self::leading()), in words.
    pub(crate) fn leading_by(&self) -> &'static str {
        if self.has_loops() {
            "the highest F1"
        } else {
            "the fewest wrong alarms"
        }
    }

    /// Returns the number of transcripts with an alarm and the number of all transcripts, by setting.
    pub(crate) fn cuts(&self) -> BTreeMap<usize, [u64; 2]> {
        let idle = self.idle.iter().map(|(at, idle)| (*at, [0, *idle]));
        let mut all: BTreeMap<usize, [u64; 2]> = idle.collect();
        for row in &self.outcomes {
            let [cut, of] = all.entry(row.setting).or_default();
            *cut += u64::from(row.alarm_at.is_some() && row.verdict != Verdict::Error);
            *of += 1;
        }
        all
    }

    /// Returns whether any transcript is labelled a loop.
    pub(crate) fn has_loops(&self) -> bool {
        self.scores.iter().any(|score| score.loops() > 0)
            || self.outcomes.iter().any(OutcomeRow::is_loop)
    }

    /// Returns whether any transcript is labelled a loop or clean.
    pub(crate) fn has_labels(&self) -> bool {
        self.has_loops() || self.scores.iter().any(|score| score.clean() > 0)
    }

    /// Returns the setting with the best objective within the limits. The first of equal ones wins.
    ///
    /// `None` unless a grid was searched without a choice.
    pub fn best(&self) -> Option<usize> {
        *self.best.get_or_init(|| {
            if !self.is_search() {
                return None;
            }
            let meets =
                |score: &&Score| score.meets && self.settings[score.setting].role != Role::Never;
            let objective = self.run.objective;
            let merit = |score: &Score| Some((score.setting, objective.merit(score)?));
            let best = self.together().filter(meets).filter_map(merit);
            let best = best.reduce(|a, b| if b.1 > a.1 { b } else { a });
            best.map(|best| best.0)
        })
    }

    /// Returns whether cells of a grid were replayed without a choice.
    pub(crate) fn is_search(&self) -> bool {
        let mut settings = self.settings.iter();
        self.choices.is_empty()
            && self.advice.is_none()
            && settings.any(|setting| setting.role == Role::Cell)
    }
}
