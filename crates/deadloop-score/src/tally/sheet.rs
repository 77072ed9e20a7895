//! [`tallies`]: the tallies of all cells of a block of settings at once.
//!
//! Each transcript is judged once for each distinct stop of its boxes. A box accumulates only its change relative to no
//! alarm. Counts that every cell shares are kept separately. The tally of a cell then costs a look-up for each axis.

use std::ops::Range;

use deadloop_replay::{BlockDecision, Region};

use crate::judge::{JudgeOptions, Outcome, ReadChannels, Verdict, judge};
use crate::tally::{BoxAccumulator, Count, MergedGrid, Quantiles, RANKS, Tally, rank};
use crate::truth::Case;

/// A transcript with the decisions of one block on it.
#[derive(Clone, Copy, Debug)]
pub struct BlockTrial<'a> {
    /// The case with its label.
    pub case: &'a Case,
    /// The decisions of the block's settings on the case.
    pub decided: &'a BlockDecision,
    /// The channels of the case that the settings read.
    pub watch: ReadChannels,
}

impl BlockTrial<'_> {
    /// Judges the case under the setting with the `at[i]`-th value along each axis `i`.
    pub fn outcome(&self, at: &[u16], options: &JudgeOptions) -> Outcome {
        match self.decided.error {
            Some(_) => Outcome::error(),
            None => judge(self.case, self.watch, self.decided.stop(at), options),
        }
    }
}

/// The tally of every cell of a block over some transcripts.
///
/// Cells that no box distinguishes are merged. Memory is 8 bytes for each merged cell and each count that some box
/// changes.
#[derive(Clone, Debug)]
pub struct Sheet {
    /// The sum of the tallies without an alarm.
    base: Tally,
    /// The index in [`Count::ALL`] of each accumulated field.
    field_counts: Vec<usize>,
    grid: MergedGrid,
    accumulator: BoxAccumulator,
}

/// A box of one transcript, with its change of the tally.
struct JudgedBox<'a> {
    region: &'a Region,
    /// The range of the box's changes in the draft.
    changes: Range<usize>,
    /// The latency and the number of hits. `None` if the box is no hit.
    hit: Option<(u64, u32)>,
}

/// Computes the tally of every cell of a block over `trials`.
///
/// `shape` is the number of values along each axis. `counts` are the counts that will be read. Fewer counts cost less.
///
/// The cost is a verdict for each distinct stop, 2^k additions for each box and changed count, and k additions for each
/// merged cell and changed count. The cost does not grow with the product of cells and transcripts.
pub fn tallies<'a>(
    shape: &[usize],
    trials: impl IntoIterator<Item = BlockTrial<'a>>,
    options: &JudgeOptions,
    counts: &[Count],
) -> Sheet {
    let mut draft = TallyDraft::default();
    for trial in trials {
        draft.add_trial(trial, options);
    }
    draft.accumulate(shape, counts)
}

/// The tallies and the latency quantiles of the cells of a block.
pub type Sheets = (Sheet, LatencySheet);

/// Computes the tallies as [`tallies`] does, with every count, and the latency quantiles of each cell.
///
/// The quantiles are exact nearest ranks over all loops. They cost one step of a nanosecond or two for each merged cell
/// of each box that is a hit, and 40 bytes for each merged cell.
pub fn tallies_and_latencies<'a>(
    shape: &[usize],
    trials: impl IntoIterator<Item = BlockTrial<'a>>,
    options: &JudgeOptions,
) -> Sheets {
    let mut draft = TallyDraft::default();
    for trial in trials {
        draft.add_trial(trial, options);
    }
    let sheet = draft.accumulate(shape, &Count::ALL);
    let latencies = LatencySheet::new(&sheet, draft.boxes);
    (sheet, latencies)
}

/// The judged boxes of all transcripts, before they are accumulated.
#[derive(Default)]
struct TallyDraft<'a> {
    base: Tally,
    /// The changes of all boxes, each a field and an amount.
    changes: Vec<(usize, i64)>,
    boxes: Vec<JudgedBox<'a>>,
}

