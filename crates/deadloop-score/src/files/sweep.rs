//! scores.parquet: every setting of a run, all models together and each by itself.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use deadloop_replay::Block;
use deadloop_replay::detect::Unit;

use super::gathered::Gathered;
use super::picked::Rows;
use super::scores::{self, ParamColumns};
use super::slices::{Slice, slices};
use super::store::{FileError, TableWriter, write_csv};
use crate::intervals::{Known, Resampling};
use crate::judge::{Consistency, Floor, JudgeOptions, Outcome, judge};
use crate::measure::{Worth, wrong_rate};
use crate::pareto::{FrontPoint, front};
use crate::scores::Scores;
use crate::tally::{AnyEvidence, Evidence, LatencySheet, Sheet};
use crate::truth::{Case, Cases, firsts, mean_clean, measured_units};
use deadloop_tables::{Columns, TableCell, columns};

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
    /// Floors, in the order of their rows; they stand after the settings.
    pub floors: &'a [Floor],
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
    /// How often the reported settings are right where the floors are: setting, then floor.
    pub beside_floors: BTreeMap<String, BTreeMap<String, Consistency>>,
}

/// Writes `scores.parquet`, and `scores.csv` up to [`CSV_ROWS`] rows: settings in the order of the
/// plan, then the floors; for each, `*` first, then models by name. The rows of the unit of choice come first, then
/// as many of each other unit: numbers of two units are never in one row, and nothing is added up across them. Last
/// come the reported settings in what was recorded beside: tokens, milliseconds, money.
///
/// Memory: the tallies of one block for all models at a time: about 0.4 kB a row of that block.
pub fn write_scores<E: AnyEvidence>(
    dir: &Path,
    scoring: &Scoring<'_, E>,
) -> Result<Scored, FileError> {
    let evidence = scoring.evidence;
    let (slices, left_out) = slices(scoring);
    let settings = evidence.plan().listed_cells() + scoring.floors.len();
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
    let measured = measured(scoring);
    let mut sweep = Sweep {
        scoring: *scoring,
        slices,
        params,
        writer,
        fronts,
        known: Known::new(scoring.resampling),
        firsts: Vec::new(),
    };
    for judge in &judges {
        sweep.judge_by(judge);
        for (index, block) in evidence.plan().listed().iter().enumerate() {
            sweep.block(index, block, judge.unit == scoring.judge.unit)?;
        }
        for floor in scoring.floors {
            sweep.floor(*floor)?;
        }
    }
    for (judge, worth) in &measured {
        sweep.judge_by(judge);
        sweep.scoring.worth = worth;
        for cell in scoring.reported {
            sweep.measured(*cell)?;
        }
        sweep.floor(Floor::Never)?;
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
        beside_floors: BTreeMap::new(),
    })
}

/// Whether some case is scored in the unit.
fn is_scored(scores: &Scores) -> bool {
    scores.tally.loops() + scores.tally.clean() > 0
}

/// How settings that are reported are judged in units that are measured beside the channels, and what errors cost there.
fn measured<E: AnyEvidence>(scoring: &Scoring<'_, E>) -> Vec<(JudgeOptions, Worth)> {
    let cases = scoring.evidence.cases();
    let units = match scoring.reported {
        [] => Vec::new(),
        _ => measured_units(cases),
    };
    let others = units.into_iter().filter(|u| *u != scoring.judge.unit);
    let judged = |unit| {
        let judge = JudgeOptions {
            unit,
            ..*scoring.judge
        };
        let worth = Worth {
            annoyance: mean_clean(cases, unit),
            ..*scoring.worth
        };
        (judge, worth)
    };
    others.map(judged).collect()
}

/// What a floor does on a case.
pub(crate) fn floor_outcome(case: &Case, floor: Floor, options: &JudgeOptions) -> Outcome {
    let stop = floor.stop(case, options.unit);
    judge(case, Floor::watch(), stop.as_ref(), options)
}

