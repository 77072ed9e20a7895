//! scores.parquet: every setting of a run, all models together and each by itself.

use std::collections::BTreeMap;
use std::path::Path;

use deadloop_replay::Block;

use super::scores::{self, ParamColumns};
use super::store::{FileError, TableWriter, write_csv};
use super::table::{Cell, Schema, Type, named};
use crate::consistency::Consistency;
use crate::evidence::Evidence;
use crate::floors::Floor;
use crate::intervals::PoissonCache;
use crate::judging::JudgeOptions;
use crate::latency::Latencies;
use crate::pareto::{Point, front};
use crate::scores::{Scores, Worth};
use crate::sheet::{LatencySheet, Sheet, tallies_and_latencies};
use crate::tally::{Count, Tally};
use crate::verdict::{Outcome, judge};

/// Above so many rows there is no scores.csv, only scores.parquet.
pub const CSV_ROWS: usize = 200_000;

/// Above so many rows, models with too few labels have no rows of their own; they are in `*`.
pub const MAX_ROWS: usize = 1_000_000;

/// What is scored, and how.
#[derive(Clone, Copy, Debug)]
pub struct Scoring<'a> {
    /// The run.
    pub evidence: &'a Evidence<'a>,
    /// How alarms are judged.
    pub judge: &'a JudgeOptions,
    /// What errors cost.
    pub worth: &'a Worth,
    /// Floors, in the order of their rows; they stand after the settings.
    pub floors: &'a [Floor],
    /// The data a model needs to have rows of its own in a very large sweep: loops, clean chars.
    pub enough: (u64, u64),
}

/// What became of the scores.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scored {
    /// Rows written.
    pub rows: usize,
    /// Models without rows of their own.
    pub left_out: Vec<String>,
    /// The Pareto front of each model, `*` among them.
    pub fronts: BTreeMap<String, Vec<Point>>,
    /// How often the reported settings are right where the floors are: setting, then floor.
    pub beside_floors: BTreeMap<String, BTreeMap<String, Consistency>>,
}

/// Writes `scores.parquet`, and `scores.csv` up to [`CSV_ROWS`] rows: settings in the order of the
/// plan, then the floors; for each, `*` first, then models by name.
///
/// Memory: the tallies of one block for all models at a time: about 0.4 kB a row of that block.
pub fn write_scores(dir: &Path, scoring: &Scoring) -> Result<Scored, FileError> {
    let evidence = scoring.evidence;
    let (subjects, left_out) = subjects(scoring);
    let settings = evidence.plan.cells() + scoring.floors.len();
    let with_csv = settings * subjects.len() <= CSV_ROWS;
    let params = ParamColumns::of(evidence.plan);
    let writer = TableWriter::create(dir, "scores", scores::schema(&[], &params), with_csv)?;
    let fronts = vec![Vec::new(); subjects.len()];
    let mut sweep = Sweep {
        scoring,
        subjects,
        params,
        writer,
        fronts,
        cache: PoissonCache::default(),
    };
    for (index, block) in evidence.plan.blocks().iter().enumerate() {
        sweep.block(index, block)?;
    }
    for floor in scoring.floors {
        sweep.floor(*floor)?;
    }
    let names = sweep.subjects.iter().map(|(name, _)| name.clone());
    let fronts = names
        .zip(&sweep.fronts)
        .map(|(name, points)| (name, front(points)))
        .collect();
    Ok(Scored {
        rows: sweep.writer.finish()?,
        left_out,
        fronts,
        beside_floors: BTreeMap::new(),
    })
}

/// Whose rows there are: a name, and the cases.
type Subject = (String, Vec<usize>);

fn subjects(scoring: &Scoring) -> (Vec<Subject>, Vec<String>) {
    let models = scoring.evidence.models();
    let crowded = (models.len() + 1) * scoring.evidence.plan.cells() > MAX_ROWS;
    let mut subjects = vec![("*".to_owned(), scoring.evidence.all())];
    let mut left_out = Vec::new();
    for (model, pick) in models {
        if crowded && !has_enough(scoring, &pick) {
            left_out.push(model.to_owned());
        } else {
            subjects.push((model.to_owned(), pick));
        }
    }
    (subjects, left_out)
}

fn has_enough(scoring: &Scoring, pick: &[usize]) -> bool {
    let quiet: Tally = floor_outcomes(scoring, Floor::Never, pick)
        .iter()
        .map(Tally::of)
        .sum();
    let (loops, chars) = scoring.enough;
    quiet.loops() >= loops && quiet.get(Count::Exposure) >= chars
}

/// What a floor does on some cases.
pub(crate) fn floor_outcomes(scoring: &Scoring, floor: Floor, pick: &[usize]) -> Vec<Outcome> {
    let outcome = |i: &usize| {
        let case = &scoring.evidence.cases[*i];
        judge(
            case,
            Floor::watch(),
            floor.stop(case).as_ref(),
            scoring.judge,
        )
    };
    pick.iter().map(outcome).collect()
}

