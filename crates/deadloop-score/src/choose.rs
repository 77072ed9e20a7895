//! The choice of a setting: [`choose`], by the rules of scoring.md, "Choosing a setting".
//!
//! One setting is chosen for all models together, and one for each model that has data enough for
//! its own: on its own transcripts, helped by those of the other models as far as models are alike
//! ([`Borrowing`]). Every selection is repeated inside the folds, so that what is reported as
//! `held_out` was never seen by what chose it. Beside it stands what the choice of the other models
//! alone does on each model: what to expect on a model that is not in the corpus.

use std::ops::Range;

use deadloop_replay::detect::Settings;

use crate::board::{Board, Field};
use crate::choice::{Choice, Choices, ChooseOptions, LeftOut, Why};
use crate::constraint::{Constraint, Judge, Standing};
use crate::cross::Cross;
use crate::evidence::Evidence;
use crate::files::settings::settings_toml;
use crate::folds::folds;
use crate::infeasible::{ChooseError, NothingFeasible};
use crate::ledger::{Ledger, REFERENCES};
use crate::pairing::References;
use crate::pooling::Borrowing;
use crate::select::{Selected, Selection, Voice};
use crate::spread::borrowings;
use crate::tally::{Count, Tally};

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
    let fold_count = options.folds.max(2);
    let folds = folds(evidence.cases, fold_count, options.seed);
    let ledger = Ledger::new(evidence, &candidates, current, options);
    let field = Field {
        evidence,
        ledger: &ledger,
        candidates: &candidates,
        folds: &folds,
        fold_count,
        judge: &options.judge,
    };
    let picked = evidence.all();
    let quiet = field.quiet(&picked);
    let (loops, clean) = (quiet.loops(), quiet.clean());
    if loops == 0 || clean == 0 {
        return Err(ChooseError::TooLittleData { loops, clean });
    }
    let chooser = Chooser {
        all: Board::new(&field, &picked, &Count::ALL),
        references: References::new(REFERENCES * evidence.plan.blocks().len()),
        picked,
        field,
        current,
        options,
    };
    let trial = chooser.trial(Voice::All(&chooser.all), &chooser.picked, &[])?;
    let reason = format!("chosen on all {} transcripts", chooser.picked.len());
    let pooled = chooser.report("*", &chooser.picked, &trial, Why::Pooled, reason);
    let models = chooser.models(&trial);
    let mut choices = Choices {
        pooled,
        models,
        shipped: None,
        folds,
    };
    choices.shipped = shipped(evidence, &choices, options);
    Ok(choices)
}

/// What stays the same while choices are made.
struct Chooser<'a> {
    field: Field<'a>,
    picked: Vec<usize>,
    all: Board,
    references: References,
    current: Option<usize>,
    options: &'a ChooseOptions,
}

