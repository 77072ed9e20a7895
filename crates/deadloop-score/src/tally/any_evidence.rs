//! [`AnyEvidence`]: cases and records of a run, packed or not.

use std::collections::BTreeMap;
use std::fmt::Debug;

use deadloop_replay::Plan;

use crate::judge::{JudgeOptions, Outcome};
use crate::tally::sheet::{Sheets, tallies_and_latencies};
use crate::tally::{BlockTrial, Evidence, Tally};
use crate::truth::{Case, CaseSet};

/// The cases and records of a run: [`Evidence`] or [`PackedEvidence`](crate::PackedEvidence).
pub trait AnyEvidence: Copy + Debug {
    /// The type of the container of the cases.
    type Cases: CaseSet + ?Sized;

    /// Returns the plan with the settings of the run.
    fn plan(&self) -> &Plan;

    /// Returns the cases of the run.
    fn cases(&self) -> &Self::Cases;

    /// Calls `visit` with one case and the decisions of one block on it. Returns the result of `visit`.
    fn on_trial<T>(&self, block: usize, case: usize, visit: impl FnOnce(BlockTrial<'_>) -> T) -> T;

    /// Returns the number of boxes of one case. A box is a range of a block's cells with the same decision on the case.
    fn boxes(&self, block: usize, case: usize) -> usize {
        self.on_trial(block, case, |trial| trial.decided.regions.len())
    }

    /// Computes the tally and the latencies of every cell of a block on the picked cases.
    fn tally_block(&self, block: usize, pick: &[usize], options: &JudgeOptions) -> Sheets;

    /// Returns the indices of all cases.
    fn every(&self) -> Vec<usize> {
        (0..self.cases().number()).collect()
    }

    /// Returns the indices of the cases of each model.
    fn by_model(&self) -> BTreeMap<String, Vec<usize>> {
        let mut models: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        self.cases()
            .each(|i, case| match models.get_mut(&*case.model) {
                Some(pick) => pick.push(i),
                None => drop(models.insert(case.model.to_string(), vec![i])),
            });
        models
    }

    /// Calls `visit` with the index, the case and the outcome of each picked case under one setting.
    fn each_judged(
        &self,
        cell: usize,
        pick: &[usize],
        options: &JudgeOptions,
        mut visit: impl FnMut(usize, &Case, Outcome),
    ) {
        let cell = self.plan().cell(cell);
        for i in pick {
            self.on_trial(cell.block, *i, |trial| {
                visit(*i, trial.case, trial.outcome(&cell.at, options));
            });
        }
    }

    /// Returns the tally of one setting on the picked cases.
    fn tally_of(&self, cell: usize, pick: &[usize], options: &JudgeOptions) -> Tally {
        let mut sum = Tally::default();
        self.each_judged(cell, pick, options, |_, _, outcome| {
            sum += Tally::from_outcome(&outcome);
        });
        sum
    }
}

impl AnyEvidence for Evidence<'_> {
    type Cases = [Case];

    fn plan(&self) -> &Plan {
        self.plan
    }

    fn cases(&self) -> &[Case] {
        self.cases
    }

    fn on_trial<T>(&self, block: usize, case: usize, visit: impl FnOnce(BlockTrial<'_>) -> T) -> T {
        visit(self.trial(block, case))
    }

    fn tally_block(&self, block: usize, pick: &[usize], options: &JudgeOptions) -> Sheets {
        let shape = self.plan.blocks()[block].shape();
        let trials = pick.iter().map(|i| self.trial(block, *i));
        tallies_and_latencies(&shape, trials, options)
    }
}
