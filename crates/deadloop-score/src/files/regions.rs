//! `regions.jsonl.zst`: which verdict each transcript has in which cells, as boxes, so that a report can tell what
//! another cell would flip without replaying anything.
//!
//! The first line says how it is to be read; then one line a block of the plan, in its order. A box is a run of whole
//! numbers: transcript, verdict, alarm + 1 (0: none), then for each axis its first value and one past its last.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::store::{FileError, read_lines, write_lines};
use crate::judge::{JudgeOptions, Outcome, Verdict, judge};
use crate::tally::Evidence;

/// The file's name.
const NAME: &str = "regions.jsonl.zst";
/// Boxes that are kept at most; blocks past it have none, and are counted.
const MAX_BOXES: usize = 1_000_000;

/// What the first line says.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RegionsHead {
    /// Cells of the grids; those after them are named settings.
    pub grid_cells: usize,
    /// The verdicts, by the numbers that stand for them.
    pub verdicts: Vec<Verdict>,
    /// The transcripts, by the numbers that stand for them.
    pub transcripts: Vec<Watched>,
    /// Blocks whose boxes were left out for their number.
    pub left_out: usize,
}

/// A transcript.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Watched {
    /// Its id.
    pub id: String,
    /// Its model.
    pub model: String,
    /// Its verdict under a setting that never alarms.
    pub quiet: Verdict,
    /// Where its first loop begins.
    pub onset: Option<u64>,
}

/// The boxes of a block.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RegionBlock {
    /// The number of its first cell.
    pub first: usize,
    /// How many cells it has.
    pub cells: usize,
    /// The setting of its first cell.
    pub setting: String,
    /// How many values each axis has, outermost first.
    pub shape: Vec<usize>,
    /// The places of its cells in the product of the axes; none: all of it.
    pub possible: Option<Vec<usize>>,
    /// The boxes; none: left out.
    pub boxes: Option<Vec<u64>>,
}

/// The file, read back.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Regions {
    /// How it is to be read.
    pub head: RegionsHead,
    /// A block of the plan each.
    pub blocks: Vec<RegionBlock>,
}

impl RegionBlock {
    /// How many numbers a box is.
    pub fn stride(&self) -> usize {
        3 + 2 * self.shape.len()
    }
}

impl Regions {
    /// Reads the file; `None` where there is no such file.
    pub fn read(dir: &Path) -> Result<Option<Self>, FileError> {
        let path = dir.join(NAME);
        let mut regions = Self::default();
        let found = read_lines(&path, |number, line| {
            let bad = |e: serde_json::Error| FileError::at(&path, format!("line {number}: {e}"));
            if number == 1 {
                regions.head = serde_json::from_str(line).map_err(bad)?;
            } else {
                regions
                    .blocks
                    .push(serde_json::from_str(line).map_err(bad)?);
            }
            Ok(())
        })?;
        Ok(found.then_some(regions))
    }
}

/// Writes `regions.jsonl.zst`. `grid_cells`: how many cells come from grids; `first`: cells whose blocks are kept
/// before others where not all can be.
pub fn write_regions(
    dir: &Path,
    evidence: &Evidence<'_>,
    grid_cells: usize,
    first: &[usize],
    options: &JudgeOptions,
) -> Result<(), FileError> {
    let kept = kept(evidence, first);
    let head = RegionsHead {
        grid_cells,
        verdicts: Verdict::ALL.to_vec(),
        transcripts: (0..evidence.cases.len())
            .map(|case| watched(evidence, case, options))
            .collect(),
        left_out: kept.iter().filter(|kept| !**kept).count(),
    };
    let blocks = evidence.plan.blocks().iter().enumerate().zip(kept);
    let lines = blocks.map(|((index, block), kept)| {
        let cells = block.len();
        let shape = block.shape();
        let whole = shape.iter().product::<usize>() == cells;
        serde_json::to_string(&RegionBlock {
            first: block.first(),
            cells,
            setting: evidence.plan.id(block.first()),
            possible: (!whole).then(|| (0..cells).map(|nth| block.dense(nth)).collect()),
            boxes: kept.then(|| boxes(evidence, index, options)),
            shape,
        })
    });
    let head = std::iter::once_with(|| serde_json::to_string(&head));
    write_lines(&dir.join(NAME), head.chain(lines))
}

/// Whether each block's boxes are kept: those of `first`, then the others in order, up to the limit.
fn kept(evidence: &Evidence<'_>, first: &[usize]) -> Vec<bool> {
    let blocks = evidence.plan.blocks().len();
    let mut order: Vec<usize> = first
        .iter()
        .map(|cell| evidence.plan.cell(*cell).block)
        .collect();
    order.extend(0..blocks);
    let mut decided = vec![None; blocks];
    let mut room = MAX_BOXES;
    for block in order {
        if decided[block].is_none() {
            let boxes: usize = evidence
                .records
                .iter()
                .map(|record| record.blocks[block].regions.len())
                .sum();
            decided[block] = Some(boxes <= room);
            room = room.checked_sub(boxes).unwrap_or(room);
        }
    }
    decided.into_iter().map(|kept| kept == Some(true)).collect()
}

fn watched(evidence: &Evidence<'_>, case: usize, options: &JudgeOptions) -> Watched {
    let it = &evidence.cases[case];
    let quiet = evidence
        .plan
        .blocks()
        .first()
        .map_or(Verdict::Unlabelled, |_| {
            let trial = evidence.trial(0, case);
            judge(trial.case, trial.watch, None, options).verdict
        });
    Watched {
        id: it.id.to_string(),
        model: it.model.to_string(),
        quiet,
        onset: it
            .truth
            .as_ref()
            .and_then(|truth| Some(truth.first_loop_in(options.unit)?.onset.count())),
    }
}

/// The boxes of all transcripts in one block.
fn boxes(evidence: &Evidence<'_>, block: usize, options: &JudgeOptions) -> Vec<u64> {
    let code = |verdict: Verdict| {
        let at = Verdict::ALL.iter().position(|other| *other == verdict);
        at.unwrap_or(Verdict::ALL.len()) as u64
    };
    let shape = evidence.plan.blocks()[block].shape();
    let mut all = Vec::new();
    for case in 0..evidence.cases.len() {
        let trial = evidence.trial(block, case);
        if trial.decided.error.is_some() {
            all.extend([case as u64, code(Outcome::error().verdict), 0]);
            all.extend(shape.iter().flat_map(|n| [0, *n as u64]));
            continue;
        }
        let judged: Vec<[u64; 2]> = trial
            .decided
            .stops
            .iter()
            .map(|stop| {
                let verdict = judge(trial.case, trial.watch, Some(stop), options).verdict;
                let at = options.moment(stop).seen.count(stop.channel);
                [code(verdict), at + 1]
            })
            .collect();
        for region in &trial.decided.regions {
            all.push(case as u64);
            all.extend(judged[region.stop]);
            let along = region.lo.iter().zip(&region.hi);
            all.extend(along.flat_map(|(lo, hi)| [u64::from(*lo), u64::from(*hi)]));
        }
    }
    all
}
