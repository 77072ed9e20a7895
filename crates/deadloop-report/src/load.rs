//! The report's data from the files of a result folder: the only place that knows their columns.

mod rows;
mod scores;
mod settings;

use crate::data::{ALL_MODELS, By, Choice, Objective, Outcome, ReportData, Role, Run, Verdict};
use crate::numbers::{Interval, wilson};
use deadloop_score::{
    Constraint, FileError, JudgeOptions, Manifest, Metric, Results, Table, poisson,
};
use rows::Rows;
use scores::ScoreRows;
use settings::Settings;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Why a folder could not be read.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// A file is missing or broken.
    #[error(transparent)]
    File(#[from] FileError),
    /// A file holds what it should not.
    #[error("{file}: row {row}: {what}")]
    Row {
        /// The file.
        file: &'static str,
        /// Its row, the first being 1.
        row: usize,
        /// What is wrong, and what was expected.
        what: String,
    },
    /// `settings.toml` is there and cannot be read.
    #[error("{path}: {source}")]
    Settings {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
}

/// Models that keep all of their cells; of the others only named and chosen settings are kept.
const CURVES: usize = 8;

/// Reads the folder that `replay`, `sweep` or `tune` left.
pub fn load(dir: &Path) -> Result<ReportData, LoadError> {
    let results = Results::read(dir)?;
    let run = run(&results);
    let mut data = ReportData {
        run,
        settings_toml: settings_toml(dir)?,
        ..ReportData::default()
    };
    let mut settings = Settings::of(&results, &mut data);
    let constraints = constraints(&results.manifest);
    load_scores(&results, &mut data, &mut settings, &constraints);
    data.by = results
        .scores_by
        .as_ref()
        .map_or_else(Vec::new, |table| by(table, &data, &mut settings));
    data.choices = results
        .choice
        .as_ref()
        .map_or_else(Vec::new, |table| choices(table, &mut settings));
    if let Some(table) = &results.outcomes {
        data.outcomes = outcomes(table, &mut settings)?;
    }
    data.settings = settings.list;
    Ok(data)
}

fn settings_toml(dir: &Path) -> Result<Option<String>, LoadError> {
    let path = dir.join("settings.toml");
    match std::fs::read_to_string(&path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(LoadError::Settings { path, source }),
    }
}

fn constraints(manifest: &Manifest) -> Vec<Constraint> {
    manifest
        .constraints
        .iter()
        .filter_map(|text| text.parse().ok())
        .collect()
}

fn run(results: &Results) -> Run {
    let manifest = &results.manifest;
    let limit = constraints(manifest)
        .into_iter()
        .find(|one| one.metric == Metric::FaPerMchar && one.at_most);
    let corpus = &manifest.corpus;
    let of_path = || {
        Path::new(&corpus.path).file_name().map_or_else(
            || corpus.path.clone(),
            |name| name.to_string_lossy().into_owned(),
        )
    };
    let detectors = manifest
        .detectors
        .iter()
        .map(|(name, version)| (name.clone(), version.to_string()));
    Run {
        command: manifest.command.clone(),
        corpus: corpus.name.clone().unwrap_or_else(of_path),
        corpus_hash: Some(corpus.hash.clone()).filter(|hash| !hash.is_empty()),
        versions: std::iter::once(("deadloop".to_owned(), manifest.deadloop.clone()))
            .chain(detectors)
            .collect(),
        seed: Some(manifest.seed),
        judge: judged(&manifest.judge),
        constraints: manifest.constraints.clone(),
        limit: limit.map(|limit| limit.bound),
        objective: manifest
            .objective
            .as_deref()
            .map_or_else(Objective::default, objective),
        counts: counts(results),
    }
}

fn objective(name: &str) -> Objective {
    let more_is_better = name.parse::<Metric>().map_or(true, Metric::more_is_better);
    let is_share = !matches!(name, "fa_per_mchar" | "lost" | "delay" | "utility");
    Objective {
        name: name.to_owned(),
        more_is_better,
        is_share,
    }
}

/// The judge's options by the names of scoring.md.
fn judged(options: &JudgeOptions) -> Vec<(String, String)> {
    let or_none =
        |value: Option<u64>| value.map_or_else(|| "none".to_owned(), |value| value.to_string());
    let pair = |name: &str, value: String| (name.to_owned(), value);
    vec![
        pair("early", options.early.to_string()),
        pair("deadline", or_none(options.deadline)),
        pair("grace", options.grace.to_string()),
        pair(
            "transient",
            format!("{:?}", options.transient).to_lowercase(),
        ),
        pair("at", format!("{:?}", options.at).to_lowercase()),
        pair("horizon", or_none(options.horizon)),
    ]
}

fn counts(results: &Results) -> Vec<(String, u64)> {
    let manifest = &results.manifest;
    let scores = Rows::new(&results.scores);
    let all = |name: &str| {
        let rows =
            (0..results.scores.rows()).filter(|row| scores.text("model", *row) == Some(ALL_MODELS));
        rows.map(|row| scores.count(name, row)).max().unwrap_or(0)
    };
    let mut counts = vec![
        ("transcripts", manifest.corpus.transcripts),
        ("chars", manifest.corpus.chars),
        ("filtered out", manifest.corpus.filtered),
        ("rejected", manifest.corpus.rejected),
        ("unlabelled", all("unlabelled")),
        ("errors", all("errors")),
        ("cells", manifest.cells),
    ];
    let refused: u64 = manifest.refused.values().sum();
    let left_out = manifest.models_left_out.len() as u64;
    counts.extend(
        [
            ("impossible cells", refused),
            ("models without rows of their own", left_out),
        ]
        .into_iter()
        .filter(|count| count.1 > 0),
    );
    counts
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}

fn load_scores(
    results: &Results,
    data: &mut ReportData,
    settings: &mut Settings,
    constraints: &[Constraint],
) {
    let mut reader = ScoreRows::new(
        &results.scores,
        &data.run.objective.name,
        constraints,
        &results.manifest.worth,
    );
    let models = largest(&results.scores);
    let chosen = chosen_ids(results);
    let delays = delays(results);
    for row in 0..results.scores.rows() {
        let (Some(id), Some(model)) = (
            reader.rows.text("setting", row),
            reader.rows.text("model", row),
        ) else {
            continue;
        };
        let at = settings.at(id);
        if model == ALL_MODELS {
            let params = data.parameters.iter().map(|name| {
                results
                    .scores
                    .shown(&format!("p.{name}"), row)
                    .filter(|text| !text.is_empty())
            });
            settings.list[at].params = params.collect();
        }
        let kept = model == ALL_MODELS
            || models.contains(model)
            || settings.list[at].role != Role::Cell
            || chosen.contains(id);
        if !kept {
            continue;
        }
        let mut score = reader.score(row, at, model);
        if let Some(ends) = delays.get(&(id, model)) {
            (score.delay.low, score.delay.high) = *ends;
        }
        if let Some(means) = results
            .manifest
            .macro_means
            .get(id)
            .filter(|_| model == ALL_MODELS)
        {
            score.macro_means = ["recall", "fa_per_mchar"].map(|name| means.get(name).copied());
        }
        data.scores.push(score);
    }
}

/// The models with the most loops.
fn largest(table: &Table) -> BTreeSet<String> {
    let rows = Rows::new(table);
    let mut loops: BTreeMap<&str, u64> = BTreeMap::new();
    for row in 0..table.rows() {
        if let Some(model) = rows.text("model", row).filter(|model| *model != ALL_MODELS) {
            loops
                .entry(model)
                .or_insert_with(|| rows.count("loops", row));
        }
    }
    let mut loops: Vec<(&str, u64)> = loops.into_iter().collect();
    loops.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
    loops
        .into_iter()
        .take(CURVES)
        .map(|(model, _)| model.to_owned())
        .collect()
}

fn chosen_ids(results: &Results) -> BTreeSet<&str> {
    let table = results.choice.as_ref();
    table.map_or_else(BTreeSet::new, |table| {
        (0..table.rows())
            .filter_map(|row| table.text("setting", row))
            .collect()
    })
}

/// From, to; `None` where it is n/a.
type Bounds = (Option<f64>, Option<f64>);

/// The resampled interval of the delay, by setting and model.
fn delays(results: &Results) -> BTreeMap<(&str, &str), Bounds> {
    let Some(table) = &results.intervals else {
        return BTreeMap::new();
    };
    let rows = Rows::new(table);
    let is_delay = |row: &usize| table.text("metric", *row) == Some("delay");
    let entry = |row| {
        Some((
            (table.text("setting", row)?, table.text("model", row)?),
            (rows.number("lo", row), rows.number("hi", row)),
        ))
    };
    (0..table.rows())
        .filter(is_delay)
        .filter_map(entry)
        .collect()
}

/// Scores by field; those by kind have a table of their own.
fn by(table: &Table, data: &ReportData, settings: &mut Settings) -> Vec<By> {
    let worth = deadloop_score::Worth::default();
    let mut reader = ScoreRows::new(table, &data.run.objective.name, &[], &worth);
    let mut list = Vec::new();
    for row in 0..table.rows() {
        let (Some(field), Some(id)) = (table.text("by", row), table.text("setting", row)) else {
            continue;
        };
        if field != "kind" {
            let score = reader.score(row, settings.at(id), ALL_MODELS);
            list.push(By {
                field: field.to_owned(),
                value: table.text("value", row).map(str::to_owned),
                score,
            });
        }
    }
    list.sort_by(|a, b| (&a.field, &a.value).cmp(&(&b.field, &b.value)));
    list
}

fn choices(table: &Table, settings: &mut Settings) -> Vec<Choice> {
    let rows = Rows::new(table);
    let text = |name: &str, row: usize| rows.text(name, row).unwrap_or_default().to_owned();
    let choice = |row: usize| {
        let (loops, exposure) = (rows.count("loops", row), rows.count("exposure", row));
        Choice {
            model: text("model", row),
            setting: rows.text("setting", row).map(|id| settings.at(id)),
            why: text("why", row),
            reason: text("reason", row),
            kept: rows.count("kept_current", row) > 0,
            thin: rows.count("thin", row) > 0,
            loops,
            clean_chars: exposure,
            recall: held_out_recall(rows.number("held_out_recall", row), loops),
            fa: held_out_fa(rows.number("held_out_fa_per_mchar", row), exposure),
            delay: rows.number("held_out_delay", row),
            optimism: rows.number("optimism", row),
        }
    };
    (0..table.rows()).map(choice).collect()
}

/// The file has the ratio and its denominator; their product is the count.
fn held_out_recall(recall: Option<f64>, loops: u64) -> Interval {
    recall.map_or_else(Interval::default, |recall| {
        wilson((recall * loops as f64).round() as u64, loops)
    })
}

/// The file has the rate and the chars that the setting watched in sample, which differ from those held out by less
/// than an alarm's worth; the product, rounded, is the count that the interval is made from.
fn held_out_fa(rate: Option<f64>, exposure: u64) -> Interval {
    let Some(rate) = rate.filter(|_| exposure > 0) else {
        return Interval::default();
    };
    let millions = exposure as f64 / 1e6;
    let ends = poisson((rate * millions).round() as u64);
    Interval {
        value: Some(rate),
        low: Some(ends.lo / millions),
        high: Some(ends.hi / millions),
    }
}

fn outcomes(table: &Table, settings: &mut Settings) -> Result<Vec<Outcome>, LoadError> {
    let rows = Rows::new(table);
    let outcome = |row: usize| {
        let text = |name: &str| rows.text(name, row).map(str::to_owned);
        let count = |name: &str| rows.whole(name, row);
        let name = rows.text("verdict", row).unwrap_or_default();
        let verdict = Verdict::parse(name).ok_or_else(|| LoadError::Row {
            file: "outcomes.parquet",
            row: row + 1,
            what: format!(
                "unknown verdict {name:?}; expected one of {}",
                Verdict::ALL.map(|verdict| verdict.1).join(", ")
            ),
        })?;
        Ok(Outcome {
            transcript: text("transcript").unwrap_or_default(),
            model: text("model").unwrap_or_default(),
            setting: settings.at(rows.text("setting", row).unwrap_or_default()),
            kind: text("kind"),
            channel: text("channel").or_else(|| text("alarm_channel")),
            onset: count("onset"),
            end: count("end"),
            length: count("length"),
            verdict,
            alarm_at: count("alarm_at"),
            alarm_kind: text("alarm_kind"),
            detector: text("detector"),
            latency: rows.number("latency", row),
            lost: count("lost"),
            error: text("error"),
        })
    };
    (0..table.rows()).map(outcome).collect()
}