impl<'a> TallyDraft<'a> {
    /// Judges the boxes of one transcript.
    fn add_trial(&mut self, trial: BlockTrial<'a>, options: &JudgeOptions) {
        let BlockTrial {
            case,
            decided,
            watch,
        } = trial;
        if decided.error.is_some() {
            self.base += Tally::from_outcome(&Outcome::error());
            return;
        }
        let quiet = Tally::from_outcome(&judge(case, watch, None, options));
        self.base += quiet;
        let mut judged = Vec::with_capacity(decided.stops.len());
        for stop in &decided.stops {
            let outcome = judge(case, watch, Some(stop), options);
            let from = self.changes.len();
            self.changes
                .extend((Tally::from_outcome(&outcome) - quiet).nonzero());
            let hit = outcome.latency.filter(|_| outcome.verdict == Verdict::Hit);
            judged.push((from..self.changes.len(), hit));
        }
        for region in &decided.regions {
            let (changes, hit) = judged[region.stop].clone();
            self.boxes.push(JudgedBox {
                region,
                changes,
                hit: hit.map(|latency| (latency, 1)),
            });
        }
    }

    /// Accumulates the boxes into a sheet with `counts`.
    fn accumulate(&mut self, shape: &[usize], counts: &[Count]) -> Sheet {
        let field_counts = self.assign_fields(counts);
        let grid = MergedGrid::new(shape, self.boxes.iter().map(|s| s.region));
        let mut accumulator = BoxAccumulator::default();
        accumulator.reset(&grid, field_counts.len());
        for one in &self.boxes {
            accumulator.add_box(&grid, one.region, &self.changes[one.changes.clone()]);
        }
        accumulator.compute_sums(&grid);
        Sheet {
            base: self.base,
            field_counts,
            grid,
            accumulator,
        }
    }

    /// Converts the indices of the changed counts to fields, and returns the index of the count of each field.
    ///
    /// Changes of counts that are not in `counts` become 0.
    fn assign_fields(&mut self, counts: &[Count]) -> Vec<usize> {
        let mut field = [None; Count::N];
        let mut field_counts = Vec::new();
        for count in counts.iter().map(|c| *c as usize) {
            if self.changes.iter().any(|(i, _)| *i == count) {
                field[count] = Some(field_counts.len());
                field_counts.push(count);
            }
        }
        for (count, n) in &mut self.changes {
            match field[*count] {
                Some(i) => *count = i,
                None => (*count, *n) = (0, 0),
            }
        }
        if field_counts.is_empty() {
            self.changes.clear();
            self.boxes.iter_mut().for_each(|s| s.changes = 0..0);
        }
        field_counts
    }
}

/// Creates the sheets of [`tallies_and_latencies`] from sums of equal boxes.
///
/// `base` is the tally that every cell shares. `changes` has the change of each box, and `hits` the latency and the
/// number of hits of each box that is a hit.
pub(crate) fn sheets_from_sums(
    shape: &[usize],
    base: Tally,
    changes: &[(Region, Tally)],
    hits: &[(Region, u64, u32)],
) -> Sheets {
    let mut draft = TallyDraft {
        base,
        ..TallyDraft::default()
    };
    for (region, tally) in changes {
        let from = draft.changes.len();
        draft.changes.extend(tally.nonzero());
        draft.boxes.push(JudgedBox {
            region,
            changes: from..draft.changes.len(),
            hit: None,
        });
    }
    draft
        .boxes
        .extend(hits.iter().map(|(region, latency, n)| JudgedBox {
            region,
            changes: 0..0,
            hit: Some((*latency, *n)),
        }));
    let sheet = draft.accumulate(shape, &Count::ALL);
    (sheet.clone(), LatencySheet::new(&sheet, draft.boxes))
}

/// A box, the change of its tally, and the latency if it is a hit.
pub(crate) type BoxChange<'a> = (&'a Region, Tally, Option<u64>);

/// Returns the tally of one transcript without an alarm, and the change of each box.
///
/// [`tallies_and_latencies`] sums the same numbers.
pub(crate) fn box_changes<'a>(
    trial: BlockTrial<'a>,
    options: &JudgeOptions,
) -> (Tally, Vec<BoxChange<'a>>) {
    let mut draft = TallyDraft::default();
    draft.add_trial(trial, options);
    let change = |one: &JudgedBox<'a>| {
        let mut tally = Tally::default();
        for (count, n) in &draft.changes[one.changes.clone()] {
            *tally.count_at(*count) += n;
        }
        (one.region, tally, one.hit.map(|(latency, _)| latency))
    };
    (draft.base, draft.boxes.iter().map(change).collect())
}

