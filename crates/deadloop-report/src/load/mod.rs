//! The reader of result folders. No other module depends on the columns of their tables.

mod outcomes;
mod run;

use crate::data::{
    ALL_MODELS, ChoiceFigures, ChoiceRow, FieldScore, ReportData, Role, Score, SettingRow,
};
use deadloop_score::replay::detect::Unit;
use deadloop_score::tables::polars::prelude::{IdxCa, IdxSize, NamedFrom};
use deadloop_score::tables::{cell_text, floats, ints, texts};
use deadloop_score::{
    BY_MODEL, Constraint, DataFrame, FileError, Manifest, Metric, NEVER, ResultFolder, Scores,
    TOTAL, measures, read_excerpts, read_text_if_named,
};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;
use std::sync::{Arc, OnceLock};

/// The error for a result folder that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// A file is missing or cannot be parsed.
    #[error(transparent)]
    File(#[from] FileError),
    /// A file has an invalid row.
    #[error("{file}: row {row}: {what}")]
    Row {
        /// The name of the file.
        file: &'static str,
        /// The number of the row, from 1.
        row: usize,
        /// The problem, and the expected value.
        what: String,
    },
}

/// The maximum number of models whose cells are loaded, to draw a line. For other models only named and chosen settings
/// are.
const MAX_MODELS_WITH_LINE: usize = 8;

/// Reads a result folder of `replay`, `sweep`, `tune`, `repair` or `budget`.
pub fn load(dir: &Path) -> Result<ReportData, LoadError> {
    let manifest = Manifest::read(dir)?;
    if ["repair", "budget"].contains(&manifest.command.as_str()) {
        return Ok(ReportData {
            run: run::run_info(&manifest, 0, 0),
            summary: manifest.summary,
            ..ReportData::default()
        });
    }
    let results = ResultFolder::read(dir)?;
    let scores = ScoreFrame::new(&results);
    let mut data = ReportData {
        run: run::run_info(
            &results.manifest,
            scores.largest_count("unlabelled"),
            scores.largest_count("errors"),
        ),
        settings_toml: read_text_if_named(&dir.join("settings.toml"))?,
        parameters: scores.parameters(),
        advice: results.manifest.advice.clone(),
        ..ReportData::default()
    };
    let mut settings = SettingIndex::new(&scores, &results.manifest);
    let choices = results.choice.as_ref();
    let chosen: BTreeSet<&str> = choices
        .into_iter()
        .flat_map(|rows| texts(rows, "setting").flatten())
        .collect();
    let is_named = |id: &str| chosen.contains(id) || settings.role_of(id).0 != Role::Cell;
    let rows = scores.select_rows(&data, &is_named);
    (data.scores, data.by) = scores.read_rows(&rows, &data, &mut settings);
    if let Some(rows) = choices {
        data.choices = read_choices(rows, &mut settings);
    }
    let is_single = choices.is_none() && results.manifest.settings.len() < 2;
    outcomes::add_outcomes(dir, is_single, &mut settings, &mut data)?;
    data.opened = read_excerpts(dir)?;
    data.redacted = data.opened.as_ref().is_some_and(|(head, _)| head.redacted);
    data.settings = settings.list;
    Ok(data)
}

/// The rows of scores.parquet in the unit of choice.
struct ScoreFrame<'r> {
    frame: &'r DataFrame,
    /// The key of each row.
    keys: Vec<ScoreKey<'r>>,
}

/// The key of a row: its index, its setting, and the field and the value of its slice.
#[derive(Clone, Copy)]
struct ScoreKey<'r> {
    index: usize,
    setting: &'r str,
    by: &'r str,
    value: Option<&'r str>,
}

/// The rate of wrong alarms and the height of a setting in the plane, and the key of its row.
type PlanePoint<'r> = (f64, f64, ScoreKey<'r>);

impl<'r> ScoreFrame<'r> {
    fn new(results: &'r ResultFolder) -> Self {
        let frame = &results.scores;
        let unit = results.manifest.judge.unit.name();
        let names = texts(frame, "setting").zip(texts(frame, "by"));
        let rows = names.zip(texts(frame, "value")).zip(texts(frame, "unit"));
        let mut keys = Vec::new();
        for (index, (((setting, by), value), own)) in rows.enumerate() {
            if let (Some(setting), Some(by), true) = (setting, by, own == Some(unit)) {
                keys.push(ScoreKey {
                    index,
                    setting,
                    by,
                    value,
                });
            }
        }
        Self { frame, keys }
    }

