//! [`Board`]: the tallies of all candidate settings on some transcripts, fold by fold.

use std::ops::Range;

use deadloop_replay::{Block, Plan};

use super::ledger::Ledger;
use crate::judge::JudgeOptions;
use crate::tally::{Count, Evidence, Sheet, Tally, tallies};

/// The candidates: which cells of which plan, and the fold of each case.
#[derive(Clone, Copy)]
pub(crate) struct Field<'a> {
    pub(crate) evidence: &'a Evidence<'a>,
    pub(crate) ledger: &'a Ledger,
    pub(crate) candidates: &'a Range<usize>,
    pub(crate) folds: &'a [usize],
    pub(crate) fold_count: usize,
    pub(crate) judge: &'a JudgeOptions,
}

impl<'a> Field<'a> {
    /// The blocks that have candidates, with their index.
    pub(crate) fn blocks(&self) -> impl Iterator<Item = (usize, &'a Block)> + use<'a> {
        blocks(self.evidence.plan, self.candidates)
    }

    /// Calls `visit` with each candidate.
    pub(crate) fn each(&self, mut visit: impl FnMut(&Place)) {
        for (slot, (_, block)) in self.blocks().enumerate() {
            let first = block.first();
            let from = self.candidates.start.max(first);
            let to = self.candidates.end.min(first + block.len());
            let mut place = self.place(slot, block, from);
            block.each(from - first..to - first, |nth, at| {
                place.cell = first + nth;
                place.nth = place.cell - self.candidates.start;
                place.at.copy_from_slice(at);
                visit(&place);
            });
        }
    }

    fn place(&self, slot: usize, block: &Block, cell: usize) -> Place {
        Place {
            // Blocks lie one behind the other.
            nth: cell - self.candidates.start,
            slot,
            cell,
            at: block.at(cell - block.first()),
        }
    }

    /// Where a candidate is.
    pub(crate) fn find(&self, cell: usize) -> Option<Place> {
        let holds = |block: &Block| (block.first()..block.first() + block.len()).contains(&cell);
        let mut blocks = self.blocks().enumerate();
        let (slot, (_, block)) = blocks.find(|(_, (_, block))| holds(block))?;
        let place = || self.place(slot, block, cell);
        self.candidates.contains(&cell).then(place)
    }

    /// Those of `pick` that are not in the fold `without`.
    pub(crate) fn kept(&self, pick: &[usize], without: Option<usize>) -> Vec<usize> {
        let kept = |i: &usize| Some(self.folds[*i]) != without;
        pick.iter().copied().filter(kept).collect()
    }

    /// The tally of a setting that never alarms, on some transcripts.
    pub(crate) fn quiet(&self, pick: &[usize]) -> Tally {
        self.ledger.quiet.over(pick)
    }
}

/// The blocks of a plan that have candidates, with their index.
pub(crate) fn blocks<'a>(
    plan: &'a Plan,
    candidates: &Range<usize>,
) -> impl Iterator<Item = (usize, &'a Block)> + use<'a> {
    let Range { start, end } = *candidates;
    let has = move |b: &Block| b.first() < end && start < b.first() + b.len();
    let blocks = plan.blocks().iter().enumerate();
    blocks.filter(move |(_, block)| has(block))
}

/// Where a candidate is.
pub(crate) struct Place {
    /// Among the candidates.
    pub(crate) nth: usize,
    /// Its block, among those that have candidates.
    pub(crate) slot: usize,
    pub(crate) cell: usize,
    /// The index of its value along each axis of the block.
    pub(crate) at: Vec<u16>,
}

/// Counts of all candidates on some transcripts: those that are asked for.
///
/// Memory: a [`Sheet`] for each block and fold, and 8 bytes for each candidate and count. Each transcript is
/// judged once for all selections.
pub(crate) struct Board {
    counts: Vec<Count>,
    /// For each block that has candidates, a sheet for each fold.
    sheets: Vec<Vec<Sheet>>,
    /// Of each candidate the counts over all folds.
    totals: Vec<i64>,
}

impl Board {
    /// Counts `pick`.
    pub(crate) fn new(field: &Field<'_>, pick: &[usize], counts: &[Count]) -> Self {
        let in_fold = |fold| {
            let members = pick
                .iter()
                .copied()
                .filter(move |i| field.folds[*i] == fold);
            members.collect::<Vec<usize>>()
        };
        let by_fold: Vec<Vec<usize>> = (0..field.fold_count).map(in_fold).collect();
        let sheets = |(index, block): (usize, &Block)| {
            let sheet = |pick: &Vec<usize>| {
                let trials = pick.iter().map(|i| field.evidence.trial(index, *i));
                tallies(&block.shape(), trials, field.judge, counts)
            };
            by_fold.iter().map(sheet).collect()
        };
        let sheets: Vec<Vec<Sheet>> = field.blocks().map(sheets).collect();
        let mut totals = Vec::with_capacity(field.candidates.len() * counts.len());
        field.each(|place| {
            let mut total = Tally::default();
            for sheet in &sheets[place.slot] {
                sheet.add(&place.at, counts, false, &mut total);
            }
            totals.extend(counts.iter().map(|count| total[*count]));
        });
        Self {
            counts: counts.to_vec(),
            sheets,
            totals,
        }
    }

    /// The counts that it has.
    pub(crate) fn counts(&self) -> &[Count] {
        &self.counts
    }

    /// Writes the counts of a candidate on all transcripts, or on all but those of one fold, into `tally`; others
    /// stay as they are there.
    pub(crate) fn read(&self, place: &Place, without: Option<usize>, tally: &mut Tally) {
        let width = self.counts.len();
        let total = &self.totals[place.nth * width..][..width];
        for (count, n) in self.counts.iter().zip(total) {
            tally[*count] = *n;
        }
        if let Some(fold) = without {
            self.sheets[place.slot][fold].add(&place.at, &self.counts, true, tally);
        }
    }
}
