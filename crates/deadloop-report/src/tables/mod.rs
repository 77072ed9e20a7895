//! The tables of a report as data, to be rendered as HTML and as Markdown.
//!
//! A builder returns `None` if the folder has no data for its table.

mod cases;
mod choice;
mod limits;
mod settings;
mod summary;

use crate::data::ReportData;
use crate::numbers;
use crate::visible::visible;
use deadloop_score::Metric;
use deadloop_score::replay::detect::Unit;
use serde::Serialize;
use std::borrow::Cow;

/// The maximum number of folded rows of a table. It bounds the page of many models. The files have all rows.
const MAX_FOLDED_ROWS: usize = 300;

/// A table of the page.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct PageTable {
    /// The heading of the table.
    pub(crate) title: String,
    /// The sentence above the table, which can be empty.
    pub(crate) lead: String,
    /// The explanation behind a question mark.
    pub(crate) note: String,
    /// The columns of the table.
    pub(crate) columns: Vec<PageColumn>,
    /// The rows that are always visible.
    pub(crate) rows: Vec<PageRow>,
    /// The number of leading rows that sorting does not move.
    pub(crate) pinned: usize,
    /// The rows that are hidden until the fold is opened.
    pub(crate) folded: Option<FoldedRows>,
}

/// The rows of a table that are hidden at first.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct FoldedRows {
    /// The title of the closed fold.
    pub(crate) title: String,
    /// The rows.
    pub(crate) rows: Vec<PageRow>,
}

/// A column of a table: its heading and alignment.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct PageColumn {
    /// The heading of the column.
    pub(crate) name: Cow<'static, str>,
    /// Whether the column has numbers, which are aligned to the right.
    pub(crate) number: bool,
}

/// A row of a table.
#[derive(Debug, Clone, Default, Serialize)]
pub(crate) struct PageRow {
    /// The cells of the row, one for each column.
    pub(crate) cells: Vec<PageCell>,
    /// The role of the row's setting: `current`, `chosen`, `best`, `never`, or empty.
    pub(crate) role: &'static str,
}

/// A cell of a table, with the effect of a click.
#[derive(Debug, Clone, Default, Serialize)]
pub(crate) struct PageCell {
    /// The visible text.
    pub(crate) text: String,
    /// The number by which the cell is sorted, if it is not sorted by its text. It is finite.
    pub(crate) sort: Option<f64>,
    /// The second line of the cell, in small print.
    pub(crate) small: String,
    /// The model to which a click limits the page.
    pub(crate) model: Option<String>,
    /// The transcript that a click opens.
    pub(crate) transcript: Option<String>,
}

/// The tables of a report, by their place on the page.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct PageTables {
    /// The choices for models, or without a choice the scores of models.
    pub(crate) models: Option<PageTable>,
    /// The held-out cost of each limit on wrong alarms.
    pub(crate) limits: Option<PageTable>,
    /// The scores of the setting in use, the chosen setting, named settings and `never`.
    pub(crate) settings: Option<PageTable>,
    /// The scores by each field of a loop: its kind, its onset and its channel.
    pub(crate) breakdowns: Vec<PageTable>,
    /// The scores by fields of the transcripts.
    pub(crate) fields: Vec<PageTable>,
    /// The alarms on transcripts without a label.
    pub(crate) fired: Option<PageTable>,
    /// The transcripts on which a detector failed.
    pub(crate) errors: Option<PageTable>,
    /// The two tables of `repair` or `budget`.
    pub(crate) summary: Vec<PageTable>,
}

/// A table for a terminal.
#[derive(Debug, Clone)]
pub struct TextTable {
    /// The title of the table, and its explanation.
    pub head: String,
    /// The names of the columns. Columns of words come first.
    pub header: Vec<String>,
    /// The cells of each row.
    pub rows: Vec<Vec<String>>,
    /// The number of columns of words.
    pub words: usize,
}

/// Builds the tables of a summary of `repair` or `budget` for a terminal.
///
/// The column with the parameters in words is left out.
pub fn summary_tables(summary: &serde_json::Map<String, serde_json::Value>) -> Vec<TextTable> {
    let to_text = |table: PageTable| {
        let shown: Vec<bool> = table
            .columns
            .iter()
            .map(|column| column.name != "params")
            .collect();
        let is_shown = |at: &usize| shown[*at];
        let columns: Vec<usize> = (0..shown.len()).filter(is_shown).collect();
        let row = |row: &PageRow| {
            columns
                .iter()
                .map(|at| row.cells[*at].text.clone())
                .collect()
        };
        let words = columns.iter().filter(|at| !table.columns[**at].number);
        TextTable {
            head: format!("{}. {}", table.title, table.note),
            header: columns
                .iter()
                .map(|at| table.columns[*at].name.to_string())
                .collect(),
            rows: table.rows.iter().map(row).collect(),
            words: words.count(),
        }
    };
    let tables = summary::list_tables(summary).into_iter();
    tables.map(to_text).collect()
}

