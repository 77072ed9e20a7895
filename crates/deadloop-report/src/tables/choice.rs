//! The chosen setting of each model: the table that the reader came for.

use deadloop_score::Why;

use super::{Cell, Column, Row, Table, number, words};
use crate::data::{ALL_MODELS, Choice, ReportData};
use crate::numbers::{chars, decimal, group, percent, points};

/// How many models with the setting of all models are shown before the rest is folded away.
const SHOWN: usize = 12;

/// What is shipped first, where models differ, and all models together; then those with a setting of their own, then the others by their loops.
pub(super) fn table(data: &ReportData) -> Option<Table> {
    let pooled = data.pooled();
    let own = |choice: &Choice| choice.setting.is_some() && choice.setting != pooled;
    let mut choices: Vec<&Choice> = data.choices.iter().collect();
    // The row of an only model would say the same again.
    let single = choices.iter().filter(|choice| choice.model != ALL_MODELS);
    if single.count() == 1 {
        choices.retain(|choice| choice.model == ALL_MODELS || own(choice));
    }
    choices.sort_by_cached_key(|choice| {
        let rank = (choice.model != ALL_MODELS, !own(choice));
        (rank, std::cmp::Reverse(choice.loops), choice.model.as_str())
    });
    let first = choices
        .iter()
        .take_while(|choice| choice.model == ALL_MODELS || own(choice))
        .count()
        + usize::from(data.shipped.is_some());
    let all = data.shipped.iter().chain(choices);
    let rows = all.map(|choice| row(data, choice)).collect();
    let note = "Recall, false alarms and delay are held out: measured on the folds that the selection did not see. \
                Optimism is how much better the selection looked on what it was made on. “thin”: too \
                little clean text for the upper bound of the false alarms to decide, the point estimate did. “Over the limit”: what \
                the setting does on all transcripts of this model, not held out, is outside a limit. Models with a \
                setting of their own come first.";
    let shipped = " settings.toml is all models together, each under the setting that the file has for it; “all \
                   models” is what to expect of a model that the file does not name.";
    let shipped = data.shipped.as_ref().map_or("", |_| shipped);
    let note = format!("{note}{shipped}");
    let table = Table::new("Chosen setting per model", note, columns(), rows)?;
    Some(table.cut(first + SHOWN, "choice.csv"))
}

fn columns() -> Vec<Column> {
    vec![
        words("model"),
        number("recall"),
        number("false alarms / Mchar"),
        words("setting"),
        words("why"),
        number("loops"),
        number("clean Mchar"),
        number("upper bound"),
        number("delay, chars"),
        number("optimism"),
    ]
}

/// In a word, with the reason and what has to be known about it below.
fn why(choice: &Choice) -> Cell {
    let over = choice
        .over
        .iter()
        .map(|over| format!("over the limit: {}", over.told()));
    let reason = grouped(&choice.reason);
    let marks = [
        (!choice.reason.is_empty(), reason.as_str()),
        (choice.thin, "thin"),
        (choice.kept, "current kept"),
    ];
    let marks = marks.into_iter().filter(|mark| mark.0);
    let marks: Vec<String> = marks.map(|mark| mark.1.to_owned()).chain(over).collect();
    Cell::text(choice.why.as_str()).with(marks.join("; "))
}

/// A sentence with the thousands of its whole numbers parted.
fn grouped(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(from) = rest.find(|c: char| c.is_ascii_digit()) {
        let digits = rest[from..].find(|c: char| !c.is_ascii_digit());
        let to = digits.map_or(rest.len(), |digits| from + digits);
        let decimals = rest[..from].ends_with('.');
        out.push_str(&rest[..from]);
        match decimals {
            true => out.push_str(&rest[from..to]),
            false => out.push_str(&group(&rest[from..to])),
        }
        rest = &rest[to..];
    }
    out + rest
}

/// What it is called and its id; of a model without one of its own, that it is the one of all models.
fn setting(data: &ReportData, choice: &Choice) -> Cell {
    let Some(at) = choice.setting else {
        return Cell::text(match choice.why == Why::Shipped.name() {
            true => "each model its own",
            false => "none met the limit",
        });
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
        Cell::interval(choice.recall, percent),
        Cell::figure(choice.fa.value, decimal),
        setting(data, choice),
        why(choice),
        Cell::count(choice.loops),
        Cell::figure(Some(choice.clean_chars as f64 / 1e6), decimal),
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
        role: if choice.model == ALL_MODELS || choice.why == Why::Shipped.name() {
            "chosen"
        } else {
            ""
        },
    }
}
