//! The ready guards: the recommended one, the presets, and what `--also` names. They were not chosen on this text, so
//! they need no folds; the candidate of the folds has to beat the better of the best of them and what is in use.
//!
//! Without them `tune` told the owner of a guard that finds 16 % of the loops to keep it, while the recommended guard
//! found 87 % in the next row of the same table.

use super::Chooser;
use super::advice::Ship;
use super::cross::Cross;
use super::levels::Tried;
use super::options::ReadyGuard;
use super::rule::{Bar, SURE, costs, ships};
use crate::constraint::{Assurance, Constraint};
use crate::tally::Tally;

/// No rule ships what is more points worse than this.
const NEEDED: f64 = 5.0;

/// What leads: a ready guard, or the candidate of the folds.
pub(super) struct Lead<'a> {
    /// What it does, held out, against what is in use.
    pub(super) tried: Tried,
    /// By which rule it ships, if it does.
    pub(super) ships: Option<Ship>,
    /// Whether it would, but for what its wrong alarms cost.
    pub(super) costs: bool,
    /// The ready guard that it is.
    pub(super) ready: Option<&'a ReadyGuard>,
}

/// A ready guard on the transcripts that are held out.
struct Standing<'a> {
    ready: &'a ReadyGuard,
    /// Its place in the list.
    nth: usize,
    /// Whether it may ship for all that the limits say.
    within: bool,
    merit: f64,
}

impl<'a> Chooser<'a> {
    /// What leads, of the ready guards and the candidate of the folds. `None`: there is neither.
    pub(super) fn lead(&self, of_folds: Option<&Tried>) -> Option<Lead<'a>> {
        let bar = self.bar(SURE, &self.trusted);
        let ready = self.taken();
        let by_folds = of_folds.map(|tried| Lead {
            tried: tried.clone(),
            ships: ships(&tried.figures, &bar),
            costs: costs(&tried.figures, &bar),
            ready: None,
        });
        let Some(ready) = ready else { return by_folds };
        let beats = |lead: &Lead<'_>| match (ready.ships, ready.tried.cross.cell) {
            // Something of the folds ships or would; of a ready guard that costs too much nothing is asked.
            (None, _) => lead.ships.is_some() || lead.costs,
            (Some(_), Some(cell)) => {
                let figures = self.duel(&lead.tried.cross, &self.trusted, cell).figures();
                lead.ships.is_some() && ships(&figures, &bar).is_some()
            }
            (Some(_), None) => false,
        };
        Some(by_folds.filter(beats).unwrap_or(ready))
    }

    /// Whether a ready guard may ship for all that the limits say.
    pub(super) fn ready_is_within(&self) -> bool {
        self.standings().iter().any(|standing| standing.within)
    }

    /// The best ready guard that ships, in the place of what is in use; else the best that would but for the price.
    fn taken(&self) -> Option<Lead<'a>> {
        let all = self.standings();
        let mut dear = None;
        for (place, best) in all.iter().enumerate() {
            let lead = self.against_in_use(best);
            if lead.ships.is_none() {
                dear = dear.or_else(|| lead.costs.then_some(lead));
                continue;
            }
            // Of those that are as good, the first of the list.
            let point = self.options.worthwhile * self.point();
            let alike = all[place + 1..].iter().filter(|s| {
                s.nth < best.nth && s.within == best.within && s.merit > best.merit - point
            });
            let mut alike: Vec<&Standing<'_>> = alike.collect();
            alike.sort_by_key(|s| s.nth);
            let mut others = alike.iter().map(|s| self.against_in_use(s));
            return others.find(|other| other.ships.is_some()).or(Some(lead));
        }
        dear
    }

    /// The ready guards that may ship: those within the limits first, then the best by the objective. One that is much
    /// worse than what is in use cannot, nor can one without a figure.
    fn standings(&self) -> Vec<Standing<'a>> {
        let once = self.once(&self.trusted);
        let least = self.merit(&self.tally(self.in_use, &self.trusted)) - NEEDED * self.point();
        let mut all: Vec<Standing<'a>> = Vec::new();
        for (nth, ready) in self.options.ready.iter().enumerate() {
            let known = all.iter().any(|s| s.ready.cell == ready.cell);
            if ready.cell == self.in_use || known {
                continue;
            }
            let merit = self.merit(&self.tally(ready.cell, &self.trusted));
            if merit >= least {
                all.push(Standing {
                    ready,
                    nth,
                    within: self.is_within(&self.tally(ready.cell, &once)),
                    merit,
                });
            }
        }
        all.sort_by(|a, b| {
            let limits = b.within.cmp(&a.within);
            limits
                .then(b.merit.total_cmp(&a.merit))
                .then(a.nth.cmp(&b.nth))
        });
        all
    }

    /// A ready guard in the place of what is in use: the same one whatever fold is left out.
    fn against_in_use(&self, standing: &Standing<'a>) -> Lead<'a> {
        let ready = standing.ready;
        let folds = 0..self.field.fold_count;
        let cross = Cross {
            cell: Some(ready.cell),
            without: folds.map(|fold| (fold, Some(ready.cell))).collect(),
        };
        let duel = self.duel(&cross, &self.trusted, self.in_use);
        let (figures, held_out) = (duel.figures(), duel.tallies(false));
        let bar = Bar {
            expected: None,
            keeps_limits: Some(standing.within),
            surely_dear: !self.options.rate_given,
            ..self.bar(SURE, &self.trusted)
        };
        Lead {
            ships: ships(&figures, &bar),
            costs: costs(&figures, &bar),
            ready: Some(ready),
            tried: Tried {
                assurance: Assurance::of(figures.within).unwrap_or(Assurance::Likely),
                cross,
                figures,
                held_out,
            },
        }
    }

    /// The objective, more always better; without a figure, the worst.
    fn merit(&self, tally: &Tally) -> f64 {
        let objective = self.options.objective;
        let value = objective.value(tally, &self.options.worth);
        value.map_or(f64::NEG_INFINITY, |value| objective.sign() * value)
    }

    /// A point, beside what is in use.
    fn point(&self) -> f64 {
        let now = self.tally(self.in_use, &self.trusted);
        let value = self.options.objective.value(&now, &self.options.worth);
        self.options.objective.point(value.unwrap_or(0.0))
    }

    /// Whether a cell that was not chosen among thousands, of which the best is lucky too, keeps the limits, by its tally with each
    /// text once: by estimate those that the user gave. A limit that nobody gave, as a rate of loops that nobody said, has to be broken
    /// for sure: a few hundred transcripts have room for one wrong alarm, and every good guard has two now and then.
    fn is_within(&self, once: &Tally) -> bool {
        let keeps = |limit: &Constraint| match limit.probability(once) {
            Some(within) if !self.options.given => 1.0 - within < SURE,
            _ => limit.estimate(once, &self.options.worth).1,
        };
        self.options.constraints.iter().all(keeps)
    }
}
