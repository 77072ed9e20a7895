//! Tables as plain data: built once, written as HTML and as Markdown.
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

/// The maximum number of rows of a fold. The page of 1,000 models stays small, and the files have all rows.
const FOLDED: usize = 300;

/// A table of the page.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct PageTable {
    /// Its heading.
    pub(crate) title: String,
    /// The sentence above the table. Can be empty.
    pub(crate) lead: String,
    /// The explanation behind a question mark.
    pub(crate) note: String,
    /// Its columns.
    pub(crate) columns: Vec<PageColumn>,
    /// Its rows.
    pub(crate) rows: Vec<PageRow>,
    /// The number of first rows that stay first in any sorting.
    pub(crate) pinned: usize,
    /// The folded rows and their title.
    pub(crate) folded: Option<FoldedRows>,
}

/// Rows that most readers do not need.
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
    /// Its name.
    pub(crate) name: Cow<'static, str>,
    /// Whether it has numbers, which are aligned to the right.
    pub(crate) number: bool,
}

/// A row of a table.
#[derive(Debug, Clone, Default, Serialize)]
pub(crate) struct PageRow {
    /// A cell for each column.
    pub(crate) cells: Vec<PageCell>,
    /// The role: `current`, `chosen`, `best`, `never`, or empty.
    pub(crate) role: &'static str,
}

/// A cell of a table, with what a click on it does.
#[derive(Debug, Clone, Default, Serialize)]
pub(crate) struct PageCell {
    /// The visible text.
    pub(crate) text: String,
    /// The key of sorting, if it is not the text. Always finite.
    pub(crate) sort: Option<f64>,
    /// The second line, in small print.
    pub(crate) small: String,
    /// The model to which a click reduces the page.
    pub(crate) model: Option<String>,
    /// The transcript that a click opens.
    pub(crate) transcript: Option<String>,
}

/// The tables of a report. Each has its place on the page.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct PageTables {
    /// The choices of models, or without a choice their scores.
    pub(crate) models: Option<PageTable>,
    /// The costs of limits on wrong alarms.
    pub(crate) limits: Option<PageTable>,
    /// The setting in use, the chosen one, named settings and `never`, side by side.
    pub(crate) settings: Option<PageTable>,
    /// The scores by kind, onset and channel of the loop.
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
    /// Its title and its explanation.
    pub head: String,
    /// The names of its columns, those of words first.
    pub header: Vec<String>,
    /// Its rows.
    pub rows: Vec<Vec<String>>,
    /// The number of columns of words.
    pub words: usize,
}

/// Builds the tables of a summary of `repair` or `budget` for a terminal, without the parameters in words.
pub fn summary_tables(summary: &serde_json::Map<String, serde_json::Value>) -> Vec<TextTable> {
    let text = |table: PageTable| {
        let shown: Vec<bool> = table
            .columns
            .iter()
            .map(|column| column.name != "params")
            .collect();
        let kept = |at: &usize| shown[*at];
        let columns: Vec<usize> = (0..shown.len()).filter(kept).collect();
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
    summary::tables(summary).into_iter().map(text).collect()
}

/// Builds every table.
pub(crate) fn tables(data: &ReportData) -> PageTables {
    PageTables {
        models: choice::table(data).or_else(|| settings::by_model(data)),
        limits: limits::table(data),
        settings: settings::side_by_side(data),
        breakdowns: settings::by_field(data, |field| settings::OF_LOOPS.contains(&field)),
        fields: settings::by_field(data, |field| !settings::OF_LOOPS.contains(&field)),
        fired: cases::alarm_table(data),
        errors: cases::errors(data),
        summary: summary::tables(&data.summary),
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

    /// Folds the rows after the first `shown`, named `more`, and leaves out those past the bound of a page. All of them
    /// are in `file`.
    fn fold(mut self, shown: usize, more: &str, file: &str) -> Self {
        let mut rest = self.rows.split_off(self.rows.len().min(shown));
        let out = rest.len().saturating_sub(FOLDED);
        rest.truncate(FOLDED);
        let mut title = format!("{} {more}", rest.len());
        if out > 0 {
            let out = numbers::count(out as u64);
            title += &format!("; the other {out} are in {file}");
        }
        self.folded = (!rest.is_empty()).then_some(FoldedRows { title, rows: rest });
        self
    }
}

/// Makes a column of words.
fn words(name: impl Into<Cow<'static, str>>) -> PageColumn {
    PageColumn {
        name: name.into(),
        number: false,
    }
}

/// Makes a column of numbers.
fn number(name: impl Into<Cow<'static, str>>) -> PageColumn {
    PageColumn {
        name: name.into(),
        number: true,
    }
}

/// Makes the column of a measure. The counts of wrong alarms and transient stops come before their rate.
fn with_counts(measure: Metric, unit: Unit) -> impl Iterator<Item = PageColumn> {
    let counts = ["wrong alarms", "transient stops"].map(number);
    let counts = measure.is_wrong_rate().then_some(counts);
    let measure = number(measure.title_in(unit));
    counts.into_iter().flatten().chain([measure])
}

impl PageCell {
    /// Makes a cell of text.
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

    /// Makes a cell of the name of a model, or of "all models".
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

    /// Makes a cell of the id of a transcript.
    fn transcript(id: &str) -> Self {
        Self {
            transcript: Some(id.to_owned()),
            ..Self::text(id)
        }
    }

    /// Makes a cell of a count.
    fn count(value: u64) -> Self {
        Self {
            text: numbers::count(value),
            sort: Some(value as f64),
            ..Self::default()
        }
    }

    /// Makes a cell of a count that can be unknown.
    fn position(value: Option<u64>) -> Self {
        value.map_or_else(|| Self::text(numbers::UNDEFINED), Self::count)
    }

    /// Makes a cell of a number formatted by `write`. Infinite ones sort last.
    fn figure(value: Option<f64>, write: fn(Option<f64>) -> String) -> Self {
        let sort = value
            .filter(|value| !value.is_nan())
            .map(|value| value.clamp(-1e18, 1e18));
        Self {
            text: write(value),
            sort,
            ..Self::default()
        }
    }

    /// Makes a cell of an estimate, with its interval on the second line.
    fn interval(interval: numbers::Estimate, write: fn(Option<f64>) -> String) -> Self {
        let small = match interval.value {
            Some(_) => numbers::range(interval, write),
            None => String::new(),
        };
        Self {
            small: if small == numbers::UNDEFINED {
                String::new()
            } else {
                small
            },
            ..Self::figure(interval.value, write)
        }
    }

    /// Adds a second line.
    fn with(self, small: impl Into<String>) -> Self {
        let small = Self::text(small).text;
        Self { small, ..self }
    }
}

/// Returns the role of a setting: `current`, `chosen`, `best`, `never`, or empty.
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
