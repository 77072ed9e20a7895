//! The report's data from the files of a result folder: the only place that knows their columns.

mod outcomes;
mod parts;
mod rows;
mod run;
mod scores;
mod settings;

use crate::data::{ALL_MODELS, By, ChoiceFigures, ChoiceRow, ReportData};
use deadloop_score::replay::detect::Unit as Counted;
use deadloop_score::{
    FileError, IntervalRow, Measure, Metric, Results, Rows, ScoreRows, Table, measures,
    read_excerpts, read_text_if_named,
};
use outcomes::outcomes;
use parts::{Overview, Parts};
use run::run;
use scores::{ScoreReader, Written};
use settings::Settings;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

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
}

/// Reads the folder that `replay`, `sweep` or `tune` left.
pub fn load(dir: &Path) -> Result<ReportData, LoadError> {
    let results = Results::but_outcomes(dir)?;
    let overview = Overview::of(&results.scores)?;
    let mut data = ReportData {
        run: run(&results.manifest, overview.unlabelled, overview.errors),
        settings_toml: read_text_if_named(&dir.join("settings.toml"))?,
        ..ReportData::default()
    };
    let mut settings = Settings::of(&results, &mut data);
    let reader = ScoreReader::new(&results.manifest, &data.run);
    let written = interval_rows(&results);
    let parts = Parts {
        results: &results,
        models: &overview.models,
        chosen: chosen_ids(&results),
        intervals: intervals(&written),
    };
    data.scores = parts.load(&data.parameters, &mut settings, &reader)?;
    data.advice.clone_from(&results.manifest.advice);
    data.by = results
        .scores_by
        .as_ref()
        .map_or_else(Vec::new, |table| by(table, &reader, &mut settings));
    if let Some(table) = &results.choice {
        data.choices = choices(table, &mut settings);
    }
    let single = results.choice.is_none() && results.manifest.settings.len() < 2;
    outcomes(dir, single, &mut settings, &mut data)?;
    data.opened = read_excerpts(dir)?;
    data.redacted = data.opened.as_ref().is_some_and(|(head, _)| head.redacted);
    data.settings = settings.list;
    Ok(data)
}

/// The rows of intervals.csv.
fn interval_rows(results: &Results) -> Vec<IntervalRow> {
    let rows = results.intervals.as_ref().map(Rows::new);
    let read = |rows: Rows<'_>| {
        let each = (0..rows.count_rows()).map(|row| IntervalRow::read(&rows, row));
        each.collect()
    };
    rows.map(read).unwrap_or_default()
}

fn ends(row: &IntervalRow) -> Option<deadloop_score::Interval> {
    Some(deadloop_score::Interval {
        lo: row.lo?,
        hi: row.hi?,
    })
}

fn chosen_ids(results: &Results) -> BTreeSet<&str> {
    let table = results.choice.as_ref();
    table.map_or_else(BTreeSet::new, |table| {
        let rows = 0..table.rows();
        rows.filter_map(|row| table.text("setting", row)).collect()
    })
}

/// The intervals over groups.
fn intervals(rows: &[IntervalRow]) -> Written<'_> {
    let mut written = Written::new();
    for row in rows {
        let (Some(setting), Some(model)) = (row.setting.as_deref(), row.model.as_deref()) else {
            continue;
        };
        let measure = row.metric.as_deref().and_then(Measure::named);
        if let (Some(measure), Some(ends)) = (measure, ends(row)) {
            let entry: &mut BTreeMap<_, _> = written.entry((setting, model)).or_default();
            entry.insert(measure.name, ends);
        }
    }
    written
}

/// Scores by field; those by kind and onset have tables of their own.
fn by(table: &Table, reader: &ScoreReader, settings: &mut Settings) -> Vec<By> {
    let rows = ScoreRows::new(table);
    let mut list = Vec::new();
    for row in 0..table.rows() {
        let (Some(field), Some(id)) = (table.text("by", row), table.text("setting", row)) else {
            continue;
        };
        if field != "kind" && field != "onset" {
            let mut score = reader.score(&rows, row, settings.at(id), ALL_MODELS);
            score.intervals = scores::written(&rows, row);
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

/// The rows of choice.csv.
fn choices(table: &Table, settings: &mut Settings) -> Vec<ChoiceRow> {
    let rows = Rows::new(table);
    let each = (0..table.rows()).map(|row| ChoiceRow {
        setting: rows.text("setting", row).map(|id| settings.at(id)),
        ..choice(&rows, row)
    });
    each.collect()
}

/// The measures that choice.csv may have columns for: those of every unit.
fn told() -> impl Iterator<Item = Metric> {
    Counted::ALL.into_iter().flat_map(measures)
}

/// A row without its setting.
fn choice(rows: &Rows<'_>, row: usize) -> ChoiceRow {
    let text = |name: &str| rows.text(name, row).unwrap_or_default().to_owned();
    let figures = |of: &str| {
        let value = |measure: Metric| {
            let value = rows.number(&format!("{of}_{}", measure.name), row)?;
            Some((measure.name, value))
        };
        ChoiceFigures {
            values: told().filter_map(value).collect(),
            wrong: rows.count(&format!("{of}_wrong"), row),
            transient: rows.count(&format!("{of}_transient"), row),
        }
    };
    ChoiceRow {
        model: text("model"),
        in_use_is: text("in_use"),
        gets: text("gets"),
        reason: text("why"),
        ships: rows.text("ships", row).map(str::to_owned),
        loops: rows.count("loops", row),
        in_use: figures("in_use"),
        held_out: figures("held_out"),
        in_sample: figures("in_sample"),
        ..ChoiceRow::default()
    }
}
