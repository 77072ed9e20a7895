//! The candidate of each level of assurance, and which level is used.

use super::Chooser;
use super::advice::{Level, RunFigures};
use super::cross::Cross;
use super::duel::Figures;
use super::rule::WITHIN;
use super::select::{Selection, Stand};
use crate::constraint::Assurance;
use crate::tally::Tally;

/// The candidate of a level, and what it is on the folds left out.
#[derive(Clone)]
pub(super) struct Tried {
    pub(super) assurance: Assurance,
    pub(super) cross: Cross,
    pub(super) figures: Figures,
    /// Held out: the candidate, what is in use.
    pub(super) held_out: [Tally; 2],
}

impl Chooser<'_> {
    /// How all candidates stand on all transcripts, then without each fold.
    pub(super) fn stands<'s>(&self, selection: &Selection<'s>) -> Vec<(Option<usize>, Stand<'s>)> {
        let folds = (0..self.field.fold_count).map(Some);
        let withouts = std::iter::once(None).chain(folds);
        withouts
            .map(|without| (without, selection.stand(without)))
            .collect()
    }

    /// The candidate of each level, and what such choices are on the folds left out.
    pub(super) fn levels(&self, stands: &[(Option<usize>, Stand<'_>)]) -> Vec<Tried> {
        let mut levels: Vec<Tried> = Vec::new();
        for assurance in Assurance::ALL {
            let cross = cross(stands, |stand| stand.candidate(assurance));
            let same = levels.iter().find(|tried| tried.cross == cross);
            let (figures, held_out) = match same {
                Some(tried) => (tried.figures.clone(), tried.held_out),
                None => {
                    let duel = self.duel(&cross, &self.every, self.in_use);
                    (duel.figures(), duel.tallies(false))
                }
            };
            levels.push(Tried {
                assurance,
                cross,
                figures,
                held_out,
            });
        }
        levels
    }

    /// The level that is used: the one asked for, else the lowest at which what is held out is within the limits.
    pub(super) fn used<'t>(&self, levels: &'t [Tried]) -> Option<&'t Tried> {
        let fits = |tried: &&Tried| match self.options.assurance {
            Some(asked) => tried.assurance == asked,
            None => tried.figures.within >= WITHIN,
        };
        let mut some = levels.iter().filter(|tried| tried.cross.cell.is_some());
        some.find(fits)
    }

    /// The candidate of a level, held out.
    pub(super) fn run_of(&self, tried: &Tried) -> RunFigures {
        let id = tried
            .cross
            .cell
            .map(|cell| self.field.evidence.plan.id(cell));
        RunFigures::of(id.unwrap_or_default(), &tried.held_out[0], self.options)
    }

    pub(super) fn level(&self, tried: &Tried) -> Level {
        let cell = tried.cross.cell;
        Level {
            assurance: tried.assurance,
            setting: cell.map(|cell| self.field.evidence.plan.id(cell)),
            in_sample: cell.map(|cell| self.run(cell, &self.every)),
            held_out: cell.map(|_| self.run_of(tried)),
            within: cell.map(|_| tried.figures.within),
        }
    }
}

/// A choice from how all candidates stand on all transcripts and without each fold.
pub(super) fn cross(
    stands: &[(Option<usize>, Stand<'_>)],
    pick: impl Fn(&Stand<'_>) -> Option<usize>,
) -> Cross {
    let mut cross = Cross::default();
    for (without, stand) in stands {
        match without {
            None => cross.cell = pick(stand),
            Some(fold) => cross.without.push((*fold, pick(stand))),
        }
    }
    cross
}