impl Chooser<'_> {
    fn selection<'b>(
        &'b self,
        voice: Voice<'b>,
        pick: &'b [usize],
        rest: &'b [usize],
    ) -> Selection<'b> {
        Selection {
            field: &self.field,
            options: self.options,
            voice,
            pick,
            rest,
            current: self.current,
        }
    }

    fn trial(
        &self,
        voice: Voice<'_>,
        pick: &[usize],
        rest: &[usize],
    ) -> Result<Cross, Box<NothingFeasible>> {
        Cross::of(&self.selection(voice, pick, rest), self.options.raced)
    }

    fn models(&self, pooled: &Cross) -> Vec<Choice> {
        let models = self.field.evidence.models();
        let picks: Vec<&Vec<usize>> = models.values().collect();
        let help = borrowings(&self.field, &picks);
        let each = models.iter().zip(&help);
        each.map(|((model, pick), help)| self.model(model, pick, help, pooled))
            .collect()
    }

    fn model(&self, model: &str, pick: &[usize], help: &[Borrowing], pooled: &Cross) -> Choice {
        let cases = self.field.evidence.cases;
        let others = |i: &usize| cases[*i].model != model;
        let rest: Vec<usize> = self.picked.iter().copied().filter(others).collect();
        let board = Board::new(&self.field, pick, &Count::ALL);
        let left_out = self.left_out(&board, &rest);
        let quiet = self.field.quiet(pick);
        let choice = match self.too_few(&quiet) {
            Some(reason) => self.report(model, pick, pooled, Why::FewLabels, reason),
            None => {
                let voice = Voice::Helped {
                    all: &self.all,
                    own: &board,
                    borrowing: help,
                    pooled,
                };
                match self.trial(voice, pick, &rest) {
                    Ok(own) => {
                        let borrowing = help.last().copied().filter(|_| !rest.is_empty());
                        let mut reason = own_reason(&quiet, borrowing.as_ref());
                        if own.selected.decided.iter().any(|standing| !standing.met) {
                            reason += "; too little text to speak against the pooled setting";
                        }
                        let choice = self.report(model, pick, &own, Why::Own, reason);
                        Choice {
                            borrowing,
                            ..choice
                        }
                    }
                    Err(nothing) => {
                        let reason = format!("on its own transcripts {nothing}");
                        self.report(model, pick, pooled, Why::Pooled, reason)
                    }
                }
            }
        };
        Choice { left_out, ..choice }
    }

    /// What the choice of the other models does on this one.
    fn left_out(&self, own: &Board, rest: &[usize]) -> Option<LeftOut> {
        let quiet = self.field.quiet(rest);
        if quiet.loops() == 0 || quiet.clean() == 0 {
            return None;
        }
        let voice = Voice::Others {
            all: &self.all,
            own,
            references: &self.references,
        };
        let cell = self.selection(voice, rest, &[]).select(None).ok()?.cell;
        let evidence = self.field.evidence;
        Some(LeftOut {
            cell,
            setting: evidence.plan.id(cell),
            tally: evidence.tally(cell, &own.pick, self.field.judge),
        })
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
            ref decided,
        } = cross.selected;
        let ChooseOptions {
            objective,
            worth,
            judge,
            ..
        } = self.options;
        let evidence = self.field.evidence;
        let tally = evidence.tally(cell, pick, judge);
        let held_out_tally = cross.held_out(&self.field, pick);
        let quiet = evidence.quiet(cell, pick, judge);
        let mut by = Judge::default();
        let mut stand = |c: &Constraint| by.standing(c, &tally, &quiet, worth);
        let standings: Vec<Standing> = self.options.constraints.iter().map(&mut stand).collect();
        let current = self.current.map(|cell| evidence.tally(cell, pick, judge));
        Choice {
            model: model.into(),
            cell,
            setting: evidence.plan.id(cell),
            why,
            reason,
            decided: decided.clone(),
            thin: thin(&self.options.constraints, decided),
            kept,
            probability,
            in_sample: objective.value(&tally, worth),
            held_out: objective.value(&held_out_tally, worth),
            current: current.and_then(|tally| objective.value(&tally, worth)),
            tally,
            held_out_tally,
            looked_tally: cross.looked(&self.field, pick),
            folds_without: cross.nothing(),
            standings,
            borrowing: None,
            left_out: None,
        }
    }
}

/// Whether some constraint that has bounds was decided without, for want of data.
fn thin(constraints: &[Constraint], decided: &[Standing]) -> bool {
    let mut pairs = constraints.iter().zip(decided);
    pairs.any(|(constraint, standing)| constraint.has_bound() && !standing.by_bound)
}

/// What the settings file does: every model under what it says for that model.
fn shipped(evidence: &Evidence, choices: &Choices, options: &ChooseOptions) -> Option<Choice> {
    let Choices { pooled, models, .. } = choices;
    let (same, own): (Vec<&Choice>, Vec<&Choice>) =
        models.iter().partition(|choice| choice.cell == pooled.cell);
    if own.is_empty() {
        return None;
    }
    let file = Settings::parse(&settings_toml(evidence.plan, choices, options)).ok()?;
    let sum = |of: fn(&Choice) -> Tally| models.iter().map(of).sum::<Tally>();
    let (tally, held_out_tally) = (sum(|c| c.tally), sum(|c| c.held_out_tally));
    let ChooseOptions {
        objective, worth, ..
    } = options;
    let quiet = evidence.quiet(pooled.cell, &evidence.all(), &options.judge);
    let mut by = Judge::default();
    let stand = |c: &Constraint| by.standing(c, &tally, &quiet, worth);
    let standings: Vec<Standing> = options.constraints.iter().map(stand).collect();
    Some(Choice {
        model: "settings.toml".into(),
        setting: file.id(),
        why: Why::Shipped,
        reason: format!(
            "{} models with a setting of their own, {} with the pooled one",
            own.len(),
            same.len()
        ),
        kept: models.iter().all(|choice| choice.kept),
        probability: None,
        in_sample: objective.value(&tally, worth),
        held_out: objective.value(&held_out_tally, worth),
        looked_tally: sum(|c| c.looked_tally),
        folds_without: models.iter().map(|c| c.folds_without).max().unwrap_or(0),
        tally,
        held_out_tally,
        thin: thin(&options.constraints, &standings),
        decided: standings.clone(),
        standings,
        left_out: None,
        ..pooled.clone()
    })
}

fn own_reason(quiet: &Tally, borrowing: Option<&Borrowing>) -> String {
    let (loops, chars) = (quiet.loops(), quiet.get(Count::Exposure));
    let own = format!("{loops} loops and {chars} clean chars of its own");
    borrowing.map_or(own.clone(), |borrowing| {
        let (loops, chars) = borrowing.strength();
        format!("{own}; the other models count as {loops:.0} loops and {chars:.0} clean chars")
    })
}
