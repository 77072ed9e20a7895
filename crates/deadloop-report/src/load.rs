//! The report's data from the files of a result folder: the only place that knows their columns.

mod board;
mod budget;
mod parts;
mod rows;
mod run;
mod scores;
mod settings;
mod thin;

use crate::data::{
    ALL_MODELS, BesideFloor, Board, By, Choice, LeftOut, Nothing, Outcome, Over, ReportData,
    Restrictive, Role, Verdict,
};
use crate::numbers::Interval;
use board::Source;
use deadloop_score::{FileError, Regions, Results, Table, Why, read_excerpts};
use parts::{Overview, Parts};
use rows::Rows;
use run::run;
use scores::ScoreReader;
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

/// Reads the folder that `replay`, `sweep` or `tune` left.
pub fn load(dir: &Path) -> Result<ReportData, LoadError> {
    let results = Results::read(dir)?;
    let overview = Overview::of(&results.scores)?;
    let mut data = ReportData {
        run: run(&results.manifest, overview.unlabelled, overview.errors),
        settings_toml: settings_toml(dir)?,
        ..ReportData::default()
    };
    let mut settings = Settings::of(&results, &mut data);
    let mut reader = ScoreReader::new(&data.run.objective.name, &results.manifest, overview.quiet);
    let parts = Parts {
        results: &results,
        models: &overview.models,
        chosen: chosen_ids(&results),
        delays: delays(&results),
    };
    data.scores = parts.load(&data.parameters, &mut settings, &mut reader)?;
    data.run.nothing = results.manifest.infeasible.as_ref().map(|why| Nothing {
        constraints: why.constraints.clone(),
        restrictive: why.restrictive.as_ref().map(restrictive),
        cells: why.cells as u64,
        nearest: settings.at(&why.nearest),
        violated: reader.violated.clone(),
    });
    data.run.current_over.clone_from(&reader.current_over);
    data.beside_floors = beside_floors(&results, &mut settings);
    data.by = results
        .scores_by
        .as_ref()
        .map_or_else(Vec::new, |table| by(table, &mut reader, &mut settings));
    if let Some(table) = &results.choice {
        (data.choices, data.shipped) = choices(table, &mut settings);
    }
    if let Some(table) = &results.budget {
        data.budget = budget::budget(table, &mut settings);
    }
    if let Some(table) = &results.outcomes {
        data.outcomes = outcomes(table, &mut settings)?;
    }
    data.opened = read_excerpts(dir)?;
    data.settings = settings.list;
    data.board = match Regions::read(dir)? {
        Some(regions) => board(&results, (&overview, &settings.index, &data), regions)?,
        None => None,
    };
    Ok(data)
}

fn board(
    results: &Results,
    (overview, index, data): (&Overview, &BTreeMap<String, usize>, &ReportData),
    regions: Regions,
) -> Result<Option<Board>, LoadError> {
    let chosen = data.choices.iter().filter_map(|choice| choice.setting);
    let named = |at: &usize| matches!(data.settings[*at].role, Role::Current | Role::Named);
    let marked: Vec<usize> = (0..data.settings.len())
        .filter(named)
        .chain(chosen)
        .chain(data.best())
        .collect();
    let source = Source {
        scores: &results.scores,
        models: &overview.ranked,
        index,
        settings: &data.settings,
        parameters: &data.parameters,
        marked: &marked,
    };
    source.board(regions)
}

fn beside_floors(results: &Results, settings: &mut Settings) -> Vec<BesideFloor> {
    let mut list = Vec::new();
    for (id, floors) in &results.manifest.beside_floors {
        let setting = settings.at(id);
        list.extend(floors.iter().map(|(floor, counts)| BesideFloor {
            setting,
            floor: floor.clone(),
            counts: *counts,
        }));
    }
    // In the order of the folder's settings, not of their hashes.
    list.sort_by_key(|one| one.setting);
    list
}

fn restrictive(by: &deadloop_score::Restrictive) -> Restrictive {
    Restrictive {
        constraint: by.constraint.to_string(),
        met: by.met as u64,
        compared: by.compared,
    }
}

fn settings_toml(dir: &Path) -> Result<Option<String>, LoadError> {
    let path = dir.join("settings.toml");
    match std::fs::read_to_string(&path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(LoadError::Settings { path, source }),
    }
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
pub(super) type Bounds = (Option<f64>, Option<f64>);

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
fn by(table: &Table, reader: &mut ScoreReader, settings: &mut Settings) -> Vec<By> {
    let rows = Rows::new(table);
    let mut list = Vec::new();
    for row in 0..table.rows() {
        let (Some(field), Some(id)) = (table.text("by", row), table.text("setting", row)) else {
            continue;
        };
        if field != "kind" {
            let score = reader.score(&rows, row, settings.at(id), ALL_MODELS);
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

/// The choices, and what is shipped.
fn choices(table: &Table, settings: &mut Settings) -> (Vec<Choice>, Option<Choice>) {
    let rows = Rows::new(table);
    let text = |name: &str, row: usize| rows.text(name, row).unwrap_or_default().to_owned();
    let is_shipped = |row: &usize| rows.text("why", *row) == Some(Why::Shipped.name());
    let mut choice = |row: usize| {
        let held_out = |value: &str, bounds: &str| Interval {
            value: rows.number(&format!("held_out_{value}"), row),
            low: rows.number(&format!("held_out_{bounds}_lo"), row),
            high: rows.number(&format!("held_out_{bounds}_hi"), row),
        };
        Choice {
            model: text("model", row),
            setting: rows
                .text("setting", row)
                .filter(|_| !is_shipped(&row))
                .map(|id| settings.at(id)),
            why: text("why", row),
            reason: text("reason", row),
            kept: rows.count("kept_current", row) > 0,
            thin: rows.count("thin", row) > 0,
            loops: rows.count("loops", row),
            clean_chars: rows.count("held_out_exposure", row),
            recall: held_out("recall", "recall"),
            fa: held_out("fa_per_mchar", "fa"),
            delay: rows.number("held_out_delay", row),
            held_out: rows.number("held_out", row),
            left_out: LeftOut {
                objective: rows.number("left_out", row),
                recall: rows.number("left_out_recall", row),
                fa: rows.number("left_out_fa_per_mchar", row),
            },
            optimism: rows.number("optimism", row),
            over: limits(rows.text("margins", row).unwrap_or_default(), true),
            decided: limits(rows.text("decided", row).unwrap_or_default(), false),
        }
    };
    let (shipped, chosen): (Vec<usize>, Vec<usize>) = (0..table.rows()).partition(is_shipped);
    let chosen = chosen.into_iter().map(&mut choice).collect();
    (chosen, shipped.into_iter().map(choice).next())
}

/// `fa_per_mchar<=1: -0.1235 (bound 1.1235); …`: all limits, or those that are `broken`, with a negative margin.
fn limits(margins: &str, broken: bool) -> Vec<Over> {
    let one = |margin: &str| {
        let (constraint, rest) = margin.rsplit_once(": ")?;
        let (margin, compared) = rest.split_once(" (")?;
        let (by, compared) = compared.trim_end_matches(')').split_once(' ')?;
        (!broken || margin.parse::<f64>().ok()? < 0.0).then_some(Over {
            constraint: constraint.to_owned(),
            compared: compared.parse().ok(),
            by_bound: by == "bound",
        })
    };
    margins.split("; ").filter_map(one).collect()
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
                Verdict::ALL.map(Verdict::name).join(", ")
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
