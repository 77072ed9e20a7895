//! [`tallies`]: the tallies of a whole block of settings at once.
//!
//! Each transcript is judged once for each distinct stop of its boxes. Only the change of a box against "no alarm" is
//! painted. Counts that every cell shares are kept apart. Reading one cell's tally then costs a look-up for each axis.

use std::ops::Range;

use deadloop_replay::{BlockDecision, Region};

use crate::judge::{JudgeOptions, Outcome, ReadChannels, Verdict, judge};
use crate::tally::{Canvas, Count, Painter, Quantiles, RANKS, Tally, rank};
use crate::truth::Case;

/// A transcript with the decisions of one block on it.
#[derive(Clone, Copy, Debug)]
pub struct BlockTrial<'a> {
    /// The case with its label.
    pub case: &'a Case,
    /// The decisions of the block's settings.
    pub decided: &'a BlockDecision,
    /// The channels that the settings read of this transcript.
    pub watch: ReadChannels,
}

impl BlockTrial<'_> {
    /// Judges the setting with the `at[i]`-th value along each axis `i`.
    pub fn outcome(&self, at: &[u16], options: &JudgeOptions) -> Outcome {
        match self.decided.error {
            Some(_) => Outcome::error(),
            None => judge(self.case, self.watch, self.decided.stop(at), options),
        }
    }
}

/// The tally of every cell of a block over some transcripts.
///
/// Memory: 8 bytes for each merged cell and count that any box changes. Cells that no box distinguishes are merged.
#[derive(Clone, Debug)]
pub struct Sheet {
    base: Tally,
    /// The number in [`Count::ALL`] of each painted field.
    slots: Vec<usize>,
    canvas: Canvas,
    painter: Painter,
}

/// A box of a transcript with its changes, before painting.
struct Stroke<'a> {
    region: &'a Region,
    changes: Range<usize>,
    /// The latency and the number of hits. `None` if the box is not a hit.
    hit: Option<(u64, u32)>,
}

/// Tallies `trials` over the cells of a block.
///
/// `shape` is the number of values along each axis. `counts` are the counts that will be read; fewer are cheaper.
///
/// Cost: a verdict for each distinct stop, 2^k additions for each box and changed count, and k additions for each
/// merged cell and changed count. The cost never grows with cells times transcripts.
pub fn tallies<'a>(
    shape: &[usize],
    trials: impl IntoIterator<Item = BlockTrial<'a>>,
    options: &JudgeOptions,
    counts: &[Count],
) -> Sheet {
    let mut draft = TallyDraft::default();
    for trial in trials {
        draft.add(trial, options);
    }
    draft.paint(shape, counts)
}

/// Tallies `trials` like [`tallies`], with every count, and computes the latency quantiles of each cell.
///
/// The quantiles are exact nearest ranks over all loops.
///
/// Additional cost: one step for each merged cell of each box that is a hit (so at most loops x cells, a nanosecond or
/// two each), in order of latency, and 40 bytes for each merged cell.
pub fn tallies_and_latencies<'a>(
    shape: &[usize],
    trials: impl IntoIterator<Item = BlockTrial<'a>>,
    options: &JudgeOptions,
) -> (Sheet, LatencySheet) {
    let mut draft = TallyDraft::default();
    for trial in trials {
        draft.add(trial, options);
    }
    let sheet = draft.paint(shape, &Count::ALL);
    let latencies = LatencySheet::new(&sheet, draft.strokes);
    (sheet, latencies)
}

#[derive(Default)]
struct TallyDraft<'a> {
    base: Tally,
    changes: Vec<(usize, i64)>,
    strokes: Vec<Stroke<'a>>,
}

impl<'a> TallyDraft<'a> {
    fn add(&mut self, trial: BlockTrial<'a>, options: &JudgeOptions) {
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
            self.strokes.push(Stroke {
                region,
                changes,
                hit: hit.map(|latency| (latency, 1)),
            });
        }
    }

    fn paint(&mut self, shape: &[usize], counts: &[Count]) -> Sheet {
        let slots = self.renumber(counts);
        let canvas = Canvas::new(shape, self.strokes.iter().map(|s| s.region));
        let mut painter = Painter::default();
        painter.start(&canvas, slots.len());
        for stroke in &self.strokes {
            painter.add(
                &canvas,
                stroke.region,
                &self.changes[stroke.changes.clone()],
            );
        }
        painter.finish(&canvas);
        Sheet {
            base: self.base,
            slots,
            canvas,
            painter,
        }
    }

    /// Renumbers the changed counts in `counts` as the painter's fields, and returns the count of each field.
    ///
    /// Changes of other counts become 0.
    fn renumber(&mut self, counts: &[Count]) -> Vec<usize> {
        let mut field = [None; Count::N];
        let mut slots = Vec::new();
        for count in counts.iter().map(|c| *c as usize) {
            if self.changes.iter().any(|(i, _)| *i == count) {
                field[count] = Some(slots.len());
                slots.push(count);
            }
        }
        for (count, n) in &mut self.changes {
            match field[*count] {
                Some(i) => *count = i,
                None => (*count, *n) = (0, 0),
            }
        }
        if slots.is_empty() {
            self.changes.clear();
            self.strokes.iter_mut().for_each(|s| s.changes = 0..0);
        }
        slots
    }
}