/// How often each of `cells` is right where each floor is, all models together: setting, then floor.
pub fn beside_floors<E: AnyEvidence>(
    scoring: &Scoring<'_, E>,
    cells: &[usize],
) -> BTreeMap<String, BTreeMap<String, Consistency>> {
    let evidence = scoring.evidence;
    let every = evidence.every();
    let beside = |cell: &usize| {
        let mut counts = vec![Consistency::default(); scoring.floors.len()];
        evidence.each_judged(*cell, &every, scoring.judge, |_, case, own| {
            for (counts, floor) in counts.iter_mut().zip(scoring.floors) {
                counts.add(&own, &floor_outcome(case, *floor, scoring.judge));
            }
        });
        let names = scoring.floors.iter().map(|floor| floor.name().to_owned());
        (evidence.plan().id(*cell), names.zip(counts).collect())
    };
    cells.iter().map(beside).collect()
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
    /// Which cases are the first with their text.
    firsts: Vec<bool>,
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
            let (tally, [all, hits]) = (sheet.tally(at), latencies.quantiles(at));
            let scores = Scores::of(
                &tally,
                all,
                hits,
                self.scoring.worth,
                &mut self.known.poisson,
            );
            (rows.scores(&scores), FrontPoint::of(0, &tally))
        })
    }

    /// Judges by these options from now on; they say what is a copy, too.
    fn judge_by(&mut self, judge: &'a JudgeOptions) {
        self.scoring.judge = judge;
        self.firsts = firsts(self.scoring.evidence.cases(), judge.unit);
    }

    /// The scores of a reported setting: its intervals are over groups, each text once.
    fn reported(&mut self, cell: usize, slice: usize) -> Scores {
        let pick = &self.slices[slice].1;
        let gathered = Gathered::of(&self.scoring, &self.firsts, (cell, pick));
        gathered.over_groups(self.scoring.worth, &mut self.known)
    }

    /// The row of a reported setting for each slice of which some case is scored in the unit.
    fn measured(&mut self, cell: usize) -> Result<(), FileError> {
        let plan = self.scoring.evidence.plan();
        let place = plan.cell(cell);
        let block = &plan.blocks()[place.block];
        let (id, params) = (block.id(&place.at), self.params.of_cell(block, &place.at));
        let unit = self.scoring.judge.unit;
        let columns = scores::columns(unit);
        for slice in 0..self.slices.len() {
            let scores = self.reported(cell, slice);
            if is_scored(&scores) {
                let whose = (self.slices[slice].0.as_str(), unit);
                let row = columns.cells(&scores);
                self.writer
                    .push(scores::row(&id, whose, params.clone(), &row))?;
            }
        }
        Ok(())
    }

    fn floor(&mut self, floor: Floor) -> Result<(), FileError> {
        let columns = scores::columns(self.scoring.judge.unit);
        for slice in 0..self.slices.len() {
            let (mut gathered, scoring) = (Gathered::default(), &self.scoring);
            for i in &self.slices[slice].1 {
                scoring.evidence.cases().on(*i, |case| {
                    let outcome = floor_outcome(case, floor, scoring.judge);
                    gathered.add(case, &outcome, false);
                });
            }
            let scores = gathered.scores(scoring.worth, &mut self.known.poisson);
            let unit = self.scoring.judge.unit;
            if unit.is_measured() && !is_scored(&scores) {
                continue;
            }
            let row = columns.cells(&scores);
            let name = &self.slices[slice].0;
            let params = self.params.none();
            self.writer
                .push(scores::row(floor.name(), (name, unit), params, &row))?;
        }
        Ok(())
    }
}

