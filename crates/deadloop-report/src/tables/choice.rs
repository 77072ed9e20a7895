//! What each model gets: the candidate, held out, beside what is in use.

use deadloop_score::{Metric, Why};

use super::{Cell, Column, Row, Table, number, words};
use crate::data::{ALL_MODELS, ChoiceRow, ReportData};
use crate::numbers::{count, percent, signed_writer, writer};

/// The most rows that are shown before the rest is folded away.
const SHOWN: usize = 40;
/// A model with fewer usable loops gets no setting of its own (scoring.md).
const USABLE: u64 = 10;

/// What is shipped first, where models differ, and all models together; then the models that get something else, those
/// with the most usable loops first. Those that get what all models get are folded into one line.
pub(super) fn table(data: &ReportData) -> Option<Table> {
    let mut choices: Vec<&ChoiceRow> = data.choices.iter().collect();
    // The row of an only model would say the same again.
    let single = choices.iter().filter(|choice| choice.model != ALL_MODELS);
    if single.count() == 1 {
        choices.retain(|choice| choice.model == ALL_MODELS || is_own(choice));
    }
    let pooled = data.choice_of(ALL_MODELS).and_then(|row| row.setting);
    let is_alike = |choice: &ChoiceRow| choice.model != ALL_MODELS && choice.setting == pooled;
    choices.sort_by_cached_key(|choice| {
        let loops = std::cmp::Reverse(choice.loops);
        let rank = (choice.model != ALL_MODELS, is_alike(choice));
        (rank, loops, choice.model.as_str())
    });
    let shipped = usize::from(data.shipped.is_some());
    let pinned = shipped + choices.iter().filter(|one| one.model == ALL_MODELS).count();
    let alike: Vec<&ChoiceRow> = choices
        .iter()
        .copied()
        .filter(|one| is_alike(one))
        .collect();
    let first = shipped + choices.len() - alike.len();
    let shown = data.run.shown();
    let all = data.shipped.iter().chain(choices);
    let rows = all.map(|choice| row(data, choice, &shown)).collect();
    let mut table = Table::new(
        "What each model gets",
        note(data),
        columns(data, &shown),
        rows,
    )?;
    table.pinned = pinned;
    let table = table.cut(first.min(SHOWN), "choice.csv");
    // Else those that get something of their own are in the fold too.
    let is_alike = first <= SHOWN && !alike.is_empty();
    Some(if is_alike {
        table.folded_as(folded(&alike))
    } else {
        table
    })
}

/// The line in place of the models that get what all models get.
fn folded(alike: &[&ChoiceRow]) -> String {
    let few = alike.iter().filter(|one| one.loops < USABLE).count() as u64;
    let all = alike.len() as u64;
    let (s, get) = if all == 1 { ("", "gets") } else { ("s", "get") };
    let line = format!("{} model{s} {get} what all models get", count(all));
    match few {
        0 => line,
        few => format!(
            "{line}; {} with fewer than {USABLE} usable loops, too few for a setting of their own",
            count(few)
        ),
    }
}

/// Whether a model ships a setting of its own.
fn is_own(choice: &ChoiceRow) -> bool {
    choice.model != ALL_MODELS && choice.why == Why::Own.name()
}

fn note(data: &ReportData) -> String {
    let note = "The figures are the candidate's, held out: measured on the folds that its selection did not see; below them, those \
                of what is in use, on all transcripts of the model. “Gets” is what settings.toml holds. The difference, \
                in points of the objective, is to what the model would have otherwise, with its 80 % interval and how \
                sure it is that the candidate is better. Optimism is how much better a selection looks on what it was \
                made on.";
    let shipped = " settings.toml is all models together, each under the setting that the file has for it; “all \
                   models” is what to expect of a model that the file does not name.";
    let shipped = if data.shipped.is_some() { shipped } else { "" };
    format!("{note}{shipped}")
}

