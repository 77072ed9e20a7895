//! Settings of models by themselves: a model gets its own only by the rules by which anything ships, on its own
//! held-out transcripts, against what it would run otherwise.
//!
//! Where labels are few, a model's own best setting is worse than one for all. So a model's own candidate is chosen
//! with the help of the other models' counts, as far as models are alike ([`Borrowing`]); M models are tried, so each
//! difference has to be sure to 1 - 0.1 / M. What it replaces is the setting of all models where that ships, else what
//! is in use: were the setting of all models the yardstick where it does not ship, a model could be given something
//! worse than what it has.

use super::board::Field;
use super::choices::{Choice, Why};
use super::cross::Cross;
use super::duel::Figures;
use super::pooling::Borrowing;
use super::rule::{SURE, ships};
use super::select::{Boards, Selection, Voice};
use super::spread::borrowings;
use super::{Chooser, Tried, cross, words};
use crate::constraint::Assurance;

/// A model whose labels are enough to try a setting of its own.
struct Usable<'a> {
    model: &'a str,
    pick: &'a [usize],
    help: Vec<Borrowing>,
}

impl Chooser<'_> {
    /// The choice for each model. Nothing ships where too little is known (`decided`).
    pub(super) fn models(
        &self,
        used: Option<&Tried>,
        pooled: &Choice,
        decided: bool,
    ) -> Vec<Choice> {
        let models = self.field.evidence.models();
        let usable: Vec<(&str, &Vec<usize>)> = models
            .iter()
            .filter(|(_, pick)| {
                decided
                    && used.is_some()
                    && models.len() > 1
                    && self.loops(pick) >= self.options.min_loops
            })
            .map(|(model, pick)| (*model, pick))
            .collect();
        let picks: Vec<&Vec<usize>> = usable.iter().map(|(_, pick)| *pick).collect();
        let mut help = help(&self.field, &picks).into_iter();
        let sure = 1.0 - (1.0 - SURE) / usable.len().max(1) as f64;
        let none = Cross::default();
        let of_all = used.map_or(&none, |tried| &tried.cross);
        let each = models.iter().map(|(model, pick)| {
            if !usable.iter().any(|(name, _)| name == model) {
                return self.untried(model, pick, of_all, pooled);
            }
            let usable = Usable {
                model,
                pick,
                help: help.next().unwrap_or_default(),
            };
            let kept = self.kept(pick, of_all, pooled);
            let level = used.map_or(Assurance::Likely, |tried| tried.assurance);
            self.own(&usable, (of_all, level), (pooled, kept), sure)
        });
        each.collect()
    }

    /// A model with too few labels: what all models have.
    fn untried(&self, model: &str, pick: &[usize], of_all: &Cross, pooled: &Choice) -> Choice {
        let loops = self.loops(pick);
        let why = match pooled.why {
            _ if loops < self.options.min_loops => Why::FewLabels,
            why => why,
        };
        let choice = self.choice(model, pick, of_all, (why, pooled.cell));
        Choice {
            reason: words::untried(loops, self.options.min_loops, pooled.ships.is_some()),
            ..choice
        }
    }

    /// The evidence that a model is better off with what it has in use, where the setting of all models ships: it
    /// loses a point there.
    fn kept(&self, pick: &[usize], of_all: &Cross, pooled: &Choice) -> Option<Figures> {
        pooled.ships?;
        let figures = self.duel(of_all, pick, self.in_use).figures();
        let loses = 1.0 - figures.no_point_worse >= SURE;
        loses.then_some(figures)
    }

    /// A model with labels enough: its own setting where that ships, else what it would have otherwise.
    fn own(
        &self,
        usable: &Usable<'_>,
        (of_all, level): (&Cross, Assurance),
        (pooled, kept): (&Choice, Option<Figures>),
        sure: f64,
    ) -> Choice {
        let Usable { model, pick, help } = usable;
        let cases = self.field.evidence.cases;
        let others = |i: &usize| *cases[*i].model != **model;
        let rest: Vec<usize> = self.every.iter().copied().filter(others).collect();
        let own = Boards::new(&self.field, pick, self.firsts, self.options);
        let selection = Selection {
            field: &self.field,
            options: self.options,
            voice: Voice::Helped {
                all: &self.all,
                own: &own,
                borrowing: help,
                pooled: of_all,
            },
            pick,
            rest: &rest,
            in_use: self.in_use,
        };
        let candidate = cross(&self.stands(&selection), |stand| stand.candidate(level));
        let otherwise = match (&pooled.ships, &kept) {
            (Some(_), None) => (Why::Pooled, pooled.cell),
            _ => (Why::InUse, self.in_use),
        };
        let (rival, against) = match otherwise.0 {
            Why::Pooled => (of_all.clone(), pooled.cell),
            _ => (Cross::default(), self.in_use),
        };
        let figures = self.between(&candidate, &rival, pick, against);
        let ships = candidate
            .cell
            .filter(|cell| *cell != otherwise.1)
            .and_then(|_| ships(&figures, &self.bar(sure, pick)));
        let holds = match (ships, candidate.cell) {
            (Some(_), Some(cell)) => (Why::Own, cell),
            _ => otherwise,
        };
        let choice = self.choice(model, pick, &candidate, holds);
        let borrowing = help.last().copied().filter(|_| !rest.is_empty());
        Choice {
            reason: words::own(ships, otherwise.0, &figures, kept.as_ref(), sure, borrowing),
            ships,
            figures: Some(figures),
            borrowing,
            ..choice
        }
    }

    /// How a model's own choices compare with those of all models on the folds left out, or with what is in use.
    fn between(&self, own: &Cross, rival: &Cross, pick: &[usize], against: usize) -> Figures {
        let mut duel = self.duel(own, pick, against);
        if rival.cell.is_some() {
            let old = rival.held_out(&self.field, pick, self.in_use);
            for (pair, (_, tally)) in duel.pairs.iter_mut().zip(old) {
                pair.old = tally;
            }
        }
        duel.figures()
    }
}

/// How much the other usable models help each.
fn help(field: &Field<'_>, picks: &[&Vec<usize>]) -> Vec<Vec<Borrowing>> {
    match picks.is_empty() {
        true => Vec::new(),
        false => borrowings(field, picks),
    }
}
