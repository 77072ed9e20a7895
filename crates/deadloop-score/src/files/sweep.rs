//! scores.parquet: every setting of a run, all models together and each by itself.

use std::collections::BTreeMap;
use std::path::Path;

use deadloop_replay::Block;
use deadloop_replay::detect::Unit;

use super::gathered::Gathered;
use super::picked::Rows;
use super::scores::{self, ParamColumns};
use super::slices::{Slice, slices};
use super::store::{FileError, TableWriter};
use crate::intervals::{Known, Resampling};
use crate::judge::{JudgeOptions, Outcome, ReadChannels, judge};
use crate::measure::Worth;
use crate::pareto::{FrontPoint, front};
use crate::scores::Scores;
use crate::tally::{AnyEvidence, Evidence, LatencySheet, Sheet};
use crate::truth::{Case, Cases, group_numbers};

/// Above this number of rows there is only scores.parquet, and no scores.csv.
pub const CSV_ROWS: usize = 200_000;

/// What is scored, and how.
#[derive(Clone, Copy, Debug)]
pub struct Scoring<'a, E = Evidence<'a>> {
    /// The run.
    pub evidence: &'a E,
    /// How alarms are judged, in the unit of choice.
    pub judge: &'a JudgeOptions,
    /// The units that have rows, that of choice first.
    pub units: &'a [Unit],
    /// What errors cost.
    pub worth: &'a Worth,
    /// The loops that a model needs to have rows of its own in a very large sweep.
    pub enough: u64,
    /// The settings that are reported in full: their intervals are those over groups.
    pub reported: &'a [usize],
    /// Replicates and seed of those.
    pub resampling: Resampling,
    /// Whether scores.csv is written too.
    pub csv: bool,
}

/// What became of the scores.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scored {
    /// Rows written.
    pub rows: usize,
    /// Models without rows of their own.
    pub left_out: Vec<String>,
    /// The Pareto front of each model, `*` among them.
    pub fronts: BTreeMap<String, Vec<FrontPoint>>,
}

/// Writes `scores.parquet`, and `scores.csv` up to [`CSV_ROWS`] rows: settings in the order of the
/// plan, then [`NEVER`]; for each, `*` first, then models by name. The rows of the unit of choice come first, then
/// as many of each other unit: numbers of two units are never in one row, and nothing is added up across them.
///
/// Memory: the tallies of one block for all models at a time: about 0.4 kB a row of that block.
pub fn write_scores<E: AnyEvidence>(
    dir: &Path,
    scoring: &Scoring<'_, E>,
) -> Result<Scored, FileError> {
    let evidence = scoring.evidence;
    let (slices, left_out) = slices(scoring);
    let settings = evidence.plan().cells() + 1;
    let rows = settings * slices.len() * scoring.units.len();
    let with_csv = scoring.csv && rows <= CSV_ROWS;
    let params = ParamColumns::of(evidence.plan());
    let writer = TableWriter::create(dir, "scores", scores::schema(&[], &params), with_csv)?;
    let fronts = vec![Vec::new(); slices.len()];
    let of = |unit: &Unit| JudgeOptions {
        unit: *unit,
        ..*scoring.judge
    };
    let judges: Vec<JudgeOptions> = scoring.units.iter().map(of).collect();
    let mut sweep = Sweep {
        scoring: *scoring,
        slices,
        params,
        writer,
        fronts,
        known: Known::new(scoring.resampling),
        groups: group_numbers(evidence.cases()),
    };
    for judge in &judges {
        sweep.scoring.judge = judge;
        for (index, block) in evidence.plan().blocks().iter().enumerate() {
            sweep.block(index, block, judge.unit == scoring.judge.unit)?;
        }
        sweep.never()?;
    }
    let names = sweep.slices.iter().map(|(name, _)| name.clone());
    let fronts = names
        .zip(&sweep.fronts)
        .map(|(name, points)| (name, front(points)))
        .collect();
    Ok(Scored {
        rows: sweep.writer.finish()?,
        left_out,
        fronts,
    })
}

/// The setting that never alarms, as the column `setting` names it: what no guard at all does.
pub const NEVER: &str = "never";

/// What no guard at all does on a case.
pub(crate) fn never(case: &Case, options: &JudgeOptions) -> Outcome {
    judge(case, ReadChannels::TEXT, None, options)
}

