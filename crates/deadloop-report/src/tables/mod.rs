//! Tables as plain data: built once, written as HTML and as Markdown.
//!
//! A builder returns `None` where the folder has no data for its table.

mod cases;
mod choice;
mod limits;
mod settings;

use crate::data::ReportData;
use crate::draw::{elide, elide_apart};
use crate::numbers;
use crate::visible::visible;
use serde::Serialize;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

/// How wide a name in a table may be, and its font size, in any unit.
const ROOM: f64 = 46.0;
const SIZE: f64 = 1.6;
/// How many rows a fold holds: a page of a thousand models stays light, and the files have the rest.
const FOLDED: usize = 300;

/// A table.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Table {
    /// Its heading.
    pub(crate) title: String,
    /// What has to be known to read it.
    pub(crate) note: String,
    /// Its columns.
    pub(crate) columns: Vec<Column>,
    /// Its rows.
    pub(crate) rows: Vec<Row>,
    /// How many of the first rows stay first however the table is sorted.
    pub(crate) pinned: usize,
    /// Rows that are folded away, and under which words.
    pub(crate) folded: Option<Folded>,
}

/// Rows that most readers can do without.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Folded {
    /// The line that shows while the fold is closed.
    pub(crate) title: String,
    /// The rows.
    pub(crate) rows: Vec<Row>,
}

/// A column.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Column {
    /// Its name.
    pub(crate) name: Cow<'static, str>,
    /// Whether it holds numbers, which are aligned to the right.
    pub(crate) number: bool,
}

/// A row.
#[derive(Debug, Clone, Default, Serialize)]
pub(crate) struct Row {
    /// A cell for each column.
    pub(crate) cells: Vec<Cell>,
    /// `current`, `chosen`, `best`, `never` or nothing.
    pub(crate) role: &'static str,
}

/// A cell.
#[derive(Debug, Clone, Default, Serialize)]
pub(crate) struct Cell {
    /// What is read.
    pub(crate) text: String,
    /// What it is sorted by, where that is not the text; always finite.
    pub(crate) sort: Option<f64>,
    /// The whole text where it was cut.
    pub(crate) whole: Option<String>,
    /// A second line in small print.
    pub(crate) small: String,
    /// The model that it names: a click shows the page for that model alone.
    pub(crate) model: Option<String>,
    /// The transcript that it names: a click opens it.
    pub(crate) transcript: Option<String>,
}

/// Every table of a report; each has its place on the page.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Tables {
    /// What each model gets, or the scores of each model.
    pub(crate) models: Option<Table>,
    /// What a limit costs.
    pub(crate) limits: Option<Table>,
    /// The setting in use, the chosen one, named settings and `never` side by side.
    pub(crate) settings: Option<Table>,
    /// Scores by kind, onset and channel of the loop.
    pub(crate) breakdowns: Vec<Table>,
    /// Scores by fields of the transcripts.
    pub(crate) fields: Vec<Table>,
    /// Single cases: what fired, wrong alarms, misses, errors.
    pub(crate) cases: Vec<Table>,
    /// Where a detector failed.
    pub(crate) errors: Option<Table>,
}

/// Builds every table.
pub(crate) fn tables(data: &ReportData) -> Tables {
    let mut tables = Tables {
        models: choice::table(data).or_else(|| settings::by_model(data)),
        limits: limits::table(data),
        settings: settings::side_by_side(data),
        breakdowns: settings::by_field(data, |field| settings::OF_LOOPS.contains(&field)),
        fields: settings::by_field(data, |field| !settings::OF_LOOPS.contains(&field)),
        cases: cases::tables(data),
        errors: cases::errors(data),
    };
    tables.keep_apart();
    tables
}

