//! The choice of a setting: [`choose`], by the rules of scoring.md, "Choosing a setting".
//!
//! A choice is a decision under uncertainty about a replacement: somebody runs a guard now. Who follows the advice
//! is not worse off. So a candidate is chosen on all transcripts and again without each fold (`cross.rs`), and what
//! those choices do on the folds left out is held against the setting in use (`duel.rs`).
//!
//! | to find | look in |
//! |---|---|
//! | what was asked, what was chosen, what it comes to | `options.rs`, `choices.rs`, `advice.rs` |
//! | the best setting within the limits, and of those as good the one with the fewest wrong alarms | `select/` |
//! | the candidate of each level of assurance | `levels.rs` |
//! | how sure a difference is | `duel.rs` |
//! | the guards that need no folds | `ready.rs` |
//! | the labels that are left out for them | `doubted.rs` |
//! | when something ships, and the verdict | `rule.rs`, of what `situation.rs` finds |
//! | settings of models by themselves | `models.rs`, `pooling.rs`, `spread.rs` |
//! | the price list | `prices.rs` |
//! | the sentences | `words.rs`, `pays.rs`, `changes.rs`, `plain.rs` |

use std::ops::Range;

use crate::tally::{Evidence, Tally};
use crate::truth::{firsts, mean_clean};

pub mod advice;
pub(crate) mod blend;
pub(crate) mod board;
pub mod calibrate;
pub(crate) mod careful;
mod changes;
pub mod choices;
mod cross;
mod doubted;
pub mod duel;
pub mod folds;
pub(crate) mod ledger;
mod levels;
mod models;
pub mod options;
pub(crate) mod paired;
mod pairing;
mod pays;
mod plain;
pub mod pooling;
mod prices;
mod ready;
pub(crate) mod rule;
mod select;
mod situation;
mod spread;
pub(crate) mod words;

use advice::{Advice, RunFigures};
use board::Field;
pub use changes::changes;
use choices::{Choice, Choices, Why};
use cross::Cross;
pub use doubted::against_labels;
use duel::{Duel, Pair};
use folds::folds;
use ledger::Ledger;
use options::ChooseOptions;
pub use plain::explained;
use ready::Lead;
use rule::{Situation, missing, ruling};
use select::{Boards, Selection, Voice};

/// Nothing can be chosen from.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no setting to choose from")]
pub struct NoCandidates;

/// Chooses among the cells `candidates` of the plan, of which `in_use` is one. Every case of `evidence` is used: a
/// caller that has sealed transcripts (`split = test`) does not pass them.
///
/// # Errors
/// There are no candidates.
pub fn choose(
    evidence: &Evidence<'_>,
    candidates: Range<usize>,
    in_use: usize,
    options: &ChooseOptions,
) -> Result<Choices, NoCandidates> {
    if candidates.is_empty() {
        return Err(NoCandidates);
    }
    let fold_count = options.folds.max(2);
    let folds = folds(evidence.cases, fold_count, options.seed);
    let ledger = Ledger::new(evidence, &candidates, in_use, options);
    let field = Field {
        evidence,
        ledger: &ledger,
        candidates: &candidates,
        folds: &folds,
        fold_count,
        judge: &options.judge,
    };
    let firsts = firsts(evidence.cases, options.judge.unit);
    let every = evidence.all();
    let doubted = |i: &usize| options.doubted.get(*i).is_some_and(|doubted| *doubted);
    let chooser = Chooser {
        all: Boards::new(&field, &every, &firsts, options),
        trusted: every.iter().copied().filter(|i| !doubted(i)).collect(),
        every,
        firsts: &firsts,
        field,
        in_use,
        options,
    };
    let mut choices = chooser.choices();
    choices.folds = folds;
    Ok(choices)
}

/// What stays the same while choices are made.
struct Chooser<'a> {
    field: Field<'a>,
    all: Boards,
    every: Vec<usize>,
    /// Those of them whose label is not doubted.
    trusted: Vec<usize>,
    firsts: &'a [bool],
    in_use: usize,
    options: &'a ChooseOptions,
}

