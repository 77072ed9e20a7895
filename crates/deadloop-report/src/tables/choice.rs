//! The chosen setting of each model: the table that the reader came for.

use super::{Cell, Column, Row, Table, number, words};
use crate::data::{ALL_MODELS, Choice, ReportData};
use crate::numbers::{chars, decimal, percent, points};

/// How many models with the setting of all models are shown before the rest is folded away.
const SHOWN: usize = 12;

/// All models together first, then those with a setting of their own, then the others by their loops.
pub(super) fn table(data: &ReportData) -> Option<Table> {
    let pooled = data.pooled();
    let own = |choice: &Choice| choice.setting.is_some() && choice.setting != pooled;
    let mut choices: Vec<&Choice> = data.choices.iter().collect();
    choices.sort_by_cached_key(|choice| {
        let rank = (choice.model != ALL_MODELS, !own(choice));
        (rank, std::cmp::Reverse(choice.loops), choice.model.as_str())
    });
    let first = choices
        .iter()
        .take_while(|choice| choice.model == ALL_MODELS || own(choice))
        .count();
    let rows = choices.iter().map(|choice| row(data, choice)).collect();
    let note = "Recall, false alarms and delay are held out: measured on the folds that the selection did not see. \
                Optimism is how much better the selection looked on what it was made on, in points. “thin”: too \
                little clean text for the upper bound of the false alarms to decide, the point estimate did. Models \
                with a setting of their own come first.";
    let table = Table::new("Chosen setting per model", note, columns(), rows)?;
    Some(table.cut(first + SHOWN, "choice.csv"))
}

fn columns() -> Vec<Column> {
    vec![
        words("model"),
        words("setting"),
        words("why"),
        number("loops"),
        number("clean Mchar"),
        number("recall"),
        number("false alarms / Mchar"),
        number("upper bound"),
        number("delay, chars"),
        number("optimism"),
    ]
}

/// In a word, with the reason and what has to be known about it below.
fn why(choice: &Choice) -> Cell {
    let marks = [
        (!choice.reason.is_empty(), choice.reason.as_str()),
        (choice.thin, "thin"),
        (choice.kept, "current kept"),
    ];
    let marks: Vec<&str> = marks
        .into_iter()
        .filter(|mark| mark.0)
        .map(|mark| mark.1)
        .collect();
    Cell::text(choice.why.as_str()).with(marks.join("; "))
}

/// What it is called and its id; of a model without one of its own, that it is the one of all models.
fn setting(data: &ReportData, choice: &Choice) -> Cell {
    let Some(at) = choice.setting else {
        return Cell::text("none met the limit");
    };
    if choice.model != ALL_MODELS && data.pooled() == Some(at) {
        return Cell::text("as all models");
    }
    let name = data.describe(at);
    let id = data
        .settings
        .get(at)
        .map_or("", |setting| setting.id.as_str());
    Cell::text(name.as_str()).with(if name == id { "" } else { id })
}

fn row(data: &ReportData, choice: &Choice) -> Row {
    let cells = vec![
        Cell::model(&choice.model),
        setting(data, choice),
        why(choice),
        Cell::count(choice.loops),
        Cell::figure(Some(choice.clean_chars as f64 / 1e6), decimal),
        Cell::interval(choice.recall, percent),
        Cell::figure(choice.fa.value, decimal),
        Cell::figure(choice.fa.high, decimal),
        Cell::figure(choice.delay, chars),
        Cell::figure(
            choice.optimism,
            if data.run.objective.is_share {
                points
            } else {
                decimal
            },
        ),
    ];
    Row {
        cells,
        role: if choice.model == ALL_MODELS {
            "chosen"
        } else {
            ""
        },
    }
}
