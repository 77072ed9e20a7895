//! One selection: the best feasible cell, the most careful one that is as good, or the current one.

use std::cmp::Ordering;
use std::ops::Range;

use deadloop_replay::Block;

use crate::careful::{copies, distance};
use crate::choose::ChooseOptions;
use crate::constraint::{Constraint, Judge};
use crate::evidence::Evidence;
use crate::infeasible::{NothingFeasible, Restrictive};
use crate::paired::{Difference, Paired};
use crate::sheet::{Sheet, tallies};
use crate::tally::{Count, Tally};

/// The tallies of all candidates on some transcripts, fold by fold.
///
/// Memory: a [`Sheet`] for each block and fold. Each transcript is judged once for all selections.
pub(crate) struct Board<'a> {
    evidence: &'a Evidence<'a>,
    candidates: &'a Range<usize>,
    pick: &'a [usize],
    folds: &'a [usize],
    options: &'a ChooseOptions,
    /// For each block that has candidates: its index, and a sheet for each fold.
    sheets: Vec<(usize, Vec<Sheet>)>,
}

/// What a selection ended with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Selected {
    pub(crate) cell: usize,
    pub(crate) kept: bool,
    pub(crate) probability: Option<f64>,
}

/// A candidate that is feasible.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    cell: usize,
    merit: f64,
    wrong: u64,
}

impl<'a> Board<'a> {
    pub(crate) fn new(
        evidence: &'a Evidence<'a>,
        candidates: &'a Range<usize>,
        pick: &'a [usize],
        folds: &'a [usize],
        options: &'a ChooseOptions,
    ) -> Self {
        let by_fold: Vec<Vec<usize>> = (0..options.folds.max(2))
            .map(|fold| pick.iter().copied().filter(|i| folds[*i] == fold).collect())
            .collect();
        let has = |b: &Block| b.first() < candidates.end && candidates.start < b.first() + b.len();
        let sheets = |(index, block): (usize, &Block)| {
            let sheet = |pick: &Vec<usize>| {
                let trials = pick.iter().map(|i| evidence.trial(index, *i));
                tallies(&block.shape(), trials, &options.judge, &Count::ALL)
            };
            (index, by_fold.iter().map(sheet).collect())
        };
        let blocks = evidence
            .plan
            .blocks()
            .iter()
            .enumerate()
            .filter(|(_, b)| has(b));
        let sheets = blocks.map(sheets).collect();
        Self {
            evidence,
            candidates,
            pick,
            folds,
            options,
            sheets,
        }
    }

    /// Selects on all transcripts, or on all but those of one fold.
    pub(crate) fn select(
        &self,
        without: Option<usize>,
        current: Option<usize>,
    ) -> Result<Selected, Box<NothingFeasible>> {
        let pick: Vec<usize> = self
            .pick
            .iter()
            .copied()
            .filter(|i| Some(self.folds[*i]) != without)
            .collect();
        let feasible = self.feasible(without, &pick);
        // The first of the best: the order is the grid's, and of two equals the earlier stays.
        let better = |a: &&Candidate, b: &&Candidate| match a.merit.total_cmp(&b.merit) {
            Ordering::Equal => b.cell.cmp(&a.cell),
            unequal => unequal,
        };
        let Some(best) = feasible.iter().max_by(better).copied() else {
            return Err(self.nothing(without, &pick));
        };
        let cell = self.most_careful(best, &feasible, &pick, current);
        Ok(self.or_current(cell, current, &pick))
    }

    /// Calls `visit` with each candidate cell and its tally.
    fn each(&self, without: Option<usize>, mut visit: impl FnMut(usize, Tally)) {
        for (index, sheets) in &self.sheets {
            for (cell, at) in self.cells(*index) {
                let folds = sheets
                    .iter()
                    .enumerate()
                    .filter(|(fold, _)| Some(*fold) != without);
                visit(cell, folds.map(|(_, sheet)| sheet.tally(&at)).sum());
            }
        }
    }

    /// The candidates of a block: number and value indices.
    fn cells(&self, block: usize) -> impl Iterator<Item = (usize, Vec<u16>)> {
        let block = &self.evidence.plan.blocks()[block];
        let first = block.first();
        let range = self.candidates.start.max(first)..self.candidates.end.min(first + block.len());
        range.map(move |cell| (cell, block.at(cell - first)))
    }

    fn feasible(&self, without: Option<usize>, pick: &[usize]) -> Vec<Candidate> {
        let ChooseOptions {
            constraints,
            objective,
            worth,
            ..
        } = self.options;
        let quiet = self.quiet(pick);
        let mut judge = Judge::default();
        let mut found = Vec::new();
        self.each(without, |cell, tally| {
            let meets = |c: &Constraint| judge.standing(c, &tally, &quiet, worth).met;
            if constraints.iter().all(meets) {
                let merit = objective.merit(&tally, worth);
                found.push(Candidate {
                    cell,
                    merit,
                    wrong: tally.wrong(),
                });
            }
        });
        found
    }

    fn quiet(&self, pick: &[usize]) -> Tally {
        self.evidence
            .quiet(self.candidates.start, pick, &self.options.judge)
    }

