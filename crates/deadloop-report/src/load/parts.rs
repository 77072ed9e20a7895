//! `scores.parquet` in two passes, a part at a time: a sweep leaves a row for each cell and model,
//! and a report shows few of them.

use super::rows::{Texts, Turns};
use super::scores::{ScoreReader, Written};
use super::settings::Settings;
use crate::data::{ALL_MODELS, Score};
use deadloop_score::wrong_rate;
use deadloop_score::{Cells, Count, FileError, Results, ScoreRows, ScoresFile, Table};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Models whose cells make a line in a chart; of the others only named and chosen settings are kept.
const CURVES: usize = 8;

/// What has to be known before the rows are read.
pub(super) struct Overview {
    /// The models with the most loops.
    pub(super) models: BTreeSet<String>,
    /// Transcripts without a label.
    pub(super) unlabelled: u64,
    /// Transcripts on which some setting failed, at most.
    pub(super) errors: u64,
}

impl Overview {
    /// The first pass: few columns of all rows.
    pub(super) fn of(scores: &ScoresFile) -> Result<Self, FileError> {
        let mut loops: BTreeMap<String, u64> = BTreeMap::new();
        let (mut unlabelled, mut errors) = (0, 0);
        let loops_are = Count::LOOPS.map(Count::name);
        let more = ["model", "unlabelled", "errors"];
        let columns: Vec<&str> = more.into_iter().chain(loops_are).collect();
        scores.each(&columns, |part| {
            let rows = ScoreRows::new(&part);
            for row in 0..part.rows() {
                match rows.model(row) {
                    None => {}
                    Some(ALL_MODELS) => {
                        let tally = rows.tally(row);
                        unlabelled = tally.get(Count::Unlabelled).max(unlabelled);
                        errors = tally.get(Count::Errors).max(errors);
                    }
                    Some(model) if loops.contains_key(model) => {}
                    Some(model) => {
                        loops.insert(model.to_owned(), rows.tally(row).loops());
                    }
                }
            }
        })?;
        let mut loops: Vec<(String, u64)> = loops.into_iter().collect();
        loops.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        let ranked: Vec<String> = loops.into_iter().map(|(model, _)| model).collect();
        Ok(Self {
            models: ranked.iter().take(CURVES).cloned().collect(),
            unlabelled,
            errors,
        })
    }
}

/// Which rows are kept, and what is added to them.
pub(super) struct Parts<'r> {
    /// The folder.
    pub(super) results: &'r Results,
    /// Models whose cells are kept as far as they make a line.
    pub(super) models: &'r BTreeSet<String>,
    /// Settings that were chosen.
    pub(super) chosen: BTreeSet<&'r str>,
    /// The intervals over groups.
    pub(super) intervals: Written<'r>,
}

/// Rows that are kept so far.
#[derive(Default)]
struct Kept {
    scores: Vec<Score>,
    /// Setting and model of rows of settings with a name: a named setting may be a cell of the grid
    /// too, and then has two rows that say the same.
    named: BTreeSet<(usize, String)>,
    /// The models that were met.
    met: Turns,
    /// Of each whether it makes a line, and the cells of that line.
    curves: Vec<(bool, Curve)>,
    /// The values of parameters, each once.
    values: Texts,
    /// The row of this part whose values were asked for last, and the setting that has them.
    last: Option<(usize, usize)>,
}

/// A setting whose rows are read: they follow each other.
#[derive(Clone, Copy)]
struct Current<'p> {
    id: &'p str,
    /// Whether it is more than a cell.
    named: bool,
    /// Its place; `None` until a row of it is kept.
    at: Option<usize>,
}

