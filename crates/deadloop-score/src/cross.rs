//! [`Cross`]: a selection on all transcripts, and the same without each fold, which is what it is
//! scored on.

use crate::board::Field;
use crate::infeasible::NothingFeasible;
use crate::select::{Selected, Selection};
use crate::tally::Tally;

/// A selection on some transcripts, and those without each fold.
pub(crate) struct Cross {
    pub(crate) selected: Selected,
    /// Each fold that can be held out, and the cell chosen without it: for one model the pooled one where
    /// none of its own was feasible, as it is on all transcripts. `None`: nothing was feasible.
    without: Vec<(usize, Option<usize>)>,
}

impl Cross {
    /// Selects with and without each fold but the first `raced`, which a search has looked at: no
    /// choice among what it left is made without those.
    ///
    /// # Errors
    /// Nothing is feasible on all transcripts.
    pub(crate) fn of(
        selection: &Selection<'_>,
        raced: usize,
    ) -> Result<Self, Box<NothingFeasible>> {
        let without = |fold| {
            let own = selection.select(Some(fold)).ok().map(|s| s.cell);
            (fold, own.or_else(|| selection.pooled(Some(fold))))
        };
        Ok(Self {
            selected: selection.select(None)?,
            without: (raced..selection.field.fold_count).map(without).collect(),
        })
    }

    /// The cell that is chosen without a fold, or with all.
    pub(crate) fn cell(&self, without: Option<usize>) -> Option<usize> {
        let Some(fold) = without else {
            return Some(self.selected.cell);
        };
        let of = |(f, cell): &(usize, Option<usize>)| cell.filter(|_| *f == fold);
        self.without.iter().find_map(of)
    }

    /// In how many folds nothing was feasible.
    pub(crate) fn nothing(&self) -> usize {
        self.without
            .iter()
            .filter(|(_, cell)| cell.is_none())
            .count()
    }

    /// Each fold of `pick` under the cell that was chosen without it; where nothing was feasible,
    /// without a detector.
    pub(crate) fn held_out(&self, field: &Field<'_>, pick: &[usize]) -> Tally {
        let of = |(fold, cell): &(usize, Option<usize>)| {
            let in_fold = |i: &usize| field.folds[*i] == *fold;
            let left: Vec<usize> = pick.iter().copied().filter(in_fold).collect();
            tally(field, *cell, &left)
        };
        self.without.iter().map(of).sum()
    }

    /// The same cells, each on all the folds together: what those choices look like, where
    /// [`held_out`](Self::held_out) is what they are.
    pub(crate) fn looked(&self, field: &Field<'_>, pick: &[usize]) -> Tally {
        let held = |i: &usize| {
            self.without
                .iter()
                .any(|(fold, _)| field.folds[*i] == *fold)
        };
        let all: Vec<usize> = pick.iter().copied().filter(held).collect();
        self.without
            .iter()
            .map(|(_, cell)| tally(field, *cell, &all))
            .sum()
    }
}

fn tally(field: &Field<'_>, cell: Option<usize>, pick: &[usize]) -> Tally {
    match cell {
        Some(cell) => field.evidence.tally(cell, pick, field.judge),
        None => field.quiet(pick),
    }
}