fn columns(data: &ReportData, shown: &[Metric]) -> Vec<Column> {
    let unit = data.run.unit;
    let figures = shown.iter().map(|measure| number(measure.title_in(unit)));
    let first = std::iter::once(words("model")).chain(figures);
    let last = [
        words("gets"),
        words("why"),
        number("difference, points"),
        number("loops"),
        number("optimism"),
    ];
    first.chain(last).collect()
}

fn row(data: &ReportData, choice: &ChoiceRow, shown: &[Metric]) -> Row {
    let together = choice.model == ALL_MODELS || choice.why == Why::Shipped.name();
    let mut cells = vec![Cell::model(&choice.model)];
    cells.extend(shown.iter().map(|measure| figure(data, choice, measure)));
    cells.extend([
        gets(data, choice),
        Cell::text(choice.why.as_str()).with(choice.reason.as_str()),
        difference(choice),
        Cell::count(choice.loops),
        Cell::figure(choice.optimism, signed_writer(data.run.objective.0)),
    ]);
    let role = if together { "chosen" } else { "" };
    Row { cells, role }
}

/// A measure of the candidate with its interval, and below it that of what is in use, which stands alone where nothing
/// was tried.
fn figure(data: &ReportData, choice: &ChoiceRow, measure: Metric) -> Cell {
    let (write, is) = (writer(measure), data.in_use_is());
    let in_use = choice.in_use.get(measure.name);
    if choice.of(measure).value.is_none() && in_use.is_some() {
        return Cell::figure(in_use.copied(), write).with(is);
    }
    let cell = Cell::interval(choice.of(measure), write);
    let alarms = (measure.is_wrong_rate() && choice.clean_chars > 0).then(|| {
        format!(
            "{} in {} {}",
            count(choice.wrong),
            count(choice.clean_chars),
            data.run.unit
        )
    });
    let in_use = in_use.map(|value| format!("{is} {}", write(Some(*value))));
    let range = Some(cell.small.clone()).filter(|range| !range.is_empty());
    let small: Vec<String> = [range, alarms, in_use].into_iter().flatten().collect();
    cell.with(small.join("; "))
}

fn difference(choice: &ChoiceRow) -> Cell {
    let signed = |value: f64| format!("{value:+.1}").replace('-', "−");
    let at = choice.difference;
    let ends = at.low.zip(at.high);
    let ends = ends.map(|(low, high)| format!("{} to {}", signed(low), signed(high)));
    let sure = choice.better.map(|p| format!("{} sure", percent(Some(p))));
    let small: Vec<String> = [ends, sure].into_iter().flatten().collect();
    let text = at.value.map_or_else(|| "–".to_owned(), signed);
    let cell = Cell {
        text,
        sort: at.value,
        ..Cell::default()
    };
    cell.with(small.join("; "))
}

/// What settings.toml holds for it, and below it the candidate where that is something else.
fn gets(data: &ReportData, choice: &ChoiceRow) -> Cell {
    let Some(at) = choice.setting else {
        return Cell::text("each model its own");
    };
    let id = |at: usize| data.settings.get(at).map_or("", |one| one.id.as_str());
    let pooled = data.choice_of(ALL_MODELS).and_then(|row| row.setting);
    let is_pooled = choice.model != ALL_MODELS && pooled == Some(at);
    let name = match data.describe(at) {
        _ if is_pooled => "that of all models".to_owned(),
        _ if data.in_use() == Some(at) => match data.in_use_is() {
            "in use" => "what is in use".to_owned(),
            is => format!("the {is}"),
        },
        name => name,
    };
    let candidate = choice.candidate.filter(|candidate| *candidate != at);
    let candidate = candidate.map(|at| match data.describe(at) {
        name if name == id(at) => format!("candidate: {name}"),
        name => format!("candidate: {name} ({})", id(at)),
    });
    let own = Some(id(at).to_owned()).filter(|id| *id != name && !is_pooled);
    let small: Vec<String> = own.into_iter().chain(candidate).collect();
    Cell::text(name.as_str()).with(small.join("; "))
}