    fn totals(&self) -> impl Iterator<Item = ScoreKey<'r>> {
        self.keys.iter().copied().filter(|key| key.by == TOTAL)
    }

    /// Returns the maximum of a count's column over all settings.
    fn largest_count(&self, count: &str) -> u64 {
        let counts: Vec<Option<i64>> = ints(self.frame, count).collect();
        let most = self.totals().filter_map(|key| *counts.get(key.index)?);
        let most = most.max();
        most.and_then(|n| u64::try_from(n).ok()).unwrap_or(0)
    }

    /// Returns the names of the parameters that vary.
    fn parameters(&self) -> Vec<String> {
        let names = self.frame.get_column_names().into_iter();
        names
            .filter_map(|name| name.strip_prefix("p.").map(str::to_owned))
            .collect()
    }

    /// Selects the rows to load: all models together for every setting, and named settings for every model and field.
    ///
    /// For the models with the most loops, the cells that make a line are selected too.
    fn select_rows(&self, data: &ReportData, is_named: &dyn Fn(&str) -> bool) -> Vec<ScoreKey<'r>> {
        let models = self.keys.iter().filter(|key| key.by == BY_MODEL);
        let loops: Vec<Option<i64>> = ints(self.frame, "loops").collect();
        let [rates, heights] = [data.run.wrong(), data.run.height_measure()]
            .map(|measure| floats(self.frame, measure.name).collect::<Vec<_>>());
        let mut cells: BTreeMap<&str, (i64, Vec<PlanePoint<'r>>)> = BTreeMap::new();
        for key in models {
            let (most, cells) = cells.entry(key.value.unwrap_or_default()).or_default();
            *most = loops[key.index].unwrap_or(0).max(*most);
            let position = rates
                .get(key.index)
                .copied()
                .flatten()
                .zip(heights.get(key.index).copied().flatten());
            if let Some((rate, height)) = position.filter(|_| !is_named(key.setting)) {
                cells.push((rate, height, *key));
            }
        }
        let mut ranked: Vec<_> = cells
            .iter()
            .map(|(model, (loops, _))| (Reverse(*loops), *model))
            .collect();
        ranked.sort_unstable();
        let with_line: BTreeSet<&str> = ranked
            .iter()
            .take(MAX_MODELS_WITH_LINE)
            .map(|(_, model)| *model)
            .collect();
        let is_kept = |key: &&ScoreKey<'r>| key.by == TOTAL || is_named(key.setting);
        let mut kept: Vec<ScoreKey<'r>> = self.keys.iter().filter(is_kept).copied().collect();
        for (_, (_, mut cells)) in cells
            .into_iter()
            .filter(|(model, _)| with_line.contains(model))
        {
            // The line has the cells that are higher than all cells with no more wrong alarms.
            cells.sort_by(|a, b| a.0.total_cmp(&b.0).then(b.1.total_cmp(&a.1)));
            let mut highest = f64::NEG_INFINITY;
            for (_, height, key) in cells {
                if height > highest {
                    highest = height;
                    kept.push(key);
                }
            }
        }
        kept
    }

    /// Reads the scores of some rows. The first list is by setting and model, and the second by setting and field.
    fn read_rows(
        &self,
        rows: &[ScoreKey<'r>],
        data: &ReportData,
        settings: &mut SettingIndex,
    ) -> (Vec<Score>, Vec<FieldScore>) {
        let indices: Vec<IdxSize> = rows.iter().map(|key| key.index as IdxSize).collect();
        let frame = self
            .frame
            .take(&IdxCa::new("".into(), indices))
            .unwrap_or_default();
        let (mut scores, mut by) = (Vec::new(), Vec::new());
        for (key, read) in rows.iter().zip(Scores::read(&frame, &data.run.worth)) {
            let all = key.by != BY_MODEL;
            let meets = |limit: &Constraint| {
                let value = read.value(limit.metric);
                value.is_some_and(|value| limit.admits(value))
            };
            let score = Score {
                setting: settings.index_of(key.setting),
                model: if all {
                    ALL_MODELS
                } else {
                    key.value.unwrap_or_default()
                }
                .to_owned(),
                meets: key.by == TOTAL && data.run.constraints.iter().all(meets),
                worth: data.run.worth,
                scores: read,
            };
            if [TOTAL, BY_MODEL].contains(&key.by) {
                scores.push(score);
            } else {
                by.push(FieldScore {
                    field: key.by.to_owned(),
                    value: key.value.map(str::to_owned),
                    score,
                });
            }
        }
        // Buckets of a field are ordered by their number.
        by.sort_by_cached_key(|by| {
            let value = by.value.as_deref().unwrap_or_default();
            let number = value
                .split('-')
                .next()
                .and_then(|from| from.parse::<u64>().ok());
            (by.field.clone(), number, value.to_owned())
        });
        (scores, by)
    }
}