struct Sweep<'a, E> {
    /// What is scored, in the unit whose rows are being written.
    scoring: Scoring<'a, E>,
    slices: Vec<Slice>,
    params: ParamColumns,
    writer: TableWriter,
    /// The front so far of each slice.
    fronts: Vec<Vec<FrontPoint>>,
    known: Known,
    /// The number of each case's group.
    groups: Vec<u64>,
}

/// One slice's tallies of a block.
struct Painted {
    sheet: Sheet,
    latencies: LatencySheet,
    /// Of each distinct tally the row of its scores in [`Rows`], and its place among others.
    known: Vec<Option<(u32, Option<FrontPoint>)>>,
}

impl<'a, E: AnyEvidence> Sweep<'a, E> {
    /// The rows of a block. `of_choice`: whether they are in the unit of choice, whose fronts are kept.
    fn block(&mut self, index: usize, block: &Block, of_choice: bool) -> Result<(), FileError> {
        let mut painted = self.painted(index);
        let unit = self.scoring.judge.unit;
        let mut rows = Rows::new(&self.params, block, &self.slices, unit);
        let mut ids = block.ids();
        for nth in 0..block.len() {
            let at = block.at(nth);
            let cell = block.first() + nth;
            rows.setting(ids.of(&at));
            let reported = self.scoring.reported.contains(&cell);
            for (slice, painted) in painted.iter_mut().enumerate() {
                let (scores, point) = self.known(painted, &at, &mut rows);
                let point = point.filter(|_| of_choice);
                self.fronts[slice].extend(point.map(|point| FrontPoint { cell, ..point }));
                let scores = if reported {
                    rows.scores(&self.reported(cell, slice))
                } else {
                    scores
                };
                rows.row(&at, slice, scores);
            }
            rows.write_many(&mut self.writer)?;
        }
        self.fronts
            .iter_mut()
            .for_each(|points| *points = front(points));
        rows.write(&mut self.writer)
    }

    fn painted(&self, index: usize) -> Vec<Painted> {
        let evidence = self.scoring.evidence;
        let one = |(_, pick): &Slice| {
            let (sheet, latencies) = evidence.painted(index, pick, self.scoring.judge);
            Painted {
                known: vec![None; sheet.merged_cells()],
                sheet,
                latencies,
            }
        };
        self.slices.iter().map(one).collect()
    }

    /// The scores of a cell, made once for all that have its tally, and its place among others.
    fn known(
        &mut self,
        painted: &mut Painted,
        at: &[u16],
        rows: &mut Rows,
    ) -> (u32, Option<FrontPoint>) {
        let merged = painted.sheet.index(at);
        let Painted {
            sheet,
            latencies,
            known,
        } = painted;
        *known[merged].get_or_insert_with(|| {
            let (tally, latency) = (sheet.tally(at), latencies.quantiles(at));
            let scores = Scores::of(&tally, latency, self.scoring.worth, &mut self.known.poisson);
            (
                rows.scores(&scores),
                FrontPoint::of(0, &tally, self.scoring.judge.unit),
            )
        })
    }

    /// The scores of a reported setting: its intervals are over groups.
    fn reported(&mut self, cell: usize, slice: usize) -> Scores {
        let pick = &self.slices[slice].1;
        let gathered = Gathered::of(&self.scoring, &self.groups, (cell, pick));
        gathered.over_groups(self.scoring.worth, &mut self.known)
    }

    /// The rows of [`NEVER`].
    fn never(&mut self) -> Result<(), FileError> {
        let unit = self.scoring.judge.unit;
        let columns = scores::columns(unit);
        for (name, pick) in &self.slices {
            let (mut gathered, scoring) = (Gathered::default(), &self.scoring);
            for i in pick {
                let outcome = scoring
                    .evidence
                    .cases()
                    .on(*i, |case| never(case, scoring.judge));
                gathered.add(self.groups[*i], &outcome);
            }
            let scores = gathered.scores(scoring.worth, &mut self.known.poisson);
            let row = columns.cells(&scores);
            let params = self.params.none();
            self.writer
                .push(scores::row(NEVER, (name, unit), params, &row))?;
        }
        Ok(())
    }
}
