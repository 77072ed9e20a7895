//! The chosen setting of each model: the table that the reader came for.

use deadloop_score::Why;

use super::{Cell, Column, Row, Table, number, words};
use crate::data::{ALL_MODELS, Choice, ReportData};
use crate::numbers::{chars, count, decimal, group, percent, points};
use std::collections::BTreeMap;

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
    let loops: BTreeMap<&str, u64> = data.labelled_loops();
    choices.sort_by_cached_key(|choice| {
        let rank = (
            choice.model != ALL_MODELS,
            !own(choice),
            choice.over.is_empty(),
        );
        let loops = loops.get(choice.model.as_str()).copied();
        (rank, std::cmp::Reverse(loops), choice.model.as_str())
    });
    let is_first =
        |choice: &&&Choice| choice.model == ALL_MODELS || own(choice) || !choice.over.is_empty();
    let pinned = usize::from(data.shipped.is_some())
        + usize::from(choices.iter().any(|choice| choice.model == ALL_MODELS));
    let first = choices.iter().take_while(is_first).count() + usize::from(data.shipped.is_some());
    let all = data.shipped.iter().chain(choices);
    let rows = all.map(|choice| row(data, choice, &loops)).collect();
    let mut table = Table::new("Chosen setting per model", note(data), columns(data), rows)?;
    table.pinned = pinned;
    Some(table.cut(first + SHOWN, "choice.csv"))
}

fn note(data: &ReportData) -> String {
    let note = "Recall, false alarms and delay are held out: measured on the folds that the selection did not see. \
                “Decided on”: the false alarms per million clean chars that were held against the limit: their one-sided \
                95 % upper bound, or, where the text is too thin for one to decide, the estimate. “Thin” says the same of all limits. \
                “Over the limit”: what the setting does on all transcripts of this model, not held out, is outside a \
                limit. Loops are those that are labelled; “left”: those that count for the setting, since an alarm in a \
                repetition that ends by itself takes the transcript out of them. The recall is of those left to the settings of the \
                folds. Optimism is how much better the selection looked on what it was made on.";
    let current = " “In use”: the setting in use, which was not chosen here, on all transcripts of the model; below its recall its false alarms.";
    let own = " “Without it”: what the other models alone choose does on a model with a setting of its own, held out as a whole. \
               Models with a setting of their own come first, then those over the limit.";
    let shipped = " settings.toml is all models together, each under the setting that the file has for it; “all \
                   models” is what to expect of a model that the file does not name.";
    let parts = [
        (data.current().is_some(), current),
        (has_own(data), own),
        (data.shipped.is_some(), shipped),
    ];
    let said = parts.iter().filter(|part| part.0).map(|part| part.1);
    std::iter::once(note).chain(said).collect()
}

/// Whether a model has another setting than all models together.
fn has_own(data: &ReportData) -> bool {
    let mut choices = data.choices.iter();
    choices.any(|choice| choice.setting.is_some() && choice.setting != data.pooled())
}

fn columns(data: &ReportData) -> Vec<Column> {
    let mut columns = vec![
        words("model"),
        number("recall"),
        number("false alarms / Mchar"),
        words("setting"),
        words("why"),
        number("loops"),
        number("decided on"),
        number("delay, chars"),
        number(format!("optimism, {}", data.run.objective.name)),
    ];
    if data.current().is_some() {
        columns.push(number("in use: recall"));
    }
    if has_own(data) {
        columns.push(number("without it: recall"));
    }
    columns
}

/// In a word, with the reason and what has to be known about it below.
fn why(data: &ReportData, choice: &Choice) -> Cell {
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
    let marks = marks.map(|mark| mark.1.to_owned()).chain(over);
    let marks: Vec<String> = marks.chain(worse(data, choice)).collect();
    Cell::text(choice.why.as_str()).with(marks.join("; "))
}

/// That the other models' choice does better held out than the model's own.
fn worse(data: &ReportData, choice: &Choice) -> Option<String> {
    let objective = &data.run.objective;
    let (own, without) = choice.held_out.zip(choice.left_out.objective)?;
    let is_own = choice.model != ALL_MODELS && choice.setting != data.pooled();
    let is_worse = objective.merit(own) < objective.merit(without);
    (is_own && is_worse).then(|| {
        format!(
            "held out worse than without it: {} {} against {}",
            objective.name,
            objective.write(own),
            objective.write(without)
        )
    })
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

fn row(data: &ReportData, choice: &Choice, loops: &BTreeMap<&str, u64>) -> Row {
    let together = choice.model == ALL_MODELS || choice.why == Why::Shipped.name();
    let model = if together { ALL_MODELS } else { &choice.model };
    let own = !together && choice.setting.is_some() && choice.setting != data.pooled();
    let mut cells = vec![
        Cell::model(&choice.model),
        Cell::interval(choice.recall, percent),
        false_alarms(choice),
        setting(data, choice),
        why(data, choice),
        labelled(choice, loops.get(model).copied()),
        if together || choice.why == Why::Own.name() {
            decided(choice)
        } else {
            Cell::text("–")
        },
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
    if let Some(current) = data.current() {
        let score = data.score(current, model);
        cells.push(beside(
            score.and_then(|score| score.recall.value),
            score.and_then(|score| score.fa.value),
        ));
    }
    if has_own(data) {
        cells.push(match own {
            true => beside(choice.left_out.recall, choice.left_out.fa),
            false => Cell::text("–"),
        });
    }
    let role = if together { "chosen" } else { "" };
    Row { cells, role }
}

/// The rate, its interval, and of how many alarms in how much text it is.
fn false_alarms(choice: &Choice) -> Cell {
    let cell = Cell::interval(choice.fa, decimal);
    let alarms = choice
        .fa
        .value
        .map(|rate| rate * choice.clean_chars as f64 / 1e6);
    let Some(alarms) = alarms.filter(|_| choice.clean_chars > 0) else {
        return cell;
    };
    let counted = format!(
        "{} in {} chars",
        count(alarms.round() as u64),
        count(choice.clean_chars)
    );
    let small = match cell.small.as_str() {
        "" => counted,
        range => format!("{range}; {counted}"),
    };
    cell.with(small)
}

/// What was held against the limit on false alarms.
fn decided(choice: &Choice) -> Cell {
    let mut limits = choice.decided.iter();
    let Some(limit) = limits.find(|one| one.constraint.starts_with("fa_per_mchar<=")) else {
        return Cell::text("–");
    };
    let by = if limit.by_bound {
        "upper bound"
    } else {
        "estimate"
    };
    Cell::figure(limit.compared, decimal).with(by)
}

/// The labelled loops, and how many of them count for the setting.
fn labelled(choice: &Choice, loops: Option<u64>) -> Cell {
    let cell = Cell::count(loops.unwrap_or(choice.loops));
    match loops.is_some_and(|loops| loops != choice.loops) {
        true => cell.with(format!("{} left", count(choice.loops))),
        false => cell,
    }
}

/// A recall, and below it the false alarms.
fn beside(recall: Option<f64>, fa: Option<f64>) -> Cell {
    let cell = Cell::figure(recall, percent);
    match fa {
        Some(_) => cell.with(format!("{} / Mchar", decimal(fa))),
        None => cell,
    }
}