/// How often each of `cells` is right where each floor is, all models together: setting, then floor.
pub fn beside_floors(
    scoring: &Scoring,
    cells: &[usize],
) -> BTreeMap<String, BTreeMap<String, Consistency>> {
    let evidence = scoring.evidence;
    let all = evidence.all();
    let floors: Vec<(&str, Vec<Outcome>)> = scoring
        .floors
        .iter()
        .map(|floor| (floor.name(), floor_outcomes(scoring, *floor, &all)))
        .collect();
    let beside = |cell: &usize| {
        let own = evidence.outcomes(*cell, &all, scoring.judge);
        let counts = floors
            .iter()
            .map(|(name, outcomes)| ((*name).to_owned(), Consistency::of(&own, outcomes)));
        (evidence.plan.id(*cell), counts.collect())
    };
    cells.iter().map(beside).collect()
}

/// The scores of a few outcomes.
pub(crate) fn scores_of(outcomes: &[Outcome], worth: &Worth, cache: &mut PoissonCache) -> Scores {
    let tally: Tally = outcomes.iter().map(Tally::of).sum();
    let latencies = Latencies::of(outcomes);
    Scores::of(
        &tally,
        latencies.of_loops(&tally),
        latencies.of_hits(),
        worth,
        cache,
    )
}

struct Sweep<'a> {
    scoring: &'a Scoring<'a>,
    subjects: Vec<Subject>,
    params: ParamColumns,
    writer: TableWriter,
    /// The front so far of each subject.
    fronts: Vec<Vec<Point>>,
    cache: PoissonCache,
}

impl Sweep<'_> {
    fn block(&mut self, index: usize, block: &Block) -> Result<(), FileError> {
        let evidence = self.scoring.evidence;
        let sheets: Vec<(Sheet, LatencySheet)> = self
            .subjects
            .iter()
            .map(|(_, pick)| {
                let trials = pick.iter().map(|i| evidence.trial(index, *i));
                tallies_and_latencies(&block.shape(), trials, self.scoring.judge)
            })
            .collect();
        for nth in 0..block.len() {
            let at = block.at(nth);
            let (id, params) = (block.id(&at), self.params.of_cell(block, &at));
            for (subject, (sheet, latencies)) in sheets.iter().enumerate() {
                let (tally, [all, hits]) = (sheet.tally(&at), latencies.quantiles(&at));
                let worth = self.scoring.worth;
                let scores = Scores::of(&tally, all, hits, worth, &mut self.cache);
                self.row(subject, &id, params.clone(), &scores)?;
                self.fronts[subject].extend(Point::of(block.first() + nth, &tally));
            }
        }
        self.fronts
            .iter_mut()
            .for_each(|points| *points = front(points));
        Ok(())
    }

    fn floor(&mut self, floor: Floor) -> Result<(), FileError> {
        for subject in 0..self.subjects.len() {
            let outcomes = floor_outcomes(self.scoring, floor, &self.subjects[subject].1);
            let scores = scores_of(&outcomes, self.scoring.worth, &mut self.cache);
            self.row(subject, floor.name(), self.params.none(), &scores)?;
        }
        Ok(())
    }

    fn row(
        &mut self,
        subject: usize,
        setting: &str,
        params: Vec<Cell>,
        scores: &Scores,
    ) -> Result<(), FileError> {
        let model = &self.subjects[subject].0;
        self.writer
            .push(scores::row(setting, model, params, scores))
    }
}

/// Writes `pareto.csv`: `model, setting, recall, fa_per_mchar, delay, chosen`, the settings of each
/// front in the order of the plan. `chosen` names the setting of a model.
pub fn write_pareto(
    dir: &Path,
    evidence: &Evidence,
    fronts: &BTreeMap<String, Vec<Point>>,
    chosen: &BTreeMap<String, usize>,
) -> Result<(), FileError> {
    let schema: Schema = [
        named(&["model", "setting"], Type::Text),
        named(&["recall", "fa_per_mchar", "delay"], Type::Float),
        named(&["chosen"], Type::Int),
    ]
    .concat();
    let rows = fronts.iter().flat_map(|(model, points)| {
        points.iter().map(move |p| {
            vec![
                Cell::text(model.clone()),
                Cell::text(evidence.plan.id(p.cell)),
                Cell::Float(Some(p.recall)),
                Cell::Float(Some(p.fa_per_mchar)),
                Cell::Float(Some(p.delay)),
                Cell::Int(Some(i64::from(chosen.get(model) == Some(&p.cell)))),
            ]
        })
    });
    write_csv(dir, "pareto", &schema, rows)
}
