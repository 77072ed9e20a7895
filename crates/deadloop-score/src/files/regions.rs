//! `regions.jsonl.zst`: which verdict each transcript has in which cells, as boxes, so that a report can tell what
//! another cell would flip without replaying anything.
//!
//! The first line says how it is to be read; then one line a block of the plan, in its order. A box is a run of whole
//! numbers: transcript, verdict, alarm + 1 (0: none), then for each axis its first value and one past its last.

use std::path::Path;

use serde::{Deserialize, Serialize, Serializer};

use super::store::{FileError, open_lines, read_lines, write_headed_lines};
use crate::judge::{JudgeOptions, Outcome, Verdict, judge};
use crate::tally::{AnyEvidence, Trial};
use crate::truth::Cases;

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
    pub transcripts: Vec<WatchedText>,
    /// Blocks whose boxes were left out for their number.
    pub left_out: usize,
}

/// A transcript.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WatchedText {
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
    /// Reads the file where a grid of several cells was searched; `None` elsewhere. Whether one was is seen without what
    /// the file says of each transcript.
    pub fn of_grid(dir: &Path) -> Result<Option<Self>, FileError> {
        #[derive(Deserialize)]
        struct Peek {
            grid_cells: usize,
        }
        let path = dir.join(NAME);
        let failed = |e: &dyn std::fmt::Display| FileError::at(&path, e);
        let Some(lines) = open_lines(&path)? else {
            return Ok(None);
        };
        let mut heads = serde_json::Deserializer::from_reader(lines).into_iter();
        match heads.next() {
            Some(Ok(Peek { grid_cells: 0 | 1 })) | None => Ok(None),
            Some(Ok(_)) => Self::read(dir),
            Some(Err(e)) => Err(failed(&format!("line 1: {e}"))),
        }
    }

    /// What a cell of the plan says of each transcript, in the order of the head: the verdict, and how much of its channel had
    /// arrived at the alarm. `None` where the cell is not there, or its boxes were left out.
    pub fn cell(&self, number: usize) -> Option<Vec<(Verdict, Option<u64>)>> {
        let holds =
            |block: &&RegionBlock| (block.first..block.first + block.cells).contains(&number);
        let block = self.blocks.iter().find(holds)?;
        let nth = number - block.first;
        let mut place = match &block.possible {
            Some(places) => *places.get(nth)?,
            None => nth,
        };
        let mut at = vec![0; block.shape.len()];
        for (value, values) in at.iter_mut().zip(&block.shape).rev() {
            *value = (place % values) as u64;
            place /= values;
        }
        let quiet = self.head.transcripts.iter().map(|of| (of.quiet, None));
        let mut said: Vec<(Verdict, Option<u64>)> = quiet.collect();
        for one in block.boxes.as_ref()?.chunks_exact(block.stride()) {
            let ends = one[3..].chunks_exact(2);
            if at
                .iter()
                .zip(ends)
                .all(|(value, ends)| (ends[0]..ends[1]).contains(value))
            {
                let of = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
                let verdict = self.head.verdicts.get(of(one[1]))?;
                *said.get_mut(of(one[0]))? = (*verdict, one[2].checked_sub(1));
            }
        }
        Some(said)
    }

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
pub fn write_regions<E: AnyEvidence>(
    dir: &Path,
    evidence: &E,
    grid_cells: usize,
    first: &[usize],
    options: &JudgeOptions,
) -> Result<(), FileError> {
    let kept = kept(evidence, first);
    let head = Head {
        grid_cells,
        verdicts: Verdict::ALL.to_vec(),
        transcripts: Transcripts { evidence, options },
        left_out: kept.iter().filter(|kept| !**kept).count(),
    };
    let plan = evidence.plan();
    let blocks = plan.blocks().iter().enumerate().zip(kept);
    let lines = blocks.map(|((index, block), kept)| {
        let cells = block.len();
        let shape = block.shape();
        let whole = shape.iter().product::<usize>() == cells;
        serde_json::to_string(&RegionBlock {
            first: block.first(),
            cells,
            setting: plan.id(block.first()),
            possible: (!whole).then(|| (0..cells).map(|nth| block.dense(nth)).collect()),
            boxes: kept.then(|| boxes(evidence, index, options)),
            shape,
        })
    });
    write_headed_lines(&dir.join(NAME), &head, lines)
}

