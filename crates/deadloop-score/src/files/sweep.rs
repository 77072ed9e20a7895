//! scores.parquet: the scores of every setting of a run.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::rc::Rc;

use deadloop_replay::Block;
use deadloop_replay::detect::{Response, Unit};
use deadloop_tables::Schema;

use super::models::{Slice, slices};
use super::outcome_sums::OutcomeSums;
use super::scores::{BY_MODEL, ParamColumns, RowSetting, ScoreRow, TOTAL, columns};
use super::settings::setting_toml;
use super::slices::rows as reported_rows;
use super::store::{FileError, TableWriter};
use crate::intervals::{Cache, Resampling};
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
    /// The run.
    pub evidence: &'a E,
    /// The options by which alarms are judged, in the unit of choice.
    pub judge: &'a JudgeOptions,
    /// The units with rows, that of choice first.
    pub units: &'a [Unit],
    /// The costs of errors.
    pub worth: &'a Stakes,
    /// The loops that a model needs to have rows of its own in a very large sweep.
    pub enough: u64,
    /// The settings reported in full, with intervals over groups.
    pub reported: &'a [usize],
    /// The names of [`Case::by`](crate::Case::by), whose values have rows under reported settings.
    pub by: &'a [String],
    /// The replicates and the seed of the intervals of reported settings.
    pub resampling: Resampling,
    /// Whether scores.csv is written too.
    pub csv: bool,
}

/// The result of writing scores.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ScoringResult {
    /// The number of rows written.
    pub rows: usize,
    /// The models without rows of their own.
    pub left_out: Vec<String>,
    /// The Pareto front of all models together.
    pub front: Vec<FrontPoint>,
}

/// Writes `scores.parquet`, and `scores.csv` up to [`CSV_ROWS`] rows.
///
/// Settings are in the order of the plan, then comes [`NEVER`]. A setting has a row of all transcripts, then the models
/// by name. A reported setting has the other fields too. The rows of the unit of choice come first, then those of each
/// other unit. No row mixes two units, and no sum is taken across them.
///
/// Memory is bounded by the tallies of one block for all models, about 0.4 kB a row of the block.
pub fn write_scores<E: AnyEvidence>(
    dir: &Path,
    scoring: &ScoringRequest<'_, E>,
) -> Result<ScoringResult, FileError> {
    let evidence = scoring.evidence;
    let plan = evidence.plan();
    let (slices, left_out) = slices(scoring);
    let rows = (plan.cells() + 1) * slices.len() * scoring.units.len();
    let params = ParamColumns::from_plan(plan);
    let columns = columns(&params, scoring.units);
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
        writer: TableWriter::create(dir, "scores", &columns.described(), with_csv)?,
        columns,
        rows: Vec::new(),
        front: Vec::new(),
        known: Cache::new(scoring.resampling),
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
        let of_choice = *unit == scoring.judge.unit;
        for (index, block) in plan.blocks().iter().enumerate() {
            sweep.add_block((index, block), &models, &judge, of_choice)?;
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

/// The setting that never alarms, as named in the column `setting`: the result without a guard.
pub const NEVER: &str = "never";

/// Returns the outcome of a case without a guard.
pub(crate) fn judge_unguarded(case: &Case, options: &JudgeOptions) -> Outcome {
    judge(case, ReadChannels::TEXT, None, options)
}

/// The rows buffered before they become a frame, a bound on memory.
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
    known: Cache,
    /// The number of each case's group.
    groups: Vec<u64>,
    /// The reported cells by the name of their setting.
    reported: BTreeMap<String, usize>,
}

/// The tallies of one slice for a block.
struct SliceTallies {
    sheet: Sheet,
    latencies: LatencySheet,
    /// The scores of each distinct tally, once computed.
    known: Vec<Option<Scores>>,
}

impl<'a, E: AnyEvidence> SweepWriter<'a, E> {
    /// Adds the rows of a block. If `of_choice`, the unit is that of choice, and the front is updated.
    fn add_block(
        &mut self,
        (index, block): (usize, &Block),
        models: &BTreeSet<&str>,
        judge: &JudgeOptions,
        of_choice: bool,
    ) -> Result<(), FileError> {
        let evidence = self.scoring.evidence;
        let paint = |(_, pick): &Slice| {
            let (sheet, latencies) = evidence.painted(index, pick, judge);
            SliceTallies {
                known: vec![None; sheet.merged_cells()],
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
            let toml = of_choice.then(|| setting_toml(evidence.plan(), cell, models));
            let setting = Rc::new(RowSetting {
                id,
                response: block.response(),
                params: self.params.values(&block.setting(&at)),
                toml,
            });
            let scores: Vec<Scores> = painted.iter_mut().map(|one| self.score(one, &at)).collect();
            if of_choice {
                let point = FrontPoint::new(cell, &scores[0].tally, judge.unit);
                self.front.extend(point);
            }
            if reported.is_some() {
                self.add_reported_rows((cell, &setting), judge);
            } else {
                self.add(&setting, judge.unit, scores);
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
            known,
        } = painted;
        *known[sheet.index(at)].get_or_insert_with(|| {
            let (tally, latency) = (sheet.tally(at), latencies.quantiles(at));
            Scores::new(&tally, latency, self.scoring.worth, &mut self.known.poisson)
        })
    }

    /// Adds the rows of a setting, one per slice.
    fn add(&mut self, setting: &Rc<RowSetting>, unit: Unit, scores: Vec<Scores>) {
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
    fn add_reported_rows(&mut self, of: (usize, &Rc<RowSetting>), judge: &JudgeOptions) {
        let scoring = ScoringRequest {
            judge,
            ..self.scoring
        };
        let own = |model: &str| self.slices[1..].iter().any(|(name, _)| name == model);
        let rows = reported_rows(&scoring, of, (&self.groups, &own), &mut self.known);
        self.rows.extend(rows);
    }

    /// Adds the rows of [`NEVER`].
    fn add_never_rows(&mut self, judge: &JudgeOptions) -> Result<(), FileError> {
        let setting = Rc::new(RowSetting {
            id: NEVER.into(),
            response: Response::Stop,
            params: vec![None; self.params.number()],
            toml: None,
        });
        let scoring = self.scoring;
        let of = |(_, pick): &Slice| {
            let mut gathered = OutcomeSums::default();
            for i in pick {
                let cases = scoring.evidence.cases();
                let outcome = cases.on(*i, |case| judge_unguarded(case, judge));
                gathered.add(self.groups[*i], &outcome);
            }
            gathered.scores(scoring.worth, &mut self.known)
        };
        let scores = self.slices.iter().map(of).collect();
        self.add(&setting, judge.unit, scores);
        self.flush()
    }

    fn flush(&mut self) -> Result<(), FileError> {
        let rows = std::mem::take(&mut self.rows);
        self.writer.write(&self.columns.frame(&rows))
    }
}
