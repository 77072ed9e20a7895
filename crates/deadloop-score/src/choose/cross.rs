//! [`Cross`]: a choice on all transcripts, and the same without each fold, which is what it is scored on.

use super::board::Field;
use crate::tally::Tally;

/// A cell chosen on some transcripts, and those chosen without each fold.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Cross {
    /// Chosen on all; `None`: nothing is within the limits.
    pub(crate) cell: Option<usize>,
    /// Each fold that can be held out, and the cell chosen without it.
    pub(crate) without: Vec<(usize, Option<usize>)>,
}

impl Cross {
    /// The cell that is chosen without a fold, or with all.
    pub(crate) fn cell(&self, without: Option<usize>) -> Option<usize> {
        let Some(fold) = without else {
            return self.cell;
        };
        let of = |(f, cell): &(usize, Option<usize>)| cell.filter(|_| *f == fold);
        self.without.iter().find_map(of)
    }

    /// In how many folds nothing was within the limits.
    pub(crate) fn nothing(&self) -> usize {
        self.without
            .iter()
            .filter(|(_, cell)| cell.is_none())
            .count()
    }

    /// The transcripts of `pick` that are held out, each with its tally under the cell chosen without its fold;
    /// a fold without one is run as `otherwise`.
    pub(crate) fn held_out(
        &self,
        field: &Field<'_>,
        pick: &[usize],
        otherwise: usize,
    ) -> Vec<(usize, Tally)> {
        let mut all = Vec::new();
        for (fold, cell) in &self.without {
            let in_fold = |i: &usize| field.folds[*i] == *fold;
            let left: Vec<usize> = pick.iter().copied().filter(in_fold).collect();
            let outcomes = field
                .evidence
                .outcomes(cell.unwrap_or(otherwise), &left, field.judge);
            all.extend(left.into_iter().zip(outcomes.iter().map(Tally::of)));
        }
        all.sort_unstable_by_key(|(i, _)| *i);
        all
    }

    /// The same cells, each on all the folds together: what those choices look like, where
    /// [`held_out`](Self::held_out) is what they are.
    pub(crate) fn looked(&self, field: &Field<'_>, pick: &[usize], otherwise: usize) -> Tally {
        let held = |i: &usize| {
            self.without
                .iter()
                .any(|(fold, _)| field.folds[*i] == *fold)
        };
        let all: Vec<usize> = pick.iter().copied().filter(held).collect();
        let one = |(_, cell): &(usize, Option<usize>)| {
            let cell = cell.unwrap_or(otherwise);
            field.evidence.tally(cell, &all, field.judge)
        };
        self.without.iter().map(one).sum()
    }
}