impl Sheet {
    /// Returns the tally of the cell with the `at[i]`-th value along each axis `i`.
    ///
    /// A count that was not requested is that of a setting that never alarms.
    pub fn tally(&self, at: &[u16]) -> Tally {
        self.merged_tally(self.grid.index(at))
    }

    /// Returns the index of the merged cell that contains a cell. All cells of a merged cell have the same tally.
    pub(crate) fn index(&self, at: &[u16]) -> usize {
        self.grid.index(at)
    }

    /// Returns the tally of a merged cell.
    fn merged_tally(&self, index: usize) -> Tally {
        let mut tally = self.base;
        for (count, n) in self.field_counts.iter().zip(self.accumulator.cell(index)) {
            *tally.count_at(*count) += n;
        }
        tally
    }

    /// Returns the number of merged cells, which is at least the number of different tallies.
    pub(crate) fn merged_cells(&self) -> usize {
        self.grid.len()
    }
}

/// The latency quantiles of every cell of a block.
#[derive(Clone, Debug)]
pub struct LatencySheet {
    grid: MergedGrid,
    /// The quantiles of each merged cell.
    quantiles: Vec<Quantiles>,
}

impl LatencySheet {
    /// Returns the quantiles of a cell over all loops.
    pub fn quantiles(&self, at: &[u16]) -> Quantiles {
        self.quantiles[self.grid.index(at)]
    }

    fn new(sheet: &Sheet, mut boxes: Vec<JudgedBox>) -> Self {
        boxes.retain(|s| s.hit.is_some());
        boxes.sort_by_key(|s| s.hit);
        let grid = sheet.grid.clone();
        let mut queues: Vec<LatencyQueue> = (0..grid.len())
            .map(|i| LatencyQueue::new(&sheet.merged_tally(i)))
            .collect();
        for one in &boxes {
            let (latency, hits) = one
                .hit
                .map_or((f64::INFINITY, 1), |(hit, n)| (hit as f64, n));
            grid.for_each_row(one.region, |first, n| {
                queues[first..first + n]
                    .iter_mut()
                    .for_each(|queue| queue.add_hits(latency, hits));
            });
        }
        Self {
            grid,
            quantiles: queues.iter().map(LatencyQueue::quantiles).collect(),
        }
    }
}

/// The hits of one cell, which arrive in order of latency. The latency of the hit that reaches a rank is its quantile.
struct LatencyQueue {
    arrived: u32,
    /// The next rank to reach.
    next: u32,
    /// The rank of each quantile of [`RANKS`].
    ranks: [u32; RANKS.len()],
    /// The latency at each rank. Infinite until it is reached.
    latencies: [f64; RANKS.len()],
}

impl LatencyQueue {
    fn new(tally: &Tally) -> Self {
        let small = |q, n| rank(q, n).map_or(0, |k| u32::try_from(k).unwrap_or(u32::MAX));
        let ranks = RANKS.map(|q| small(q, tally.loops()));
        let mut queue = Self {
            arrived: 0,
            next: 0,
            ranks,
            latencies: [f64::INFINITY; RANKS.len()],
        };
        queue.set_next_rank();
        queue
    }

    fn set_next_rank(&mut self) {
        let later = self.ranks.iter().copied().filter(|r| *r > self.arrived);
        self.next = later.min().unwrap_or(u32::MAX);
    }

    fn add_hits(&mut self, latency: f64, hits: u32) {
        let before = self.arrived;
        self.arrived = before.saturating_add(hits);
        if self.arrived >= self.next {
            self.store_latency(latency, before);
        }
    }

    /// Stores the latency for the ranks that were reached since `before` hits.
    #[cold]
    fn store_latency(&mut self, latency: f64, before: u32) {
        for (rank, stored) in self.ranks.iter().zip(&mut self.latencies) {
            if *rank > before && *rank <= self.arrived {
                *stored = latency;
            }
        }
        self.set_next_rank();
    }

    fn quantiles(&self) -> Quantiles {
        let at = |i: usize| (self.ranks[i] > 0).then(|| self.latencies[i]);
        Quantiles {
            p50: at(0),
            p90: at(1),
        }
    }
}