/// Builds the sheets of [`tallies_and_latencies`] from sums of equal boxes.
///
/// `base` is shared by every cell. `changes` has the change of each box, `hits` the latency and the number of hits of
/// each box that is a hit.
pub(crate) fn sum_boxes(
    shape: &[usize],
    base: Tally,
    changes: &[(Region, Tally)],
    hits: &[(Region, u64, u32)],
) -> (Sheet, LatencySheet) {
    let mut draft = TallyDraft {
        base,
        ..TallyDraft::default()
    };
    for (region, tally) in changes {
        let from = draft.changes.len();
        draft.changes.extend(tally.nonzero());
        draft.strokes.push(Stroke {
            region,
            changes: from..draft.changes.len(),
            hit: None,
        });
    }
    draft
        .strokes
        .extend(hits.iter().map(|(region, latency, n)| Stroke {
            region,
            changes: 0..0,
            hit: Some((*latency, *n)),
        }));
    let sheet = draft.paint(shape, &Count::ALL);
    (sheet.clone(), LatencySheet::new(&sheet, draft.strokes))
}

/// A box, its changes, and its latency if it is a hit.
pub(crate) type BoxChange<'a> = (&'a Region, Tally, Option<u64>);

/// Returns the contribution of one transcript: the tally without an alarm, and the change of each box.
///
/// [`tallies_and_latencies`] adds the same numbers.
pub(crate) fn changes<'a>(
    trial: BlockTrial<'a>,
    options: &JudgeOptions,
) -> (Tally, Vec<BoxChange<'a>>) {
    let mut draft = TallyDraft::default();
    draft.add(trial, options);
    let change = |stroke: &Stroke<'a>| {
        let mut tally = Tally::default();
        for (count, n) in &draft.changes[stroke.changes.clone()] {
            *tally.slot(*count) += n;
        }
        (stroke.region, tally, stroke.hit.map(|(latency, _)| latency))
    };
    (draft.base, draft.strokes.iter().map(change).collect())
}

impl Sheet {
    /// Returns the tally of the cell with the `at[i]`-th value along each axis `i`.
    ///
    /// Counts that were not requested are those of a setting that never alarms.
    pub fn tally(&self, at: &[u16]) -> Tally {
        self.merged_tally(self.canvas.index(at))
    }

    /// Returns the merged cell of a cell. All cells of a merged cell have the same tally.
    pub(crate) fn index(&self, at: &[u16]) -> usize {
        self.canvas.index(at)
    }

    /// Returns the tally of a merged cell.
    fn merged_tally(&self, index: usize) -> Tally {
        let mut tally = self.base;
        for (slot, n) in self.slots.iter().zip(self.painter.cell(index)) {
            *tally.slot(*slot) += n;
        }
        tally
    }

    /// Returns the number of merged cells, an upper bound on the number of different tallies.
    pub(crate) fn merged_cells(&self) -> usize {
        self.canvas.len()
    }
}

/// The latency quantiles of every cell of a block.
#[derive(Clone, Debug)]
pub struct LatencySheet {
    canvas: Canvas,
    /// The quantiles of each merged cell.
    quantiles: Vec<Quantiles>,
}

impl LatencySheet {
    /// Returns the quantiles of a cell over all loops.
    pub fn quantiles(&self, at: &[u16]) -> Quantiles {
        self.quantiles[self.canvas.index(at)]
    }

    fn new(sheet: &Sheet, mut strokes: Vec<Stroke>) -> Self {
        strokes.retain(|s| s.hit.is_some());
        strokes.sort_by_key(|s| s.hit);
        let canvas = sheet.canvas.clone();
        let mut queues: Vec<LatencyQueue> = (0..canvas.len())
            .map(|i| LatencyQueue::new(&sheet.merged_tally(i)))
            .collect();
        for stroke in &strokes {
            let (latency, hits) = stroke
                .hit
                .map_or((f64::INFINITY, 1), |(hit, n)| (hit as f64, n));
            canvas.each_row(stroke.region, |first, n| {
                queues[first..first + n]
                    .iter_mut()
                    .for_each(|queue| queue.arrive(latency, hits));
            });
        }
        Self {
            canvas,
            quantiles: queues.iter().map(LatencyQueue::quantiles).collect(),
        }
    }
}

/// The hits of one cell, arriving in order of latency. The hit that reaches a rank is its quantile.
struct LatencyQueue {
    arrived: u32,
    /// The next rank to reach.
    next: u32,
    ranks: [u32; RANKS.len()],
    found: [f64; RANKS.len()],
}

impl LatencyQueue {
    fn new(tally: &Tally) -> Self {
        let small = |q, n| rank(q, n).map_or(0, |k| u32::try_from(k).unwrap_or(u32::MAX));
        let ranks = RANKS.map(|q| small(q, tally.loops()));
        let mut queue = Self {
            arrived: 0,
            next: 0,
            ranks,
            found: [f64::INFINITY; RANKS.len()],
        };
        queue.set_next_rank();
        queue
    }

    fn set_next_rank(&mut self) {
        let later = self.ranks.iter().copied().filter(|r| *r > self.arrived);
        self.next = later.min().unwrap_or(u32::MAX);
    }

    fn arrive(&mut self, latency: f64, n: u32) {
        let before = self.arrived;
        self.arrived = before.saturating_add(n);
        if self.arrived >= self.next {
            self.store_latency(latency, before);
        }
    }

    /// Stores the latency for the ranks passed since `before` hits.
    #[cold]
    fn store_latency(&mut self, latency: f64, before: u32) {
        for (rank, found) in self.ranks.iter().zip(&mut self.found) {
            if *rank > before && *rank <= self.arrived {
                *found = latency;
            }
        }
        self.set_next_rank();
    }

    fn quantiles(&self) -> Quantiles {
        let at = |i: usize| (self.ranks[i] > 0).then(|| self.found[i]);
        Quantiles {
            p50: at(0),
            p90: at(1),
        }
    }
}