/// Writes `pareto.csv`: `model, setting, recall, fa_per_mchar` (or that of the unit of choice)`, delay, front, chosen, candidate, in_use, names`:
/// the settings of each front in the order of the plan, of those with equal figures the first, and of all models together also those of `marked`, whether
/// they are on the front (`front` = 1) or not. `chosen` is what `settings.toml` holds for a model; `names` are those
/// that a setting has, as `document; recommended`.
pub fn write_pareto(
    dir: &Path,
    scoring: &Scoring<'_>,
    fronts: &BTreeMap<String, Vec<FrontPoint>>,
    marks: &Marked<'_>,
) -> Result<(), FileError> {
    let unit = scoring.judge.unit;
    let columns = pareto_columns(unit);
    let plan = scoring.evidence.plan;
    let mut rows: Vec<Vec<TableCell>> = Vec::new();
    for (model, points) in fronts {
        let on: BTreeMap<usize, FrontPoint> = points.iter().map(|p| (p.cell, *p)).collect();
        let mut all = on.clone();
        if model == "*" {
            let every = scoring.evidence.all();
            for cell in marks.shown.iter().filter(|cell| !on.contains_key(cell)) {
                let tally = scoring.evidence.tally(*cell, &every, scoring.judge);
                all.extend(FrontPoint::of(*cell, &tally).map(|point| (*cell, point)));
            }
        }
        // Thousands of cells of a grid may have the same figures: one of them, and those that are marked, say as much.
        let mut seen: BTreeSet<[u64; 3]> = BTreeSet::new();
        for (cell, p) in all {
            let figures = [p.recall, p.fa_per_mchar, p.delay].map(f64::to_bits);
            let marked = marks.shown.contains(&cell) || marks.chosen.get(model) == Some(&cell);
            if !seen.insert(figures) && !marked {
                continue;
            }
            let id = plan.id(cell);
            let names = marks.names.get(&id).map(|names| names.join("; "));
            rows.push(columns.cells(&ParetoRow {
                model: model.clone(),
                setting: id,
                point: p,
                front: on.contains_key(&cell),
                chosen: marks.chosen.get(model) == Some(&cell),
                candidate: model == "*" && marks.candidate == Some(cell),
                in_use: marks.in_use == Some(cell),
                names,
            }));
        }
    }
    write_csv(dir, "pareto", &columns.schema(), rows)
}

/// A row of `pareto.csv`.
pub(super) struct ParetoRow {
    model: String,
    setting: String,
    point: FrontPoint,
    front: bool,
    chosen: bool,
    candidate: bool,
    in_use: bool,
    names: Option<String>,
}

/// The columns of `pareto.csv`, in a unit of choice.
pub(super) fn pareto_columns(unit: Unit) -> Columns<ParetoRow> {
    let wrong = wrong_rate(unit).name;
    columns![ParetoRow;
        ("model", Text, "Whose front; `*`: all models together.", |row| &row.model),
        ("setting", Text, "The setting.", |row| &row.setting),
        ("recall", Float, "The share of the loops that are stopped while they loop.", |row| row.point.recall),
        (wrong, Float["per million units"], "False alarms; in calls and turns per thousand, as fa_per_kcall and fa_per_kturn.", |row| row.point.fa_per_mchar * scores::per(unit)),
        ("delay", Float["unit"], "The mean of what of a loop is generated, capped by the horizon.", |row| row.point.delay),
        ("front", Int, "1 where no setting is better in one of the three and no worse in the others.", |row| row.front),
        ("chosen", Int, "1 where settings.toml holds it for the model.", |row| row.chosen),
        ("candidate", Int, "1 where it is what was tried for all models.", |row| row.candidate),
        ("in_use", Int, "1 where it is in use.", |row| row.in_use),
        ("names", Text, "Its names, as `document; recommended`.", |row| row.names.as_deref()),
    ]
}

/// What is marked in `pareto.csv`.
#[derive(Clone, Debug)]
pub struct Marked<'a> {
    /// Settings that are rows whether they are on the front or not.
    pub shown: &'a [usize],
    /// What `settings.toml` holds for each model.
    pub chosen: &'a BTreeMap<String, usize>,
    /// The candidate for all models.
    pub candidate: Option<usize>,
    /// What is in use.
    pub in_use: Option<usize>,
    /// The names that settings have.
    pub names: &'a BTreeMap<String, Vec<String>>,
}
