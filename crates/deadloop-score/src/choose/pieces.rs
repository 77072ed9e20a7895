//! [`EvidencePieces`]: transcripts as evidence for a choice: which of them belong together, and which say the same.

use std::collections::BTreeMap;
use std::sync::Arc;

use deadloop_replay::detect::Unit;

use super::folds::dealt;
use crate::truth::{Case, firsts};

/// Folds of a choice, where nobody says how many.
pub(super) const FOLDS: usize = 5;

/// Transcripts as evidence, each under its number. Rates count all of them; what says how sure a figure is counts copies
/// once.
#[derive(Clone, Debug, Default)]
pub struct EvidencePieces {
    /// The group of each.
    pub groups: Vec<Arc<str>>,
    /// Whether each is the first of its copies.
    pub firsts: Vec<bool>,
    /// The fold of each: what belongs together is in one.
    pub(crate) folds: Vec<usize>,
    /// The number of each one's group, in the order of names.
    pub(super) numbers: Vec<usize>,
}

impl EvidencePieces {
    /// Those of the given cases, in their order. `unit`: in what things are counted, which says what copies are; `strata`: by
    /// what folds are balanced, one a case.
    pub fn of<S: Ord + Copy>(cases: &[&Case], strata: &[S], unit: Unit, seed: u64) -> Self {
        let groups: Vec<Arc<str>> = cases.iter().map(|case| case.cluster().into()).collect();
        let mut named: BTreeMap<&str, usize> = groups.iter().map(|group| (&**group, 0)).collect();
        (0..).zip(named.values_mut()).for_each(|(at, n)| *n = at);
        Self {
            numbers: groups.iter().map(|group| named[&**group]).collect(),
            firsts: firsts(cases, unit),
            folds: dealt(cases, strata, FOLDS, seed),
            groups,
        }
    }

    /// How many folds there are.
    pub(super) fn fold_count(&self) -> usize {
        FOLDS
    }

    /// How many groups there are.
    pub(super) fn group_count(&self) -> usize {
        self.numbers.iter().max().map_or(0, |last| last + 1)
    }

    /// How many there are, copies once.
    pub fn once(&self) -> u64 {
        self.firsts.iter().filter(|first| **first).count() as u64
    }

    /// How many of these there are, copies once.
    pub fn once_of(&self, pieces: impl Iterator<Item = usize>) -> u64 {
        pieces.filter(|piece| self.firsts[*piece]).count() as u64
    }

    /// In how many groups the first of their copies are that `has` is true of.
    pub(crate) fn groups_of(&self, has: impl Fn(usize) -> bool) -> u64 {
        let mut found = vec![false; self.group_count()];
        for (piece, first) in self.firsts.iter().enumerate() {
            found[self.numbers[piece]] |= *first && has(piece);
        }
        found.iter().filter(|found| **found).count() as u64
    }
}
