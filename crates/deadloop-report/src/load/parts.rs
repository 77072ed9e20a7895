//! `scores.parquet` in two passes, a part at a time: a sweep leaves a row for each cell and model,
//! and a report shows few of them.

use super::Bounds;
use super::rows::Rows;
use super::scores::{COUNTS, ScoreReader, columns, tally};
use super::settings::Settings;
use crate::data::{ALL_MODELS, Role, Score};
use deadloop_score::{FileError, Results, ScoresFile, Table, Tally};
use std::collections::{BTreeMap, BTreeSet};

/// Models whose cells make a line in a chart; of the others only named and chosen settings are kept.
const CURVES: usize = 8;

/// What has to be known before the rows are read.
pub(super) struct Overview {
    /// The models with the most loops.
    pub(super) models: BTreeSet<String>,
    /// All of them, those with the most loops first.
    pub(super) ranked: Vec<String>,
    /// What a setting that never alarms leaves of all models together.
    pub(super) quiet: Tally,
    /// Transcripts without a label.
    pub(super) unlabelled: u64,
    /// Transcripts on which some setting failed, at most.
    pub(super) errors: u64,
}

impl Overview {
    /// The first pass: few columns of all rows.
    pub(super) fn of(scores: &ScoresFile) -> Result<Self, FileError> {
        let mut loops: BTreeMap<String, u64> = BTreeMap::new();
        let (mut quiet, mut unlabelled, mut errors) = (Tally::default(), 0, 0);
        let mut columns = vec!["setting", "model", "loops", "unlabelled", "errors"];
        columns.extend(COUNTS.map(|(name, _)| name));
        scores.each(&columns, |part| {
            let rows = Rows::new(&part);
            for row in 0..part.rows() {
                let Some(model) = rows.text("model", row) else {
                    continue;
                };
                if model != ALL_MODELS {
                    if !loops.contains_key(model) {
                        loops.insert(model.to_owned(), rows.count("loops", row));
                    }
                    continue;
                }
                unlabelled = rows.count("unlabelled", row).max(unlabelled);
                errors = rows.count("errors", row).max(errors);
                if rows.text("setting", row) == Some("never") {
                    quiet = tally(&rows, row);
                }
            }
        })?;
        let mut loops: Vec<(String, u64)> = loops.into_iter().collect();
        loops.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        let ranked: Vec<String> = loops.into_iter().map(|(model, _)| model).collect();
        Ok(Self {
            models: ranked.iter().take(CURVES).cloned().collect(),
            ranked,
            quiet,
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
    /// The interval of the delay by setting and model.
    pub(super) delays: BTreeMap<(&'r str, &'r str), Bounds>,
}

/// Rows that are kept so far.
#[derive(Default)]
struct Kept {
    scores: Vec<Score>,
    /// Setting and model of rows of settings with a name: a named setting may be a cell of the grid
    /// too, and then has two rows that say the same.
    named: BTreeSet<(usize, String)>,
    /// Cells of single models; from time to time what makes no line is dropped.
    cells: BTreeMap<String, Vec<Score>>,
}

impl Parts<'_> {
    /// The second pass: all models together for every setting; named and chosen settings for every
    /// model; of the largest models also the cells of their operating curves.
    pub(super) fn load(
        &self,
        parameters: &[String],
        settings: &mut Settings,
        reader: &mut ScoreReader,
    ) -> Result<Vec<Score>, FileError> {
        let mut wanted = columns();
        wanted.push(reader.objective().to_owned());
        wanted.extend(parameters.iter().map(|name| format!("p.{name}")));
        wanted.sort_unstable();
        wanted.dedup();
        let wanted: Vec<&str> = wanted.iter().map(String::as_str).collect();
        let mut kept = Kept::default();
        self.results.scores.each(&wanted, |part| {
            self.add(&part, parameters, settings, reader, &mut kept);
            kept.cells.values_mut().for_each(prune);
        })?;
        kept.scores.extend(kept.cells.into_values().flatten());
        Ok(kept.scores)
    }

    fn add(
        &self,
        part: &Table,
        parameters: &[String],
        settings: &mut Settings,
        reader: &mut ScoreReader,
        kept: &mut Kept,
    ) {
        let rows = Rows::new(part);
        for row in 0..part.rows() {
            let (Some(id), Some(model)) = (rows.text("setting", row), rows.text("model", row))
            else {
                continue;
            };
            let at = settings.at(id);
            let named = settings.list[at].role != Role::Cell || self.chosen.contains(id);
            if named && !kept.named.insert((at, model.to_owned())) {
                continue;
            }
            if model == ALL_MODELS {
                let value = |name: &String| part.shown(&format!("p.{name}"), row);
                let values = parameters.iter().map(value);
                settings.list[at].params = values.map(|v| v.filter(|v| !v.is_empty())).collect();
            }
            if named || model == ALL_MODELS {
                let score = reader.score(&rows, row, at, model);
                kept.scores.push(self.completed(score, id));
            } else if self.models.contains(model) {
                let score = reader.score(&rows, row, at, model);
                kept.cells.entry(model.to_owned()).or_default().push(score);
            }
        }
    }

    /// With what stands in other files.
    fn completed(&self, mut score: Score, id: &str) -> Score {
        if let Some(ends) = self.delays.get(&(id, score.model.as_str())) {
            (score.delay.low, score.delay.high) = *ends;
        }
        let means = self.results.manifest.macro_means.get(id);
        if let Some(means) = means.filter(|_| score.model == ALL_MODELS) {
            score.macro_means = ["recall", "fa_per_mchar"].map(|name| means.get(name).copied());
        }
        score
    }
}

/// Keeps the cells with more recall than any with no more false alarms: the steps of the curve.
fn prune(cells: &mut Vec<Score>) {
    let place = |score: &Score| Some((score.fa.value?, score.recall.value?));
    cells.retain(|score| place(score).is_some());
    cells.sort_by(|a, b| {
        let order = |score: &Score| place(score).unwrap_or_default();
        let ((a, b), (c, d)) = (order(a), order(b));
        a.total_cmp(&c).then(d.total_cmp(&b))
    });
    let mut best = f64::NEG_INFINITY;
    cells.retain(|score| {
        let recall = score.recall.value.unwrap_or_default();
        let is_step = recall > best;
        best = best.max(recall);
        is_step
    });
}