/// Builds every table of a report.
pub(crate) fn tables(data: &ReportData) -> PageTables {
    PageTables {
        models: choice::choice_table(data).or_else(|| settings::model_table(data)),
        limits: limits::table(data),
        settings: settings::settings_table(data),
        breakdowns: settings::field_tables(data, |field| settings::LOOP_FIELDS.contains(&field)),
        fields: settings::field_tables(data, |field| !settings::LOOP_FIELDS.contains(&field)),
        fired: cases::alarm_table(data),
        errors: cases::error_table(data),
        summary: summary::list_tables(&data.summary),
    }
}

impl PageTable {
    fn new(
        title: &str,
        note: impl Into<String>,
        columns: Vec<PageColumn>,
        rows: Vec<PageRow>,
    ) -> Option<Self> {
        let (title, note) = (title.to_owned(), note.into());
        (!rows.is_empty()).then_some(Self {
            title,
            lead: String::new(),
            note,
            columns,
            rows,
            pinned: 0,
            folded: None,
        })
    }

    /// Folds the rows after the first `shown` under a title that ends in `more`. Rows beyond the maximum are left out,
    /// and the title names the `file` that has them.
    fn fold(mut self, shown: usize, more: &str, file: &str) -> Self {
        let mut rest = self.rows.split_off(self.rows.len().min(shown));
        let left_out = rest.len().saturating_sub(MAX_FOLDED_ROWS);
        rest.truncate(MAX_FOLDED_ROWS);
        let mut title = format!("{} {more}", rest.len());
        if left_out > 0 {
            let left_out = numbers::count(left_out as u64);
            title += &format!("; the other {left_out} are in {file}");
        }
        self.folded = (!rest.is_empty()).then_some(FoldedRows { title, rows: rest });
        self
    }
}

/// Creates a column of words.
fn words(name: impl Into<Cow<'static, str>>) -> PageColumn {
    PageColumn {
        name: name.into(),
        number: false,
    }
}

/// Creates a column of numbers.
fn number(name: impl Into<Cow<'static, str>>) -> PageColumn {
    PageColumn {
        name: name.into(),
        number: true,
    }
}

/// Returns the column of a measure. The counts of wrong alarms and transient stops come before their rate.
fn with_counts(measure: Metric, unit: Unit) -> impl Iterator<Item = PageColumn> {
    let counts = ["wrong alarms", "transient stops"].map(number);
    let counts = measure.is_wrong_rate().then_some(counts);
    let measure = number(measure.title_in(unit));
    counts.into_iter().flatten().chain([measure])
}

impl PageCell {
    /// Creates a cell with a text, in which hidden chars are made visible.
    fn text(text: impl Into<String>) -> Self {
        let text = text.into();
        Self {
            text: match visible(&text) {
                Cow::Borrowed(_) => text,
                Cow::Owned(shown) => shown,
            },
            ..Self::default()
        }
    }

    /// Creates a cell with the name of a model, or with "all models".
    fn model(name: &str) -> Self {
        if name == crate::data::ALL_MODELS {
            Self::text("all models")
        } else {
            Self {
                model: Some(visible(name).into_owned()),
                ..Self::text(name)
            }
        }
    }

    /// Creates a cell with the id of a transcript.
    fn transcript(id: &str) -> Self {
        Self {
            transcript: Some(id.to_owned()),
            ..Self::text(id)
        }
    }

    /// Creates a cell with a count.
    fn count(value: u64) -> Self {
        Self {
            text: numbers::count(value),
            sort: Some(value as f64),
            ..Self::default()
        }
    }

    /// Creates a cell with a count that can be unknown.
    fn position(value: Option<u64>) -> Self {
        value.map_or_else(|| Self::text(numbers::UNDEFINED), Self::count)
    }

    /// Creates a cell with a number formatted by `format_value`. An infinite number is sorted last.
    fn figure(value: Option<f64>, format_value: fn(Option<f64>) -> String) -> Self {
        let sort = value
            .filter(|value| !value.is_nan())
            .map(|value| value.clamp(-1e18, 1e18));
        Self {
            text: format_value(value),
            sort,
            ..Self::default()
        }
    }

    /// Creates a cell with an estimate, and its interval on the second line.
    fn interval(estimate: numbers::Estimate, format_value: fn(Option<f64>) -> String) -> Self {
        let small = match estimate.value {
            Some(_) => numbers::range(estimate, format_value),
            None => String::new(),
        };
        Self {
            small: if small == numbers::UNDEFINED {
                String::new()
            } else {
                small
            },
            ..Self::figure(estimate.value, format_value)
        }
    }

    /// Sets the second line of the cell.
    fn with(self, small: impl Into<String>) -> Self {
        let small = Self::text(small).text;
        Self { small, ..self }
    }
}

/// Returns the role of a setting's rows: `current`, `chosen`, `best`, `never`, or empty.
fn role(data: &ReportData, setting: usize) -> &'static str {
    use crate::data::Role;
    match data.settings.get(setting).map(|setting| setting.role) {
        _ if data.chosen() == Some(setting) => "chosen",
        Some(Role::InUse) => "current",
        Some(Role::Never) => "never",
        Some(_) if data.best() == Some(setting) => "best",
        _ => "",
    }
}