impl Tables {
    /// Names that were cut and look alike are cut elsewhere.
    fn keep_apart(&mut self) {
        let single = [
            &mut self.models,
            &mut self.limits,
            &mut self.settings,
            &mut self.errors,
        ];
        let lists = [&mut self.breakdowns, &mut self.fields, &mut self.cases];
        let tables = single.into_iter().flatten();
        let tables = tables.chain(lists.into_iter().flatten());
        let rows = tables.flat_map(|table| {
            let folded = table.folded.iter_mut().flat_map(|folded| &mut folded.rows);
            table.rows.iter_mut().chain(folded)
        });
        let cells = rows.flat_map(|row| &mut row.cells);
        let mut cut: Vec<&mut Cell> = cells.filter(|cell| cell.whole.is_some()).collect();
        let names: BTreeSet<String> = cut.iter().filter_map(|cell| cell.whole.clone()).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let shown = elide_apart(&names, ROOM, SIZE);
        let shown: BTreeMap<&str, String> = names.into_iter().zip(shown).collect();
        for cell in &mut cut {
            let name = cell.whole.as_deref().and_then(|whole| shown.get(whole));
            if let Some(name) = name {
                cell.text.clone_from(name);
            }
        }
    }
}

impl Table {
    fn new(
        title: &str,
        note: impl Into<String>,
        columns: Vec<Column>,
        rows: Vec<Row>,
    ) -> Option<Self> {
        let (title, note) = (title.to_owned(), note.into());
        (!rows.is_empty()).then_some(Self {
            title,
            note,
            columns,
            rows,
            pinned: 0,
            folded: None,
        })
    }

    /// Folds the rows after the first `shown`, and leaves out those that a page cannot hold; they are in `file`.
    fn cut(mut self, shown: usize, file: &str) -> Self {
        let mut rest = self.rows.split_off(self.rows.len().min(shown));
        let all = rest.len() as u64;
        rest.truncate(FOLDED);
        let title = match all.checked_sub(FOLDED as u64) {
            None | Some(0) => format!("{} more rows", numbers::count(all)),
            Some(out) => format!(
                "{FOLDED} more rows; the other {} are in {file}",
                numbers::count(out)
            ),
        };
        self.folded = (!rest.is_empty()).then_some(Folded { title, rows: rest });
        self
    }

    /// Says why rows are folded away. Where a page cannot hold all of them, that stays said too.
    fn folded_as(mut self, why: String) -> Self {
        if let Some(folded) = &mut self.folded {
            folded.title = match folded.title.split_once("; ") {
                Some((_, others)) => format!("{why}; {others}"),
                None => why,
            };
        }
        self
    }
}

/// A column of words.
fn words(name: impl Into<Cow<'static, str>>) -> Column {
    Column {
        name: name.into(),
        number: false,
    }
}

/// A column of numbers.
fn number(name: impl Into<Cow<'static, str>>) -> Column {
    Column {
        name: name.into(),
        number: true,
    }
}

impl Cell {
    /// Words as they are.
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

    /// A name, cut where it is very long.
    fn name(name: &str) -> Self {
        let name = &*visible(name);
        let text = elide(name, ROOM, SIZE);
        let whole = (text != name).then(|| name.to_owned());
        Self {
            text,
            whole,
            ..Self::default()
        }
    }

    /// The name of a model, or "all models".
    fn model(name: &str) -> Self {
        if name == crate::data::ALL_MODELS {
            Self::text("all models")
        } else {
            Self {
                model: Some(visible(name).into_owned()),
                ..Self::name(name)
            }
        }
    }

    /// The name of a transcript.
    fn transcript(id: &str) -> Self {
        Self {
            transcript: Some(id.to_owned()),
            ..Self::text(id)
        }
    }

    /// A count.
    fn count(value: u64) -> Self {
        Self {
            text: numbers::count(value),
            sort: Some(value as f64),
            ..Self::default()
        }
    }

    /// A count that may be unknown.
    fn position(value: Option<u64>) -> Self {
        value.map_or_else(|| Self::text(numbers::UNDEFINED), Self::count)
    }

    /// A number written by `write`; infinite ones sort last.
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

    /// An estimate with its interval below.
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

    /// The same with a second line.
    fn with(self, small: impl Into<String>) -> Self {
        let small = Self::text(small).text;
        Self { small, ..self }
    }
}

/// `current`, `chosen`, `best`, `never` or nothing.
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
