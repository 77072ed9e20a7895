//! The choice of a setting: [`choose`], by the rules of scoring.md, "Choosing a setting".
//!
//! One setting is chosen for all models together, and one for each model that has data enough for
//! its own. Every selection is repeated inside the folds, so that what is reported as `held_out` was
//! never seen by what chose it.

use std::ops::Range;

use crate::constraint::{Constraint, Judge, Standing};
use crate::evidence::Evidence;
use crate::folds::folds;
use crate::infeasible::{ChooseError, NothingFeasible};
use crate::judging::JudgeOptions;
use crate::metric::Metric;
use crate::scores::Worth;
use crate::select::{Board, Selected};
use crate::tally::{Count, Tally};

/// How a setting is chosen.
#[derive(Clone, Debug, PartialEq)]
pub struct ChooseOptions {
    /// What it has to meet.
    pub constraints: Vec<Constraint>,
    /// What it is best in.
    pub objective: Metric,
    /// Folds of the cross-validation, at least 2.
    pub folds: usize,
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
            seed: 1,
            judge: JudgeOptions::default(),
            worth: Worth::default(),
            min_loops: 10,
            min_clean_chars: 300_000,
            sure: 0.9,
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
}

impl Why {
    /// The name used in choice.csv.
    pub fn name(self) -> &'static str {
        match self {
            Self::Own => "own",
            Self::Pooled => "pooled",
            Self::FewLabels => "few labels",
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
    /// In how many folds nothing was feasible; there the held-out figures are those of no detector.
    pub folds_without: usize,
    /// How each constraint stands, in their order, on the transcripts it is reported for.
    pub standings: Vec<Standing>,
}

impl Choice {
    /// How much better the setting looks on what it was chosen on; positive: the held-out figure is
    /// worse.
    pub fn optimism(&self, objective: Metric) -> Option<f64> {
        let sign = if objective.more_is_better() {
            1.0
        } else {
            -1.0
        };
        self.in_sample
            .zip(self.held_out)
            .map(|(seen, unseen)| sign * (seen - unseen))
    }
}

/// The setting for all models together, and that of each model, by name.
#[derive(Clone, Debug, PartialEq)]
pub struct Choices {
    /// For all together.
    pub pooled: Choice,
    /// For each model.
    pub models: Vec<Choice>,
    /// The fold of each case.
    pub folds: Vec<usize>,
}

/// Chooses among the cells `candidates` of the plan. Every case of `evidence` is used: a caller that
/// has sealed transcripts (`split = test`) does not pass them.
///
/// # Errors
/// There are no candidates, or no loops, or no clean transcripts; or no candidate meets the
/// constraints on all transcripts together. A single model for which none does gets the pooled
/// setting, and its `reason` says it.
pub fn choose(
    evidence: &Evidence,
    candidates: Range<usize>,
    current: Option<usize>,
    options: &ChooseOptions,
) -> Result<Choices, ChooseError> {
    if candidates.is_empty() {
        return Err(ChooseError::NoCandidates);
    }
    let folds = folds(evidence.cases, options.folds.max(2), options.seed);
    let chooser = Chooser {
        evidence,
        candidates,
        current,
        options,
        folds: &folds,
    };
    let all = evidence.all();
    let quiet = evidence.quiet(chooser.candidates.start, &all, &options.judge);
    let (loops, clean) = (quiet.loops(), quiet.clean());
    if loops == 0 || clean == 0 {
        return Err(ChooseError::TooLittleData { loops, clean });
    }
    let trial = chooser.trial(&all)?;
    let reason = format!("chosen on all {} transcripts", all.len());
    let pooled = chooser.report("*", &all, &trial, Why::Pooled, reason);
    let models = evidence.models();
    let of = |(model, pick): (&&str, &Vec<usize>)| chooser.model(model, pick, &trial);
    let models = models.iter().map(of).collect();
    Ok(Choices {
        pooled,
        models,
        folds,
    })
}

/// What stays the same while choices are made.
struct Chooser<'a> {
    evidence: &'a Evidence<'a>,
    candidates: Range<usize>,
    current: Option<usize>,
    options: &'a ChooseOptions,
    folds: &'a [usize],
}

