//! Settings of models by themselves: a model gets its own only by the rules by which anything ships, on its own
//! held-out transcripts, against what it would run otherwise.
//!
//! Where labels are few, a model's own best setting is worse than one for all. So a model's own candidate is chosen
//! with the help of the other models' counts, as far as models are alike ([`Borrowing`]); M models are tried, so each
//! difference has to be sure to 1 - 0.1 / M. What it replaces is the setting of all models where that ships, else what
//! is in use: were the setting of all models the yardstick where it does not ship, a model could be given something
//! worse than what it has.
//!
//! Most models have few loops. Where even a guard that stops each of them at its onset, and nothing else, would not
//! ship, no setting can: every probability that the rules ask for is highest for that guard. There nothing is tried,
//! which changes no setting and spares most of the time that a choice takes.

use super::board::Field;
use super::choices::{Choice, Why};
use super::cross::Cross;
use super::duel::{Duel, Figures, at_onset};
use super::levels::{Tried, cross};
use super::pooling::Borrowing;
use super::rule::{SURE, ships};
use super::select::{Boards, Selection, Voice};
use super::spread::borrowings;
use super::{Chooser, words};
use crate::constraint::Assurance;
use crate::tally::Tally;

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
        let otherwise = match (&pooled.ships, &kept) {
            (Some(_), None) => (Why::Pooled, pooled.cell),
            _ => (Why::InUse, self.in_use),
        };
        let none = Cross::default();
        let rival = match otherwise.0 {
            Why::Pooled => (of_all, pooled.cell),
            _ => (&none, self.in_use),
        };
        let bar = self.bar(sure, pick);
        let best = self.best_there_can_be(rival, pick);
        if ships(&best, &bar).is_none() {
            let choice = self.choice(model, pick, of_all, otherwise);
            return Choice {
                reason: words::hopeless(otherwise.0, &best, kept.as_ref(), (sure, bar.worthwhile)),
                ..choice
            };
        }
        let candidate = self.candidate(usable, (of_all, level));
        let figures = self.between(&candidate, rival, pick).figures();
        let ships = candidate
            .cell
            .filter(|cell| *cell != otherwise.1)
            .and_then(|_| ships(&figures, &bar));
        let holds = match (ships, candidate.cell) {
            (Some(_), Some(cell)) => (Why::Own, cell),
            _ => otherwise,
        };
        let choice = self.choice(model, pick, &candidate, holds);
        let borrowing = help
            .last()
            .copied()
            .filter(|_| pick.len() < self.every.len());
        Choice {
            reason: words::own(
                ships,
                otherwise.0,
                &figures,
                kept.as_ref(),
                sure,
                (borrowing, self.options.judge.unit),
            ),
            ships,
            figures: Some(figures),
            borrowing,
            ..choice
        }
    }

    /// What is chosen on a model's own transcripts, helped by the others.
    fn candidate(&self, usable: &Usable<'_>, (of_all, level): (&Cross, Assurance)) -> Cross {
        let cases = self.field.evidence.cases;
        let others = |i: &usize| *cases[*i].model != *usable.model;
        let rest: Vec<usize> = self.every.iter().copied().filter(others).collect();
        let own = Boards::new(&self.field, usable.pick, self.firsts, self.options);
        let selection = Selection {
            field: &self.field,
            options: self.options,
            voice: Voice::Helped {
                all: &self.all,
                own: &own,
                borrowing: &usable.help,
                pooled: of_all,
            },
            pick: usable.pick,
            rest: &rest,
            in_use: self.in_use,
        };
        cross(&self.stands(&selection), |stand| stand.candidate(level))
    }

    /// A model's own choices beside what it would run otherwise, on the folds left out.
    fn between(&self, own: &Cross, rival: (&Cross, usize), pick: &[usize]) -> Duel<'_> {
        let new = own.held_out(&self.field, pick, rival.1);
        self.paired(new, self.otherwise(rival, pick))
    }

    /// How a guard that stops each loop at its onset, and nothing else, compares with what a model would run
    /// otherwise.
    fn best_there_can_be(&self, rival: (&Cross, usize), pick: &[usize]) -> Figures {
        let quiet = |i| (i, at_onset(&self.field.quiet(&[i])));
        let new = pick.iter().copied().map(quiet).collect();
        self.paired(new, self.otherwise(rival, pick)).figures()
    }

    /// What the held-out transcripts of a model add under what it would run otherwise: the choices for all models
    /// together, each on its fold, where `rival` has any, or the setting `against`.
    fn otherwise(&self, (rival, against): (&Cross, usize), pick: &[usize]) -> Vec<Tally> {
        if rival.cell.is_none() {
            return self.under(against, pick);
        }
        let held = rival.held_out(&self.field, pick, self.in_use);
        held.into_iter().map(|(_, tally)| tally).collect()
    }
}

/// How much the other usable models help each.
fn help(field: &Field<'_>, picks: &[&Vec<usize>]) -> Vec<Vec<Borrowing>> {
    if picks.is_empty() {
        Vec::new()
    } else {
        borrowings(field, picks)
    }
}
