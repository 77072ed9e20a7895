//! The writer of scores.parquet: the scores of every setting of a run.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::rc::Rc;

use deadloop_replay::Block;
use deadloop_replay::detect::{Response, Unit};
use deadloop_tables::Schema;

use super::models::{Slice, list_slices};
use super::outcome_sums::OutcomeSums;
use super::scores::{BY_MODEL, ParamColumns, RowSetting, ScoreRow, TOTAL, score_schema};
use super::settings::setting_toml;
use super::slices::reported_rows;
use super::store::{FileError, TableWriter};
use crate::intervals::{IntervalCache, Resampling};
use crate::judge::{JudgeOptions, Outcome, ReadChannels, judge};
use crate::measure::Stakes;
use crate::pareto::{FrontPoint, find_front};
use crate::scores::Scores;
use crate::tally::{AnyEvidence, Evidence, LatencySheet, Sheet};
use crate::truth::{Case, CaseSet, group_numbers};

/// The number of rows above which scores.csv is not written.
pub const CSV_ROWS: usize = 200_000;

/// The input and options of scoring.
#[derive(Clone, Copy, Debug)]
pub struct ScoringRequest<'a, E = Evidence<'a>> {
    /// The evidence of the run.
    pub evidence: &'a E,
    /// The options for judging alarms, in the unit of choice.
    pub judge: &'a JudgeOptions,
    /// The units that have rows, the unit of choice first.
    pub units: &'a [Unit],
    /// The costs of errors.
    pub worth: &'a Stakes,
    /// The minimum number of loops of a model with rows in a very large sweep.
    pub enough: u64,
    /// The settings that are reported in full, with intervals over groups.
    pub reported: &'a [usize],
    /// The names of the fields in [`Case::by`](crate::Case::by). Their values have rows under reported settings.
    pub by: &'a [String],
    /// The replicates and the seed of the intervals of reported settings.
    pub resampling: Resampling,
    /// Whether scores.csv is written too.
    pub csv: bool,
}

/// A summary of the written scores.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ScoringResult {
    /// The number of rows written.
    pub rows: usize,
    /// The models without rows.
    pub left_out: Vec<String>,
    /// The Pareto front of the settings, for all models together.
    pub front: Vec<FrontPoint>,
}

/// Writes `scores.parquet`, and `scores.csv` up to [`CSV_ROWS`] rows.
///
/// Settings are in the order of the plan, and [`NEVER`] is the last. A setting has a row of all transcripts, then rows
/// of the models by name. A reported setting has rows of the other fields too. The rows of the unit of choice come
/// first, then those of each other unit. No row mixes two units.
///
/// Memory is bounded by the tallies of one block for all models, about 0.4 kB for each row of the block.
pub fn write_scores<E: AnyEvidence>(
    dir: &Path,
    scoring: &ScoringRequest<'_, E>,
) -> Result<ScoringResult, FileError> {
    let evidence = scoring.evidence;
    let plan = evidence.plan();
    let (slices, left_out) = list_slices(scoring);
    let rows = (plan.cells() + 1) * slices.len() * scoring.units.len();
    let params = ParamColumns::from_plan(plan);
    let columns = score_schema(&params, scoring.units);
    let with_csv = scoring.csv && rows <= CSV_ROWS;
    let names = slices.iter().enumerate().map(|(nth, (name, _))| match nth {
        0 => (TOTAL.into(), None),
        _ => (BY_MODEL.into(), Some(name.as_str().into())),
    });
    let mut sweep = SweepWriter {
        scoring: *scoring,
        names: names.collect(),
        slices,
        params,
        writer: TableWriter::create(dir, "scores", &columns.docs(), with_csv)?,
        columns,
        rows: Vec::new(),
        front: Vec::new(),
        cache: IntervalCache::new(scoring.resampling),
        groups: group_numbers(evidence.cases()),
        reported: (scoring.reported.iter().rev())
            .map(|cell| (plan.id(*cell), *cell))
            .collect(),
    };
    let models = evidence.by_model();
    let models: BTreeSet<&str> = models.keys().map(String::as_str).collect();
    for unit in scoring.units {
        let judge = JudgeOptions {
            unit: *unit,
            ..*scoring.judge
        };
        let is_choice_unit = *unit == scoring.judge.unit;
        for (index, block) in plan.blocks().iter().enumerate() {
            sweep.add_block((index, block), &models, &judge, is_choice_unit)?;
        }
        sweep.add_never_rows(&judge)?;
    }
    sweep.flush()?;
    Ok(ScoringResult {
        rows: sweep.writer.finish()?,
        left_out,
        front: sweep.front,
    })
}

/// The name in the column `setting` of the setting that never alarms. Its rows are the result without a guard.
pub const NEVER: &str = "never";

/// Returns the outcome of a case without a guard.
pub(crate) fn judge_unguarded(case: &Case, options: &JudgeOptions) -> Outcome {
    judge(case, ReadChannels::TEXT, None, options)
}

/// The number of buffered rows above which they become a frame. It bounds memory.
const MAX_BUFFERED_ROWS: usize = 1 << 14;

