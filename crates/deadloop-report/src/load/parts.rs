//! `scores.parquet` in two passes, a part at a time: a sweep leaves a row for each cell and model,
//! and a report shows few of them.

use super::scores::{ScoreReader, Written};
use super::settings::Settings;
use crate::data::{ALL_MODELS, Score};
use deadloop_score::measure::RECALL;
use deadloop_score::wrong_rate;
use deadloop_score::{Count, FileError, Results, ScoreRows, ScoresFile, Table};
use std::collections::{BTreeMap, BTreeSet};

/// Models whose cells make a line in a chart; of the others only named and chosen settings are kept.
const CURVES: usize = 8;

/// What has to be known before the rows are read.
pub(super) struct Overview {
    /// The models with the most loops.
    pub(super) models: BTreeSet<String>,
    /// All of them, those with the most loops first.
    pub(super) ranked: Vec<String>,
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
        let more = ["setting", "model", "unlabelled", "errors"];
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
            ranked,
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
    /// Cells of single models.
    curves: BTreeMap<String, Curve>,
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
        let curves = kept.curves.into_values();
        let steps = curves.flat_map(|curve| curve.0.into_values());
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
        for row in 0..part.rows() {
            let (Some(id), Some(model)) = (rows.setting(row), rows.model(row)) else {
                continue;
            };
            let (all, curved) = (model == ALL_MODELS, self.models.contains(model));
            let named = settings.is_named(id) || self.chosen.contains(id);
            if !all && !curved && !named {
                continue;
            }
            let at = settings.at(id);
            if named && !kept.named.insert((at, model.to_owned())) {
                continue;
            }
            if all {
                let values = params.iter().map(|name| part.shown(name, row));
                settings.list[at].params = values.map(|v| v.filter(|v| !v.is_empty())).collect();
            }
            if named || all {
                let score = reader.score(&rows, row, at, model);
                kept.scores.push(self.completed(score, id));
            } else {
                kept.curve(reader, &rows, row, (at, model));
            }
        }
    }

    /// With what stands in other files.
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
    /// Adds a cell of a single model, if its place is defined.
    fn curve(
        &mut self,
        reader: &ScoreReader,
        rows: &ScoreRows<'_>,
        row: usize,
        (at, model): (usize, &str),
    ) {
        let tally = rows.tally(row);
        let place = |measure| reader.value(measure, &tally);
        let Some(place) = place(reader.wrong()).zip(place(&RECALL)) else {
            return;
        };
        if !self.curves.contains_key(model) {
            self.curves.insert(model.to_owned(), Curve::default());
        }
        if let Some(curve) = self.curves.get_mut(model)
            && curve.admits(place)
        {
            curve.insert(place, reader.score(rows, row, at, model));
        }
    }
}

/// The cells of a model with more recall than any with no more false alarms: the steps of its operating curve.
/// Rates are never negative, so their bits order as they do.
#[derive(Default)]
struct Curve(BTreeMap<u64, (f64, Score)>);

impl Curve {
    fn admits(&self, (rate, recall): (f64, f64)) -> bool {
        let below = self.0.range(..=rate.to_bits()).next_back();
        below.is_none_or(|(_, (least, _))| recall > *least)
    }

    fn insert(&mut self, (rate, recall): (f64, f64), score: Score) {
        let key = rate.to_bits();
        let beaten = self.0.range(key..).take_while(|(_, at)| at.0 <= recall);
        let beaten: Vec<u64> = beaten.map(|(key, _)| *key).collect();
        for key in beaten {
            self.0.remove(&key);
        }
        self.0.insert(key, (recall, score));
    }
}
