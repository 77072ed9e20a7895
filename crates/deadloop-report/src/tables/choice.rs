//! The table of choices: the setting of each model, its figures, the reason.

use deadloop_score::Metric;
use deadloop_score::sentences::wrong_and_transient;

use super::{PageCell, PageColumn, PageRow, PageTable, number, words};
use crate::data::{ALL_MODELS, ChoiceRow, ReportData};
use crate::numbers::writer;

/// The maximum number of rows that are not folded.
const SHOWN: usize = 40;
/// The number of rows that are not folded although their models have the setting of all models.
const ALIKE: usize = 13;

/// Builds the table. The whole file is first, then the models with a setting of their own, those with the most loops
/// first. Of the models with the setting of all models, those with the most loops follow.
pub(super) fn table(data: &ReportData) -> Option<PageTable> {
    let mut choices: Vec<&ChoiceRow> = data.choices.iter().collect();
    // With one model its row would repeat that of the file.
    let single = choices.iter().filter(|choice| choice.model != ALL_MODELS);
    if single.count() == 1 {
        choices.retain(|choice| choice.model == ALL_MODELS || choice.is_own());
    }
    let of_all = data.choice_of(ALL_MODELS).and_then(|row| row.setting);
    let is_alike = |choice: &ChoiceRow| choice.model != ALL_MODELS && choice.setting == of_all;
    choices.sort_by_cached_key(|choice| {
        let loops = std::cmp::Reverse(choice.loops);
        let rank = (choice.model != ALL_MODELS, is_alike(choice));
        (rank, loops, choice.model.as_str())
    });
    let own = choices.iter().filter(|one| !is_alike(one)).count();
    let shown = measures_with_values(data);
    let rows = choices
        .iter()
        .map(|choice| row(data, choice, &shown))
        .collect();
    let mut table = PageTable::new(
        "What each model gets",
        note(data),
        columns(data, &shown),
        rows,
    )?;
    table.pinned = choices.iter().filter(|one| one.model == ALL_MODELS).count();
    // Otherwise the fold has models with their own setting too.
    let more = if own <= SHOWN {
        "more with the setting of all models"
    } else {
        "more rows"
    };
    Some(table.fold(own.clamp(ALIKE, SHOWN), more, "choice.csv"))
}

/// Returns the measures with values in choice.csv.
fn measures_with_values(data: &ReportData) -> Vec<Metric> {
    let has = |measure: &Metric| {
        data.choices
            .iter()
            .any(|choice| choice.held_out.value(measure).is_some())
    };
    data.run.table_measures().into_iter().filter(has).collect()
}

fn note(data: &ReportData) -> String {
    let by_folds = data.advice.as_ref().is_some_and(|advice| advice.by_folds);
    let file = if by_folds {
        "of the file, held out: where a part of it was chosen by folds, on the folds that the choice did not see; below them, in-sample ones, \
         which a replay of the file has"
    } else {
        "of the file, as measured: none of its settings was chosen on these transcripts"
    };
    format!(
        "Figures of the setting in use → {file}. “All models” is the whole file, each model under its own setting; its name is that of every \
         model without a table of its own. The test in “why” counts each text once and leaves out labels in doubt."
    )
}

fn columns(data: &ReportData, shown: &[Metric]) -> Vec<PageColumn> {
    let unit = data.run.unit;
    let first = [words("model"), words("in use → gets")];
    let figures = shown.iter().map(|measure| number(measure.title_in(unit)));
    first
        .into_iter()
        .chain(figures)
        .chain([number("loops"), words("why")])
        .collect()
}

fn row(data: &ReportData, choice: &ChoiceRow, shown: &[Metric]) -> PageRow {
    let mut cells = vec![PageCell::model(&choice.model), gets(data, choice)];
    cells.extend(shown.iter().map(|measure| figure(choice, measure)));
    cells.extend([
        PageCell::count(choice.loops),
        PageCell::text(choice.reason.as_str()),
    ]);
    let role = if choice.model == ALL_MODELS {
        "chosen"
    } else {
        ""
    };
    PageRow { cells, role }
}

/// Formats a measure in use and of the file, once if the figures are equal. The second line has the alarms behind a
/// rate, and the in-sample figures if they differ.
fn figure(choice: &ChoiceRow, measure: Metric) -> PageCell {
    let write = writer(measure);
    let [now, file, inside] = [&choice.in_use, &choice.held_out, &choice.in_sample];
    let mut cell = PageCell::figure(file.value(measure), write);
    if now != file {
        cell.text = format!("{} → {}", write(now.value(measure)), cell.text);
    }
    let alarms = |of: &crate::data::ChoiceFigures| wrong_and_transient(of.wrong, of.transient);
    let is_rate = measure.is_wrong_rate();
    let before = (is_rate && now != file).then(|| format!("{} → ", alarms(now)));
    let counted = is_rate.then(|| format!("{}{}", before.unwrap_or_default(), alarms(file)));
    let inside = (inside != file).then(|| {
        let counted = if is_rate {
            format!(": {}", alarms(inside))
        } else {
            String::new()
        };
        format!("in-sample {}{counted}", write(inside.value(measure)))
    });
    let small: Vec<String> = counted.into_iter().chain(inside).collect();
    cell.with(small.join("; "))
}

/// Formats the names of the setting in use and of the one in the file. The second line has the latter's short name.
fn gets(data: &ReportData, choice: &ChoiceRow) -> PageCell {
    let text = if choice.setting == data.in_use() || choice.in_use_is == choice.gets {
        choice.in_use_is.clone()
    } else {
        format!("{} → {}", choice.in_use_is, choice.gets)
    };
    let small = choice.setting.map(|at| data.describe(at));
    let small = small.filter(|small| !text.ends_with(small.as_str()));
    PageCell::text(text).with(small.unwrap_or_default())
}