impl Parts<'_> {
    /// The second pass: all models together for every setting; named and chosen settings for every
    /// model; of the largest models also the cells of their operating curves.
    pub(super) fn load(
        &self,
        parameters: &[String],
        settings: &mut Settings,
        reader: &ScoreReader,
    ) -> Result<Vec<Score>, FileError> {
        let params: Vec<String> = parameters.iter().map(|name| format!("p.{name}")).collect();
        let mut wanted = ["setting", "model", "latency_p50", "latency_p90"].to_vec();
        wanted.extend(ScoreRows::tallied());
        let bounded: Vec<String> = ScoreRows::bounded().collect();
        wanted.extend(bounded.iter().map(String::as_str));
        wanted.extend(params.iter().map(String::as_str));
        let mut kept = Kept::default();
        self.results.scores.each(&wanted, |part| {
            self.add(&part, &params, settings, reader, &mut kept);
        })?;
        let mut curves: Vec<(&Arc<str>, (bool, Curve))> =
            kept.met.names().iter().zip(kept.curves).collect();
        curves.sort_unstable_by_key(|(model, _)| *model);
        let steps = curves
            .into_iter()
            .flat_map(|(_, (_, curve))| curve.0.into_values());
        kept.scores.extend(steps.map(|(_, score)| score));
        Ok(kept.scores)
    }

    fn add(
        &self,
        part: &Table,
        params: &[String],
        settings: &mut Settings,
        reader: &ScoreReader,
        kept: &mut Kept,
    ) {
        let rows = ScoreRows::new(part);
        let params: Vec<Option<&Cells>> = params.iter().map(|name| part.column(name)).collect();
        let mut current: Option<Current<'_>> = None;
        kept.last = None;
        for row in 0..part.rows() {
            let (Some(id), Some(model)) = (rows.setting(row), rows.model(row)) else {
                continue;
            };
            let mut setting = match current {
                Some(same) if same.id == id => same,
                _ => self.setting(id, settings),
            };
            let whose = kept.met.of(model);
            if whose == kept.curves.len() {
                kept.curves
                    .push((self.models.contains(model), Curve::default()));
            }
            let (all, curved) = (model == ALL_MODELS, kept.curves[whose].0);
            if all || curved || setting.named {
                let at = setting.at.unwrap_or_else(|| settings.at(id));
                setting.at = Some(at);
                if setting.named && !kept.named.insert((at, model.to_owned())) {
                    // Its other row says the same.
                } else if setting.named || all {
                    if all {
                        settings.list[at].params = kept.values(&params, row, settings);
                        kept.last = Some((row, at));
                    }
                    let score = reader.score(&rows, row, at, model);
                    kept.scores.push(self.completed(score, id));
                } else {
                    kept.curve(reader, &rows, row, (at, whose));
                }
            }
            current = Some(setting);
        }
    }

    fn setting<'p>(&self, id: &'p str, settings: &Settings) -> Current<'p> {
        Current {
            id,
            named: settings.is_named(id) || self.chosen.contains(id),
            at: None,
        }
    }

    /// Adds what other files say.
    fn completed(&self, mut score: Score, id: &str) -> Score {
        if let Some(intervals) = self.intervals.get(&(id, score.model.as_str())) {
            score.intervals.clone_from(intervals);
        }
        let means = self.results.manifest.macro_means.get(id);
        if let Some(means) = means.filter(|_| score.model == ALL_MODELS) {
            score.macro_means = ["recall", wrong_rate(self.results.manifest.judge.unit).name]
                .map(|name| means.get(name).copied());
        }
        score
    }
}

impl Kept {
    /// The values of a row's parameters. Most are those of the row before.
    fn values(
        &mut self,
        params: &[Option<&Cells>],
        row: usize,
        settings: &Settings,
    ) -> Vec<Option<Arc<str>>> {
        let last = self.last;
        let known = last.and_then(|(_, at)| settings.list.get(at));
        let value = |(param, cells): (usize, &Option<&Cells>)| {
            let cells = (*cells)?;
            let before = last
                .zip(known)
                .filter(|((last, _), _)| cells.same(*last, row));
            if let Some((_, before)) = before {
                return before.params.get(param)?.clone();
            }
            let value = cells.cell(row)?.csv();
            (!value.is_empty()).then(|| self.values.once(&value))
        };
        params.iter().enumerate().map(value).collect()
    }

    /// Adds a cell of a single model, if its place is defined.
    fn curve(
        &mut self,
        reader: &ScoreReader,
        rows: &ScoreRows<'_>,
        row: usize,
        (at, whose): (usize, usize),
    ) {
        let tally = rows.tally(row);
        let place = |measure| reader.value(measure, &tally);
        let Some(place) = place(reader.wrong()).zip(place(reader.height())) else {
            return;
        };
        let (_, curve) = &mut self.curves[whose];
        if curve.admits(place) {
            let model = &self.met.names()[whose];
            curve.insert(place, reader.score(rows, row, at, model));
        }
    }
}

/// The cells of a model that are higher than any with no more wrong alarms: the steps of its plane.
/// Rates are never negative, so their bits order as they do.
#[derive(Default)]
struct Curve(BTreeMap<u64, (f64, Score)>);

impl Curve {
    fn admits(&self, (rate, height): (f64, f64)) -> bool {
        let below = self.0.range(..=rate.to_bits()).next_back();
        below.is_none_or(|(_, (least, _))| height > *least)
    }

    fn insert(&mut self, (rate, height): (f64, f64), score: Score) {
        let key = rate.to_bits();
        let beaten = self.0.range(key..).take_while(|(_, at)| at.0 <= height);
        let beaten: Vec<u64> = beaten.map(|(key, _)| *key).collect();
        for key in beaten {
            self.0.remove(&key);
        }
        self.0.insert(key, (height, score));
    }
}