    /// Among the feasible cells within one standard error of the best (of the paired difference):
    /// fewest wrong alarms, then most copies asked for, then nearest to the current setting, then
    /// first in the grid.
    fn most_careful(
        &self,
        best: Candidate,
        feasible: &[Candidate],
        pick: &[usize],
        current: Option<usize>,
    ) -> usize {
        let near = self.near(best, feasible, pick);
        let fewest = near.iter().map(|c| c.wrong).min().unwrap_or(0);
        let near: Vec<usize> = near
            .iter()
            .filter(|c| c.wrong == fewest)
            .map(|c| c.cell)
            .collect();
        let plan = self.evidence.plan;
        let copies = |cell: &usize| copies(plan, *cell);
        let most = near.iter().map(copies).max().unwrap_or(0);
        let near = near.into_iter().filter(|cell| copies(cell) == most);
        match current {
            None => near.min(),
            Some(current) => {
                let from = plan.setting(current).columns();
                near.min_by_key(|cell| (distance(&plan.setting(*cell).columns(), &from), *cell))
            }
        }
        .unwrap_or(best.cell)
    }

    fn near(&self, best: Candidate, feasible: &[Candidate], pick: &[usize]) -> Vec<Candidate> {
        let ChooseOptions {
            objective,
            worth,
            judge,
            ..
        } = self.options;
        let at = self.evidence.tally(best.cell, pick, judge);
        let reference = self.contributions(best.cell, pick, &at);
        let mut near = Vec::new();
        let mut rest = feasible;
        for (index, _) in &self.sheets {
            let block = &self.evidence.plan.blocks()[*index];
            let end = rest.partition_point(|c| c.cell < block.first() + block.len());
            let (here, later) = rest.split_at(end);
            rest = later;
            if here.is_empty() {
                continue;
            }
            let trials = pick.iter().map(|i| self.evidence.trial(*index, *i));
            let influence = |tally: &Tally| objective.influence(tally, &at, worth);
            let paired = Paired::new(&block.shape(), trials, judge, &reference, influence);
            near.extend(here.iter().filter(|c| {
                let error = paired.difference(&block.at(c.cell - block.first())).error;
                // n/a is never near; with an error of 0 only equals are.
                c.merit >= best.merit - error
            }));
        }
        near
    }

    /// What each transcript contributes to the objective under a cell, near the tally `at`.
    fn contributions(&self, cell: usize, pick: &[usize], at: &Tally) -> Vec<f64> {
        let ChooseOptions {
            objective,
            worth,
            judge,
            ..
        } = self.options;
        let outcomes = self.evidence.outcomes(cell, pick, judge);
        outcomes
            .iter()
            .map(|o| objective.influence(&Tally::of(o), at, worth))
            .collect()
    }

    /// Keeps the current setting unless the new one is better with the asked-for probability, or
    /// the current one does not meet the constraints.
    fn or_current(&self, new: usize, current: Option<usize>, pick: &[usize]) -> Selected {
        let Some(current) = current else {
            return Selected {
                cell: new,
                kept: false,
                probability: None,
            };
        };
        let ChooseOptions {
            constraints,
            worth,
            judge,
            sure,
            ..
        } = self.options;
        let at = self.evidence.tally(new, pick, judge);
        let [a, b] = [new, current].map(|cell| self.contributions(cell, pick, &at));
        let probability = Difference::between(&a, &b).probability();
        let tally = self.evidence.tally(current, pick, judge);
        let quiet = self.evidence.quiet(current, pick, judge);
        let mut by = Judge::default();
        let allowed = constraints
            .iter()
            .all(|c| by.standing(c, &tally, &quiet, worth).met);
        let kept = new == current || (allowed && probability < *sure);
        let cell = if kept { current } else { new };
        Selected {
            cell,
            kept,
            probability: Some(probability),
        }
    }

    /// Why nothing is feasible.
    fn nothing(&self, without: Option<usize>, pick: &[usize]) -> Box<NothingFeasible> {
        let ChooseOptions {
            constraints,
            objective,
            worth,
            ..
        } = self.options;
        let quiet = self.quiet(pick);
        let mut judge = Judge::default();
        let mut met = vec![0; constraints.len()];
        let mut cells = 0;
        let mut nearest: Option<(f64, f64, usize, Tally)> = None;
        self.each(without, |cell, tally| {
            cells += 1;
            let mut short = 0.0;
            for (c, met) in constraints.iter().zip(&mut met) {
                let standing = judge.standing(c, &tally, &quiet, worth);
                *met += usize::from(standing.met);
                let margin = standing.margin(c).unwrap_or(f64::NEG_INFINITY);
                short += (-margin / c.bound.abs().max(f64::MIN_POSITIVE)).max(0.0);
            }
            let merit = objective.merit(&tally, worth);
            let closer =
                |(s, m, ..): &(f64, f64, usize, Tally)| short < *s || (short == *s && merit > *m);
            if nearest.as_ref().is_none_or(closer) {
                nearest = Some((short, merit, cell, tally));
            }
        });
        let (cell, tally) = nearest.map_or((0, Tally::default()), |(_, _, cell, t)| (cell, t));
        let least = constraints.iter().zip(met).min_by_key(|(_, met)| *met);
        let restrictive = least.map(|(constraint, met)| Restrictive {
            constraint: *constraint,
            met,
            compared: judge.standing(constraint, &tally, &quiet, worth).compared,
        });
        let all: Vec<String> = constraints.iter().map(ToString::to_string).collect();
        Box::new(NothingFeasible {
            constraints: all.join(", "),
            restrictive,
            cells,
            cell,
            nearest: self.evidence.plan.id(cell),
        })
    }
}
