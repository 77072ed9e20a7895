//! [`BudgetRuns`]: the runs of a corpus as evidence: which of them belong together, and which say the same.

use std::sync::Arc;

use deadloop_replay::detect::Unit;

use crate::choose::folds::together;
use crate::truth::{Case, firsts};

/// Runs as evidence, each under its number. Rates count all of them; what says how sure a figure is counts copies once.
#[derive(Clone, Debug, Default)]
pub struct BudgetRuns {
    /// The group of each.
    pub groups: Vec<Arc<str>>,
    /// Whether each is the first of its copies: runs with equal calls and results are copies.
    pub firsts: Vec<bool>,
    /// What each is in one fold with: its group, and the groups that share a run with it.
    pub(super) folded: Vec<Arc<str>>,
}

impl BudgetRuns {
    /// Those of the given cases, in their order.
    pub fn of(cases: &[&Case]) -> Self {
        let mut folded: Vec<Arc<str>> = vec!["".into(); cases.len()];
        for (name, members) in together(cases) {
            let name: Arc<str> = name.into();
            members.iter().for_each(|i| folded[*i] = name.clone());
        }
        Self {
            groups: cases.iter().map(|case| case.cluster().into()).collect(),
            firsts: firsts(cases, Unit::Calls),
            folded,
        }
    }

    /// How many there are, copies once.
    pub fn once(&self) -> u64 {
        self.firsts.iter().filter(|first| **first).count() as u64
    }

    /// How many of these there are, copies once.
    pub fn once_of(&self, runs: impl Iterator<Item = usize>) -> u64 {
        runs.filter(|run| self.firsts[*run]).count() as u64
    }
}