/// The settings in the order of the scores, found by id.
struct SettingIndex {
    list: Vec<SettingRow>,
    index: HashMap<String, usize>,
    names: BTreeMap<String, Vec<String>>,
}

impl SettingIndex {
    fn new(scores: &ScoreFrame<'_>, manifest: &Manifest) -> Self {
        let mut settings = Self {
            list: Vec::new(),
            index: HashMap::new(),
            names: manifest.settings.clone(),
        };
        let columns = scores.frame.columns().iter();
        let params: Vec<_> = columns
            .filter(|column| column.name().starts_with("p."))
            .collect();
        let tomls: Vec<Option<&str>> = texts(scores.frame, "settings").collect();
        // Equal values in adjacent settings share one allocation.
        let mut last: Vec<Option<Arc<str>>> = vec![None; params.len()];
        for key in scores.totals() {
            let at = settings.index_of(key.setting);
            let values = params.iter().zip(&mut last).map(|(column, last)| {
                let value = column
                    .get(key.index)
                    .ok()
                    .and_then(|value| cell_text(&value))?;
                if last.as_deref() != Some(&*value) {
                    *last = Some(value.into());
                }
                last.clone()
            });
            settings.list[at].params = values.collect();
            settings.list[at].toml = tomls.get(key.index).copied().flatten().map(Arc::from);
        }
        settings
    }

    /// Returns the index of a setting, and adds a new setting.
    fn index_of(&mut self, id: &str) -> usize {
        if let Some(at) = self.index.get(id) {
            return *at;
        }
        let (role, label) = self.role_of(id);
        self.list.push(SettingRow {
            id: id.to_owned(),
            label,
            role,
            params: Vec::new(),
            toml: None,
            guard: OnceLock::new(),
        });
        self.index.insert(id.to_owned(), self.list.len() - 1);
        self.list.len() - 1
    }

    /// Returns the role and the label of a setting. The name `chosen` is no label.
    fn role_of(&self, id: &str) -> (Role, Option<String>) {
        if id == NEVER {
            return (Role::Never, None);
        }
        let Some(names) = self.names.get(id) else {
            return (Role::Cell, None);
        };
        let mut all = names.iter();
        let in_use = all.any(|name| IN_USE_NAMES.contains(&name.as_str()));
        let is_label = |name: &&str| !IN_USE_NAMES.contains(name) && **name != *CHOSEN_NAME;
        let labels: Vec<&str> = names.iter().map(String::as_str).filter(is_label).collect();
        let label = (!labels.is_empty()).then(|| labels.join(", "));
        match (in_use, label) {
            (true, label) => (Role::InUse, Some(label.unwrap_or_else(|| "in use".into()))),
            (false, Some(label)) => (Role::Named, Some(label)),
            (false, None) => (Role::Cell, None),
        }
    }
}

/// The names of the setting in use in manifests.
const IN_USE_NAMES: [&str; 2] = ["in use", "current"];
/// The name of the chosen setting in manifests.
const CHOSEN_NAME: &str = "chosen";

/// Reads the rows of choice.csv.
fn read_choices(table: &DataFrame, settings: &mut SettingIndex) -> Vec<ChoiceRow> {
    let row = |at: usize| {
        let text = |name: &str| {
            let value = table.column(name).ok()?.get(at).ok()?;
            cell_text(&value)
        };
        let word = |name| text(name).unwrap_or_default();
        let number = |name: &str| text(name)?.parse::<f64>().ok();
        let count = |name: &str| number(name).unwrap_or(0.0) as u64;
        let figures = |of: &str| {
            let value = |measure: Metric| {
                let name = format!("{of}_{}", measure.name);
                Some((measure.name, number(&name)?))
            };
            let measures = Unit::ALL.into_iter().flat_map(measures);
            ChoiceFigures {
                values: measures.filter_map(value).collect(),
                wrong: count(&format!("{of}_wrong")),
                transient: count(&format!("{of}_transient")),
            }
        };
        ChoiceRow {
            model: word("model"),
            setting: text("setting").map(|id| settings.index_of(&id)),
            in_use_is: word("in_use"),
            gets: word("gets"),
            reason: word("why"),
            ships: text("ships"),
            loops: count("loops"),
            in_use: figures("in_use"),
            held_out: figures("held_out"),
            in_sample: figures("in_sample"),
        }
    };
    (0..table.height()).map(row).collect()
}
