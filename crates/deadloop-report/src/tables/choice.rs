//! The chosen setting of each model: the table that the reader came for.

use super::{Cell, Column, Folded, Row, Table, number, words};
use crate::data::{ALL_MODELS, Choice, ReportData};
use crate::numbers::{self, chars, decimal, percent, points};

/// Fewer loops than this, and a model without a choice of its own is folded away.
const SHOWN_FROM: u64 = 10;

/// All models together first, then by loops.
pub(super) fn table(data: &ReportData) -> Option<Table> {
    let mut choices: Vec<&Choice> = data.choices.iter().collect();
    choices.sort_by(|a, b| {
        let key = |choice: &Choice| (choice.model != ALL_MODELS, std::cmp::Reverse(choice.loops));
        key(a).cmp(&key(b)).then_with(|| a.model.cmp(&b.model))
    });
    let (shown, folded): (Vec<&Choice>, Vec<&Choice>) = choices
        .into_iter()
        .partition(|choice| is_shown(data, choice));
    let rows = |list: Vec<&Choice>| {
        list.into_iter()
            .map(|choice| row(data, choice))
            .collect::<Vec<_>>()
    };
    let folded = Folded {
        title: format!(
            "{} more models with fewer than {SHOWN_FROM} loops each, all with the pooled setting",
            numbers::count(folded.len() as u64)
        ),
        rows: rows(folded),
    };
    let note = "Recall, false alarms and delay are held out: measured on the folds that the selection did not see. \
                Optimism is how much better the selection looked on what it was made on, in points. “thin”: too \
                little clean text for the upper bound of the false alarms to decide, the point estimate did.";
    let table = Table::new("Chosen setting per model", note, columns(), rows(shown))?;
    Some(Table {
        folded: (!folded.rows.is_empty()).then_some(folded),
        ..table
    })
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

fn is_shown(data: &ReportData, choice: &Choice) -> bool {
    choice.model == ALL_MODELS
        || choice.loops >= SHOWN_FROM
        || (choice.setting.is_some() && choice.setting != data.pooled())
}

fn why(choice: &Choice) -> Cell {
    let marks = [(choice.thin, "thin"), (choice.kept, "current kept")];
    let marks: Vec<&str> = marks
        .into_iter()
        .filter(|mark| mark.0)
        .map(|mark| mark.1)
        .collect();
    let whole = (!choice.reason.is_empty()).then(|| choice.reason.clone());
    Cell {
        whole,
        ..Cell::text(choice.why.as_str()).with(marks.join(", "))
    }
}

fn row(data: &ReportData, choice: &Choice) -> Row {
    let setting = choice
        .setting
        .map_or_else(|| "none met the limit".to_owned(), |at| data.describe(at));
    let id = choice
        .setting
        .and_then(|at| data.settings.get(at))
        .map_or("", |setting| setting.id.as_str());
    let cells = vec![
        Cell::model(&choice.model),
        Cell::text(setting.as_str()).with(if setting == id { "" } else { id }),
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
