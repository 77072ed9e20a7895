//! [`Choices`]: the setting of each model, and the evidence for it; [`ChooseOptions`]: what was asked.

use crate::constraint::{Constraint, Standing};
use crate::judging::JudgeOptions;
use crate::metric::Metric;
use crate::pooling::Borrowing;
use crate::scores::Worth;
use crate::tally::Tally;

/// How a setting is chosen.
#[derive(Clone, Debug, PartialEq)]
pub struct ChooseOptions {
    /// What it has to meet.
    pub constraints: Vec<Constraint>,
    /// What it is best in.
    pub objective: Metric,
    /// Folds of the cross-validation, at least 2.
    pub folds: usize,
    /// How many folds, from the first on, a race has looked at to leave settings out: they are never
    /// held out. 0 without a race.
    pub raced: usize,
    /// Seed of the folds.
    pub seed: u64,
    /// How alarms are judged.
    pub judge: JudgeOptions,
    /// What errors cost.
    pub worth: Worth,
    /// A model with fewer loops gets the pooled setting.
    pub min_loops: u64,
    /// A model with fewer clean chars likewise.
    pub min_clean_chars: u64,
    /// The current setting is left only for one that is better with this probability.
    pub sure: f64,
    /// How many standard errors below the best a setting may be and still count as good as it: of
    /// those the pooled one is taken, or the most careful; 0: the best.
    pub errors: f64,
}

/// The defaults of scoring.md: the most `saved` at no more than one false alarm per million chars.
impl Default for ChooseOptions {
    fn default() -> Self {
        Self {
            constraints: vec![Constraint {
                metric: Metric::FaPerMchar,
                at_most: true,
                bound: 1.0,
            }],
            objective: Metric::Saved,
            folds: 5,
            raced: 0,
            seed: 1,
            judge: JudgeOptions::default(),
            worth: Worth::default(),
            min_loops: 10,
            min_clean_chars: 300_000,
            sure: 0.9,
            errors: 1.0,
        }
    }
}

/// Why a model has the setting that it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// Chosen on its own transcripts.
    Own,
    /// Chosen on all transcripts.
    Pooled,
    /// Chosen on all transcripts, since its own are too few.
    FewLabels,
    /// Not one choice: the settings of all models together, as they are shipped.
    Shipped,
}

impl Why {
    /// The name used in choice.csv.
    pub fn name(self) -> &'static str {
        match self {
            Self::Own => "own",
            Self::Pooled => "pooled",
            Self::FewLabels => "few labels",
            Self::Shipped => "shipped",
        }
    }
}

/// The setting of one model, and the evidence for it.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// The model; `*`: all together, the setting of every model that has none of its own.
    pub model: String,
    /// The setting's number in the plan.
    pub cell: usize,
    /// Its name.
    pub setting: String,
    /// Where it comes from.
    pub why: Why,
    /// The same in a sentence, with the numbers that decided.
    pub reason: String,
    /// How each constraint stood, in their order, where it was decided: on its own counts helped by those
    /// of the other models if `why` is [`Why::Own`], else on all transcripts.
    pub decided: Vec<Standing>,
    /// Whether some constraint was decided by its point estimate, for want of text.
    pub thin: bool,
    /// Whether it is the current setting, kept.
    pub kept: bool,
    /// The probability that it is better than the current one (normal approximation to the paired
    /// difference); `None` where there is no current setting.
    pub probability: Option<f64>,
    /// The objective on the transcripts it is reported for, which are those it was chosen on if
    /// `why` is [`Why::Own`] or the model is `*`.
    pub in_sample: Option<f64>,
    /// The objective on folds that were left out while choosing.
    pub held_out: Option<f64>,
    /// The objective of the current setting.
    pub current: Option<f64>,
    /// What `in_sample` is computed from.
    pub tally: Tally,
    /// What `held_out` is computed from.
    pub held_out_tally: Tally,
    /// The settings that were chosen without each fold, each on all folds: see
    /// [`optimism`](Self::optimism).
    pub looked_tally: Tally,
    /// In how many folds nothing was feasible, for a model not even for all models together; there the
    /// held-out figures are those of no detector.
    pub folds_without: usize,
    /// How each constraint stands, in their order, on the transcripts it is reported for.
    pub standings: Vec<Standing>,
    /// How much the other models helped, where `why` is [`Why::Own`] and there are others.
    pub borrowing: Option<Borrowing>,
    /// What the choice of the other models does here; `None` for `*` and where there are no others,
    /// or nothing is feasible on them.
    pub left_out: Option<LeftOut>,
}

/// The setting that is chosen on all models but one, on that one.
#[derive(Clone, Debug, PartialEq)]
pub struct LeftOut {
    /// The setting's number in the plan.
    pub cell: usize,
    /// Its name.
    pub setting: String,
    /// Its tally on the model that was left out.
    pub tally: Tally,
}

impl Choice {
    /// How much better the setting looks on what it was chosen on than it is.
    ///
    /// It is measured on the settings that the folds chose: what each looks like on all transcripts,
    /// less what it is on the fold left out. `in_sample` less `held_out` would be too large where
    /// labels are few, since a fold chooses with fewer of them and so a little worse: Burman (1989),
    /// "A comparative study of ordinary cross-validation, v-fold cross-validation and the repeated
    /// learning-testing methods", corrects by just that. `in_sample` less the optimism is what to
    /// expect.
    pub fn optimism(&self, objective: Metric, worth: &Worth) -> Option<f64> {
        let sign = if objective.more_is_better() {
            1.0
        } else {
            -1.0
        };
        let looked = objective.value(&self.looked_tally, worth)?;
        Some(sign * (looked - self.held_out?))
    }
}

/// The setting for all models together, and that of each model, by name.
#[derive(Clone, Debug, PartialEq)]
pub struct Choices {
    /// For all together.
    pub pooled: Choice,
    /// For each model.
    pub models: Vec<Choice>,
    /// What the settings file does on these transcripts, each model under its own setting: what is shipped,
    /// where `pooled` is what to expect of a model that the file does not name. `None` where it names none.
    pub shipped: Option<Choice>,
    /// The fold of each case.
    pub folds: Vec<usize>,
}
