//! [`AnyEvidence`]: cases beside what every setting said of them, however both are held.

use std::collections::BTreeMap;
use std::fmt::Debug;

use deadloop_replay::Plan;

use crate::judge::{JudgeOptions, Outcome};
use crate::tally::sheet::{LatencySheet, Sheet, tallies_and_latencies};
use crate::tally::{Evidence, Tally, Trial};
use crate::truth::{Case, Cases};

/// [`Evidence`], or [`PackedEvidence`](crate::PackedEvidence): what the tables of a run are made from.
pub trait AnyEvidence: Copy + Debug {
    /// How the cases are held.
    type Cases: Cases + ?Sized;

    /// The settings.
    fn plan(&self) -> &Plan;

    /// What is true.
    fn cases(&self) -> &Self::Cases;

    /// Looks at one case against one block.
    fn on_trial<T>(&self, block: usize, case: usize, look: impl FnOnce(Trial<'_>) -> T) -> T;

    /// How many boxes the cells of a block make of one case.
    fn boxes(&self, block: usize, case: usize) -> usize {
        self.on_trial(block, case, |trial| trial.decided.regions.len())
    }

    /// The tally and the latencies of every cell of a block on the chosen cases.
    fn painted(
        &self,
        block: usize,
        pick: &[usize],
        options: &JudgeOptions,
    ) -> (Sheet, LatencySheet);

    /// The number of every case.
    fn every(&self) -> Vec<usize> {
        (0..self.cases().number()).collect()
    }

    /// The cases of each model, by their numbers.
    fn by_model(&self) -> BTreeMap<String, Vec<usize>> {
        let mut models: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        self.cases()
            .each(|i, case| match models.get_mut(&*case.model) {
                Some(pick) => pick.push(i),
                None => drop(models.insert(case.model.to_string(), vec![i])),
            });
        models
    }

    /// Hands out what came of each of the chosen cases under one setting, with the case.
    fn each_judged(
        &self,
        cell: usize,
        pick: &[usize],
        options: &JudgeOptions,
        mut take: impl FnMut(usize, &Case, Outcome),
    ) {
        let place = self.plan().cell(cell);
        for i in pick {
            self.on_trial(place.block, *i, |trial| {
                take(*i, trial.case, trial.outcome(&place.at, options));
            });
        }
    }

    /// Their tally.
    fn tally_of(&self, cell: usize, pick: &[usize], options: &JudgeOptions) -> Tally {
        let mut sum = Tally::default();
        self.each_judged(cell, pick, options, |_, _, outcome| {
            sum += Tally::of(&outcome);
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

    fn on_trial<T>(&self, block: usize, case: usize, look: impl FnOnce(Trial<'_>) -> T) -> T {
        look(self.trial(block, case))
    }

    fn painted(
        &self,
        block: usize,
        pick: &[usize],
        options: &JudgeOptions,
    ) -> (Sheet, LatencySheet) {
        let shape = self.plan.blocks()[block].shape();
        let trials = pick.iter().map(|i| self.trial(block, *i));
        tallies_and_latencies(&shape, trials, options)
    }
}