impl Chooser<'_> {
    fn choices(&self) -> Choices {
        let selection = Selection {
            field: &self.field,
            options: self.options,
            voice: Voice::All(&self.all),
            pick: &self.every,
            rest: &[],
            in_use: self.in_use,
        };
        let stands = self.stands(&selection);
        let levels = self.levels(&stands);
        let lead = self.lead(self.used(&levels));
        let used = lead.as_ref().map(|lead| &lead.tried);
        let of_folds = levels.iter().any(|tried| tried.cross.cell.is_some());
        let feasible = of_folds || self.ready_is_within();
        let mut situation = self.situation(used, feasible);
        let decided = missing(&situation).is_none() && feasible;
        let pooled = self.pooled(lead.as_ref(), decided);
        let models = self.models(used, &pooled, decided);
        situation.ships = pooled.ships.is_some() || models.iter().any(|m| m.ships.is_some());
        situation.costs = lead.as_ref().is_some_and(|lead| lead.costs);
        let ready = lead.as_ref().and_then(|lead| lead.ready);
        let ready = ready.filter(|_| pooled.ships.is_some());
        let advice = Advice {
            verdict: ruling(&situation),
            lacks: missing(&situation).map(rule::Missing::lack),
            ready: ready.map(|ready| ready.name.clone()),
            in_use_is: self.options.in_use_is.into(),
            rule: pooled.ships,
            doubted: self.doubted(lead.as_ref()),
            in_use: self.run(self.in_use, &self.every),
            candidate: used.map(|tried| self.run_of(tried)),
            assurance: used.map(|tried| tried.assurance),
            levels: levels.iter().map(|tried| self.level(tried)).collect(),
            figures: used.map(|tried| tried.figures.clone()),
            prices: self.prices(&stands, used),
            ..Advice::default()
        };
        let mut choices = Choices {
            advice,
            in_use: self.in_use,
            shipped: self.shipped(&pooled, &models),
            pooled,
            models,
            folds: Vec::new(),
        };
        self.say(&mut choices, &situation);
        choices
    }

    /// How many labels in doubt the verdict leaves out: that on a ready guard, and that on the setting in use where nothing
    /// ships and they alone put it over a limit.
    fn doubted(&self, lead: Option<&Lead<'_>>) -> u64 {
        let left_out = match lead {
            Some(Lead { ready: Some(_), .. }) => true,
            Some(Lead { ships: Some(_), .. }) => false,
            _ => self.is_over(&self.every) != self.is_over(&self.trusted),
        };
        if left_out {
            (self.every.len() - self.trusted.len()) as u64
        } else {
            0
        }
    }

    /// What a cross does on the folds left out, against a setting on the same transcripts.
    fn duel(&self, cross: &Cross, pick: &[usize], against: usize) -> Duel<'_> {
        let new = cross.held_out(&self.field, pick, against);
        let each: Vec<usize> = new.iter().map(|(i, _)| *i).collect();
        self.paired(new, self.under(against, &each))
    }

    /// What some transcripts add under a setting.
    fn under(&self, cell: usize, pick: &[usize]) -> Vec<Tally> {
        let outcomes = self.field.evidence.outcomes(cell, pick, self.field.judge);
        outcomes.iter().map(Tally::of).collect()
    }

    /// Transcripts with what they add under the newcomer, beside the same of the incumbent.
    fn paired(&self, new: Vec<(usize, Tally)>, old: Vec<Tally>) -> Duel<'_> {
        let pair = |((i, new), old): ((usize, Tally), Tally)| Pair {
            case: &self.field.evidence.cases[i],
            first: self.firsts[i],
            new,
            old,
        };
        Duel {
            pairs: new.into_iter().zip(old).map(pair).collect(),
            options: self.options,
        }
    }

    fn tally(&self, cell: usize, pick: &[usize]) -> Tally {
        self.field.evidence.tally(cell, pick, self.field.judge)
    }

    /// The choice for all models together. Nothing ships where too little is known (`decided`).
    fn pooled(&self, lead: Option<&Lead<'_>>, decided: bool) -> Choice {
        let used = lead.map(|lead| &lead.tried);
        let ships = lead.filter(|_| decided).and_then(|lead| lead.ships);
        let chosen = match lead.and_then(|lead| lead.ready) {
            Some(_) => Why::Ready,
            None => Why::Pooled,
        };
        let (why, cell) = match (ships, used.and_then(|tried| tried.cross.cell)) {
            (Some(_), Some(cell)) => (chosen, cell),
            _ => (Why::InUse, self.in_use),
        };
        let none = Cross::default();
        let cross = used.map_or(&none, |tried| &tried.cross);
        let figures = used.map(|tried| tried.figures.clone());
        let choice = self.choice("*", &self.every, cross, (why, cell));
        Choice {
            ships,
            figures,
            ..choice
        }
    }

    /// A choice for some transcripts, of which the file holds `(why, cell)`.
    fn choice(
        &self,
        model: &str,
        pick: &[usize],
        cross: &Cross,
        (why, cell): (Why, usize),
    ) -> Choice {
        let plan = self.field.evidence.plan;
        let in_use_tally = self.tally(self.in_use, pick);
        let held: Tally = if cross.without.is_empty() {
            self.tally(self.in_use, pick)
        } else {
            let held = cross.held_out(&self.field, pick, self.in_use);
            held.into_iter().map(|(_, tally)| tally).sum()
        };
        Choice {
            model: model.into(),
            cell,
            setting: plan.id(cell),
            why,
            reason: String::new(),
            candidate: cross.cell,
            candidate_setting: cross.cell.map(|cell| plan.id(cell)),
            ships: None,
            figures: None,
            tally: self.tally(cross.cell.unwrap_or(cell), pick),
            held_out_tally: held,
            looked_tally: if cross.without.is_empty() {
                held
            } else {
                cross.looked(&self.field, pick, self.in_use)
            },
            in_use_tally,
            folds_without: cross.nothing(),
            borrowing: None,
        }
    }

    /// What the settings file does, each model under what it holds for it.
    fn shipped(&self, pooled: &Choice, models: &[Choice]) -> Option<Choice> {
        let own = models.iter().filter(|m| m.cell != pooled.cell).count();
        if own == 0 {
            return None;
        }
        let sum = |of: fn(&Choice) -> Tally| models.iter().map(of).sum::<Tally>();
        // A model whose candidate does not ship runs what the file holds for it, in sample and held out.
        let held = |choice: &Choice| {
            if choice.candidate == Some(choice.cell) {
                [choice.tally, choice.held_out_tally, choice.looked_tally]
            } else {
                [choice.in_use_tally; 3]
            }
        };
        let tallies: Vec<[Tally; 3]> = models.iter().map(held).collect();
        let part = |k: usize| tallies.iter().map(|t| t[k]).sum::<Tally>();
        Some(Choice {
            model: "settings.toml".into(),
            setting: String::new(),
            why: Why::Shipped,
            reason: words::shipped(own, models.len() - own),
            candidate: None,
            candidate_setting: None,
            figures: None,
            tally: part(0),
            held_out_tally: part(1),
            looked_tally: part(2),
            in_use_tally: sum(|c| c.in_use_tally),
            borrowing: None,
            ..pooled.clone()
        })
    }

    fn run(&self, cell: usize, pick: &[usize]) -> RunFigures {
        let setting = self.field.evidence.plan.id(cell);
        RunFigures::of(setting, &self.tally(cell, pick), self.options)
    }

    /// What to take where what would run does not pay.
    fn instead(&self, choices: &Choices) -> String {
        let pooled = &choices.pooled;
        let used = match pooled.ships {
            Some(_) => &pooled.held_out_tally,
            None => &pooled.in_use_tally,
        };
        let ready = self.options.ready.iter();
        let others =
            ready.filter(|one| one.cell != self.in_use && Some(one.cell) != pooled.candidate);
        let others = others.map(|one| (one.name.as_str(), self.tally(one.cell, &self.trusted)));
        pays::instead(used, &others.collect::<Vec<_>>(), self.options)
    }

    /// Puts the sentences and what changes into the choices.
    fn say(&self, choices: &mut Choices, situation: &Situation) {
        let plan = self.field.evidence.plan;
        let shipped = changes::of_choices(plan, choices);
        let would = choices
            .pooled
            .candidate
            .filter(|_| choices.pooled.ships.is_none());
        let would = would.map(|cell| changes("*", &plan.setting(self.in_use), &plan.setting(cell)));
        let reason = words::reason(choices, situation, self.options);
        let mean_clean = mean_clean(self.field.evidence.cases, self.options.judge.unit);
        choices.pooled.reason = words::pooled(choices, self.options);
        choices.advice.pays =
            pays::pays(choices, mean_clean, self.options) + &self.instead(choices);
        choices.advice.changes = shipped;
        choices.advice.would_change = would.unwrap_or_default();
        choices.advice.reason = reason + &words::doubted(choices.advice.doubted);
    }
}
