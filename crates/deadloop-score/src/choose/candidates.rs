//! [`CellCounts`]: the counts of every cell of the grids, fold by fold.

use std::collections::BTreeSet;
use std::ops::Range;

use deadloop_replay::Block;

use super::{Chooser, FOLDS, Sample};
use crate::measure::{Measure, SAVED};
use crate::tally::{Count, Sheet, Tally, tallies};

/// The counts of the cells of one block.
struct BlockCounts {
    /// The block's number in the plan.
    index: usize,
    /// The cells of the block that belong to a grid.
    cells: Range<usize>,
    /// The sheets, one per fold.
    sheets: Vec<Sheet>,
    /// The counts of each cell over all folds.
    totals: Vec<i64>,
}

/// The counts of every cell of the grids on a sample.
///
/// Memory: a [`Sheet`] for each block and fold, and 8 bytes for each cell and count.
pub(super) struct CellCounts {
    counts: Vec<Count>,
    blocks: Vec<BlockCounts>,
}

impl CellCounts {
    /// Counts the sample under every cell.
    pub(super) fn new(chooser: &Chooser<'_>, sample: &Sample) -> Self {
        let options = chooser.options;
        let limits = options.constraints.iter().map(|c| c.metric);
        let counts = limits
            .chain([options.objective, &SAVED])
            .flat_map(Measure::counted);
        let counts: BTreeSet<Count> = counts
            .chain(Count::WRONG)
            .chain([Count::Exposure])
            .collect();
        let counts: Vec<Count> = counts.into_iter().collect();
        let by_fold: Vec<Vec<usize>> = (0..FOLDS)
            .map(|fold| {
                sample
                    .pick
                    .iter()
                    .copied()
                    .filter(|i| chooser.folds[*i] == fold)
                    .collect()
            })
            .collect();
        let ranges = chooser.grids.iter().map(|grid| &grid.cells);
        let blocks = chooser.evidence.plan.blocks().iter().enumerate();
        let blocks = blocks.flat_map(|(index, block)| {
            let cells = block.first()..block.first() + block.len();
            let shared =
                |range: &Range<usize>| range.start.max(cells.start)..range.end.min(cells.end);
            let shared: Vec<Range<usize>> = ranges
                .clone()
                .map(shared)
                .filter(|r| !r.is_empty())
                .collect();
            shared.into_iter().map(move |cells| (index, block, cells))
        });
        let count = |(index, block, cells): (usize, &Block, Range<usize>)| {
            let sheet = |pick: &Vec<usize>| {
                let trials = pick.iter().map(|i| chooser.evidence.trial(index, *i));
                tallies(&block.shape(), trials, &options.judge, &counts)
            };
            let sheets: Vec<Sheet> = by_fold.iter().map(sheet).collect();
            let mut totals = Vec::with_capacity(cells.len() * counts.len());
            block.each(
                cells.start - block.first()..cells.end - block.first(),
                |_, at| {
                    let mut total = Tally::default();
                    sheets
                        .iter()
                        .for_each(|sheet| sheet.add(at, &counts, false, &mut total));
                    totals.extend(counts.iter().map(|count| total[*count]));
                },
            );
            BlockCounts {
                index,
                cells,
                sheets,
                totals,
            }
        };
        let blocks = blocks.map(count).collect();
        Self { counts, blocks }
    }

    /// Calls `visit` with each cell and its tally on all transcripts, or on all but one fold.
    ///
    /// The tally has only the counts of the objective, of `saved`, of the limits and of wrong alarms.
    pub(super) fn each(
        &self,
        chooser: &Chooser<'_>,
        without: Option<usize>,
        mut visit: impl FnMut(usize, &Tally),
    ) {
        let width = self.counts.len();
        let mut tally = Tally::default();
        for BlockCounts {
            index,
            cells,
            sheets,
            totals,
        } in &self.blocks
        {
            let block = &chooser.evidence.plan.blocks()[*index];
            let from = cells.start - block.first();
            block.each(from..cells.end - block.first(), |nth, at| {
                let total = &totals[(nth - from) * width..][..width];
                self.counts
                    .iter()
                    .zip(total)
                    .for_each(|(count, n)| tally[*count] = *n);
                if let Some(fold) = without {
                    sheets[fold].add(at, &self.counts, true, &mut tally);
                }
                visit(block.first() + nth, &tally);
            });
        }
    }
}