/// [`RegionsHead`] as it is written: transcript after transcript, none kept.
#[derive(Serialize)]
#[serde(bound = "")]
struct Head<'a, E: AnyEvidence> {
    grid_cells: usize,
    verdicts: Vec<Verdict>,
    transcripts: Transcripts<'a, E>,
    left_out: usize,
}

struct Transcripts<'a, E> {
    evidence: &'a E,
    options: &'a JudgeOptions,
}

impl<E: AnyEvidence> Serialize for Transcripts<'_, E> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let cases = 0..self.evidence.cases().number();
        to.collect_seq(cases.map(|case| watched(self.evidence, case, self.options)))
    }
}

/// Whether each block's boxes are kept: those of `first`, then the others in order, up to the limit.
fn kept(evidence: &impl AnyEvidence, first: &[usize]) -> Vec<bool> {
    let plan = evidence.plan();
    let blocks = plan.blocks().len();
    let mut order: Vec<usize> = first.iter().map(|cell| plan.cell(*cell).block).collect();
    order.extend(0..blocks);
    let mut decided = vec![None; blocks];
    let mut room = MAX_BOXES;
    for block in order {
        if decided[block].is_none() {
            let cases = 0..evidence.cases().number();
            let boxes: usize = cases.map(|case| evidence.boxes(block, case)).sum();
            decided[block] = Some(boxes <= room);
            room = room.checked_sub(boxes).unwrap_or(room);
        }
    }
    decided.into_iter().map(|kept| kept == Some(true)).collect()
}

fn watched(evidence: &impl AnyEvidence, case: usize, options: &JudgeOptions) -> WatchedText {
    let quiet = evidence
        .plan()
        .blocks()
        .first()
        .map_or(Verdict::Unlabelled, |_| {
            evidence.on_trial(0, case, |trial| {
                judge(trial.case, trial.watch, None, options).verdict
            })
        });
    evidence.cases().on(case, |it| WatchedText {
        id: it.id.to_string(),
        model: it.model.to_string(),
        quiet,
        onset: it
            .truth
            .as_ref()
            .and_then(|truth| Some(truth.first_loop_in(options.unit)?.onset.count())),
    })
}

/// The boxes of all transcripts in one block.
fn boxes(evidence: &impl AnyEvidence, block: usize, options: &JudgeOptions) -> Vec<u64> {
    let shape = evidence.plan().blocks()[block].shape();
    let mut all = Vec::new();
    for case in 0..evidence.cases().number() {
        evidence.on_trial(block, case, |trial| {
            add_boxes(&mut all, case, trial, (&shape, options))
        });
    }
    all
}

/// Those of one.
fn add_boxes(
    all: &mut Vec<u64>,
    case: usize,
    trial: Trial<'_>,
    (shape, options): (&[usize], &JudgeOptions),
) {
    let code = |verdict: Verdict| {
        let at = Verdict::ALL.iter().position(|other| *other == verdict);
        at.unwrap_or(Verdict::ALL.len()) as u64
    };
    let decided = trial.decided;
    if decided.error.is_some() {
        all.extend([case as u64, code(Outcome::error().verdict), 0]);
        all.extend(shape.iter().flat_map(|n| [0, *n as u64]));
        return;
    }
    let judged = decided.stops.iter().map(|stop| {
        let verdict = judge(trial.case, trial.watch, Some(stop), options).verdict;
        let at = stop.delivered.seen.count(stop.channel);
        [code(verdict), at + 1]
    });
    let judged: Vec<[u64; 2]> = judged.collect();
    for region in &decided.regions {
        all.push(case as u64);
        all.extend(judged[region.stop]);
        let along = region.lo.iter().zip(&region.hi);
        all.extend(along.flat_map(|(lo, hi)| [u64::from(*lo), u64::from(*hi)]));
    }
}
