//! [`standings`]: the figures of every cell of the grids, with and without each fold.

use std::collections::BTreeSet;
use std::ops::Range;

use super::{ChooseOptions, Chooser, FOLDS, Sample};
use crate::measure::{Measure, SAVED};
use crate::tally::{Count, Sheet, Tally, tallies};

/// Figures of a cell of the grids on some transcripts.
#[derive(Clone, Copy)]
pub(super) struct CellFigures {
    pub(super) cell: usize,
    /// Value of the objective, signed so that more is better.
    pub(super) merit: f64,
    /// Share of the looping output that is saved.
    pub(super) saved: f64,
    /// Number of wrong alarms.
    pub(super) wrong: u64,
    /// Rate of wrong alarms, in the measure of the limit.
    pub(super) rate: f64,
    /// Whether the cell meets every limit except the one on wrong alarms.
    pub(super) meets_others: bool,
}

impl CellFigures {
    fn new(cell: usize, tally: &Tally, options: &ChooseOptions) -> Self {
        let value = |metric: &Measure| metric.value(tally, &options.worth).unwrap_or(0.0);
        Self {
            cell,
            merit: options.merit(tally),
            saved: value(&SAVED),
            wrong: tally.wrong(),
            rate: value(options.limited()),
            meets_others: options.meets_others(tally),
        }
    }
}

/// Computes the figures of every cell of the grids on a sample: first on all transcripts, then once for each fold left
/// out.
///
/// Holds one [`Sheet`] for each fold of one block at a time.
pub(super) fn standings(chooser: &Chooser<'_>, sample: &Sample) -> Vec<Vec<CellFigures>> {
    let (options, plan) = (chooser.options, chooser.evidence.plan);
    let limits = options.constraints.iter().map(|c| c.metric);
    let measures = limits.chain([options.objective, &SAVED]);
    let counts = measures.flat_map(Measure::counts_used);
    let counts = counts.chain(Count::WRONG).chain([Count::Exposure]);
    let counts: BTreeSet<Count> = counts.collect();
    let counts: Vec<Count> = counts.into_iter().collect();
    let mut standings = vec![Vec::new(); 1 + FOLDS];
    for (index, block) in plan.blocks().iter().enumerate() {
        let first = block.first();
        let shared = |cells: &Range<usize>| {
            cells.start.max(first) - first..cells.end.clamp(first, first + block.len()) - first
        };
        let ranges = chooser.grids.iter().map(|grid| shared(&grid.cells));
        let ranges: Vec<Range<usize>> = ranges.filter(|cells| !cells.is_empty()).collect();
        if ranges.is_empty() {
            continue;
        }
        let sheet = |fold: usize| {
            let pick = sample.pick.iter().filter(|i| chooser.folds[**i] == fold);
            let trials = pick.map(|i| chooser.evidence.trial(index, *i));
            tallies(&block.shape(), trials, &options.judge, &counts)
        };
        let sheets: [Sheet; FOLDS] = std::array::from_fn(sheet);
        for cells in ranges {
            block.each(cells, |nth, at| {
                let of_folds = sheets.each_ref().map(|sheet| sheet.tally(at));
                let all: Tally = of_folds.into_iter().sum();
                let without = of_folds.into_iter().map(|fold| all - fold);
                let figures = std::iter::once(all).chain(without);
                for (standing, tally) in standings.iter_mut().zip(figures) {
                    standing.push(CellFigures::new(first + nth, &tally, options));
                }
            });
        }
    }
    standings
}