/// A selection on some transcripts, and those of the folds.
struct Cross {
    selected: Selected,
    /// The cell chosen without each fold; `None`: nothing was feasible.
    without: Vec<Option<usize>>,
}

impl Chooser<'_> {
    fn trial(&self, pick: &[usize]) -> Result<Cross, Box<NothingFeasible>> {
        let board = Board::new(
            self.evidence,
            &self.candidates,
            pick,
            self.folds,
            self.options,
        );
        let selected = board.select(None, self.current)?;
        let without = (0..self.options.folds.max(2))
            .map(|fold| board.select(Some(fold), self.current).ok().map(|s| s.cell))
            .collect();
        Ok(Cross { selected, without })
    }

    fn model(&self, model: &str, pick: &[usize], pooled: &Cross) -> Choice {
        let quiet = self
            .evidence
            .quiet(self.candidates.start, pick, &self.options.judge);
        if let Some(reason) = self.too_few(&quiet) {
            return self.report(model, pick, pooled, Why::FewLabels, reason);
        }
        match self.trial(pick) {
            Ok(own) => {
                let (loops, chars) = (quiet.loops(), quiet.get(Count::Exposure));
                let reason = format!("{loops} loops and {chars} clean chars of its own");
                self.report(model, pick, &own, Why::Own, reason)
            }
            Err(nothing) => {
                let reason = format!("on its own transcripts {nothing}");
                self.report(model, pick, pooled, Why::Pooled, reason)
            }
        }
    }

    fn too_few(&self, quiet: &Tally) -> Option<String> {
        let (loops, chars) = (quiet.loops(), quiet.get(Count::Exposure));
        let ChooseOptions {
            min_loops,
            min_clean_chars,
            ..
        } = *self.options;
        if loops < min_loops {
            return Some(format!("{loops} loops, fewer than {min_loops}"));
        }
        (chars < min_clean_chars)
            .then(|| format!("{chars} clean chars, fewer than {min_clean_chars}"))
    }

    /// The choice of `cross` for the transcripts `pick`.
    fn report(
        &self,
        model: &str,
        pick: &[usize],
        cross: &Cross,
        why: Why,
        reason: String,
    ) -> Choice {
        let Selected {
            cell,
            kept,
            probability,
            ..
        } = cross.selected;
        let ChooseOptions {
            objective,
            worth,
            judge,
            ..
        } = self.options;
        let tally = self.evidence.tally(cell, pick, judge);
        let held_out_tally = self.held_out(pick, cross);
        let quiet = self.evidence.quiet(cell, pick, judge);
        let mut by = Judge::default();
        let mut stand = |c: &Constraint| by.standing(c, &tally, &quiet, worth);
        let standings: Vec<Standing> = self.options.constraints.iter().map(&mut stand).collect();
        let current = self
            .current
            .map(|cell| self.evidence.tally(cell, pick, judge));
        Choice {
            model: model.into(),
            cell,
            setting: self.evidence.plan.id(cell),
            why,
            reason,
            thin: self.thin(&quiet),
            kept,
            probability,
            in_sample: objective.value(&tally, worth),
            held_out: objective.value(&held_out_tally, worth),
            current: current.and_then(|tally| objective.value(&tally, worth)),
            tally,
            held_out_tally,
            folds_without: cross.without.iter().filter(|cell| cell.is_none()).count(),
            standings,
        }
    }

    /// Each fold under the cell that was chosen without it.
    fn held_out(&self, pick: &[usize], cross: &Cross) -> Tally {
        let judge = &self.options.judge;
        let fold = |(fold, cell): (usize, &Option<usize>)| {
            let left: Vec<usize> = pick
                .iter()
                .copied()
                .filter(|i| self.folds[*i] == fold)
                .collect();
            match cell {
                Some(cell) => self.evidence.tally(*cell, &left, judge),
                None => self.evidence.quiet(self.candidates.start, &left, judge),
            }
        };
        cross.without.iter().enumerate().map(fold).sum()
    }

    /// Whether some constraint that has bounds has too little data for them.
    fn thin(&self, quiet: &Tally) -> bool {
        let mut judge = Judge::default();
        let bounded = |c: &&Constraint| c.has_bound();
        self.options
            .constraints
            .iter()
            .filter(bounded)
            .any(|c| !judge.can_decide(c, quiet))
    }
}