struct SweepWriter<'a, E> {
    scoring: ScoringRequest<'a, E>,
    slices: Vec<Slice>,
    /// The field and value of each slice.
    names: Vec<(Rc<str>, Option<Rc<str>>)>,
    params: ParamColumns,
    columns: Schema<ScoreRow>,
    writer: TableWriter,
    rows: Vec<ScoreRow>,
    front: Vec<FrontPoint>,
    cache: IntervalCache,
    /// The number of the group of each case.
    groups: Vec<u64>,
    /// The reported cells by the id of their setting.
    reported: BTreeMap<String, usize>,
}

/// The tallies of one slice for the cells of a block.
struct SliceTallies {
    sheet: Sheet,
    latencies: LatencySheet,
    /// The scores of each distinct tally, once they are computed.
    scores: Vec<Option<Scores>>,
}

impl<'a, E: AnyEvidence> SweepWriter<'a, E> {
    /// Adds the rows of a block. If `is_choice_unit`, the settings' texts are written and the front is updated.
    fn add_block(
        &mut self,
        (index, block): (usize, &Block),
        models: &BTreeSet<&str>,
        judge: &JudgeOptions,
        is_choice_unit: bool,
    ) -> Result<(), FileError> {
        let evidence = self.scoring.evidence;
        let paint = |(_, pick): &Slice| {
            let (sheet, latencies) = evidence.tally_block(index, pick, judge);
            SliceTallies {
                scores: vec![None; sheet.merged_cells()],
                sheet,
                latencies,
            }
        };
        let mut painted: Vec<SliceTallies> = self.slices.iter().map(paint).collect();
        let mut ids = block.ids();
        for nth in 0..block.len() {
            let (at, cell) = (block.at(nth), block.first() + nth);
            let id = ids.id(&at);
            // A reported setting can be a cell of a grid too. Its rows are written once.
            let reported = self.reported.get(&id).copied();
            if reported.is_some_and(|first| first != cell) {
                continue;
            }
            let toml = is_choice_unit.then(|| setting_toml(evidence.plan(), cell, models));
            let setting = Rc::new(RowSetting {
                id,
                response: block.response(),
                params: self.params.values_of(&block.setting(&at)),
                toml,
            });
            let scores: Vec<Scores> = painted.iter_mut().map(|one| self.score(one, &at)).collect();
            if is_choice_unit {
                let point = FrontPoint::new(cell, &scores[0].tally, judge.unit);
                self.front.extend(point);
            }
            if reported.is_some() {
                self.add_reported_rows((cell, &setting), judge);
            } else {
                self.add_rows(&setting, judge.unit, scores);
            }
            if self.rows.len() >= MAX_BUFFERED_ROWS {
                self.flush()?;
            }
        }
        self.front = find_front(&self.front);
        Ok(())
    }

    /// Returns the scores of a cell, computed once for all cells with the same tally.
    fn score(&mut self, painted: &mut SliceTallies, at: &[u16]) -> Scores {
        let SliceTallies {
            sheet,
            latencies,
            scores,
        } = painted;
        *scores[sheet.index(at)].get_or_insert_with(|| {
            let (tally, latency) = (sheet.tally(at), latencies.quantiles(at));
            Scores::new(&tally, latency, self.scoring.worth, &mut self.cache.poisson)
        })
    }

    /// Adds the rows of a setting, one for each slice.
    fn add_rows(&mut self, setting: &Rc<RowSetting>, unit: Unit, scores: Vec<Scores>) {
        let rows = self.names.iter().zip(scores);
        self.rows.extend(rows.map(|((by, value), scores)| ScoreRow {
            setting: Rc::clone(setting),
            by: Rc::clone(by),
            value: value.clone(),
            unit,
            scores,
        }));
    }

    /// Adds the rows of a reported setting.
    fn add_reported_rows(&mut self, cell: (usize, &Rc<RowSetting>), judge: &JudgeOptions) {
        let scoring = ScoringRequest {
            judge,
            ..self.scoring
        };
        let own = |model: &str| self.slices[1..].iter().any(|(name, _)| name == model);
        let rows = reported_rows(&scoring, cell, (&self.groups, &own), &mut self.cache);
        self.rows.extend(rows);
    }

    /// Adds the rows of [`NEVER`] in one unit.
    fn add_never_rows(&mut self, judge: &JudgeOptions) -> Result<(), FileError> {
        let setting = Rc::new(RowSetting {
            id: NEVER.into(),
            response: Response::Stop,
            params: vec![None; self.params.len()],
            toml: None,
        });
        let scoring = self.scoring;
        let score = |(_, pick): &Slice| {
            let mut sums = OutcomeSums::default();
            for i in pick {
                let cases = scoring.evidence.cases();
                let outcome = cases.on(*i, |case| judge_unguarded(case, judge));
                sums.add(self.groups[*i], &outcome);
            }
            sums.plain_scores(scoring.worth, &mut self.cache)
        };
        let scores = self.slices.iter().map(score).collect();
        self.add_rows(&setting, judge.unit, scores);
        self.flush()
    }

    fn flush(&mut self) -> Result<(), FileError> {
        let rows = std::mem::take(&mut self.rows);
        self.writer.write(&self.columns.frame(&rows))
    }
}
