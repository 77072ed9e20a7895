//! The table of choices: the setting of each model, its figures and the reason.

use deadloop_score::Metric;

use super::{PageCell, PageColumn, PageRow, PageTable, number, with_counts, words};
use crate::data::{ALL_MODELS, ChoiceFigures, ChoiceRow, ReportData};
use crate::numbers::{count, formatter_of};
use crate::visible::visible;

/// The maximum number of rows that are not folded.
const MAX_UNFOLDED_ROWS: usize = 40;

/// Builds the table of choices.
///
/// The whole file is first, then the models with their own setting, those with the most loops first. Models with the
/// setting of all models are folded. If no model has its own setting, a sentence replaces the rows.
pub(super) fn choice_table(data: &ReportData) -> Option<PageTable> {
    let mut choices: Vec<&ChoiceRow> = data.choices.iter().collect();
    // With one model, the row of the model would repeat that of the file.
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
        .map(|choice| choice_row(data, choice, &shown))
        .collect();
    let mut table = PageTable::new(
        "What each model gets",
        figures_note(data),
        choice_columns(data, &shown),
        rows,
    )?;
    let whole = choices.iter().filter(|one| one.model == ALL_MODELS);
    table.pinned = whole.count();
    let (shown, more) = match own {
        0 | 1 => (0, "rows of figures: all models together, then each"),
        // Otherwise the fold has models with their own setting too.
        2..=MAX_UNFOLDED_ROWS => (own, "more with the setting of all models"),
        _ => (MAX_UNFOLDED_ROWS, "more rows"),
    };
    if let Some(whole) = data.choice_of(ALL_MODELS).filter(|_| shown == 0) {
        let gets = visible(&whole.gets);
        table.lead = format!("Every model has the same setting in settings.toml: {gets}.");
    }
    Some(table.fold(shown, more, "choice.csv"))
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

fn figures_note(data: &ReportData) -> String {
    let by_folds = data.advice.as_ref().is_some_and(|advice| advice.by_folds);
    let file = if by_folds {
        "of the file, held out: where a part of it was chosen by folds, on the folds that the choice did not see; below them, in-sample ones, \
         which a replay of the file has"
    } else {
        "of the file, as measured: none of its settings was chosen on these transcripts"
    };
    format!(
        "Figures of the setting in use → {file}. “All models” is the whole file, each model under its own setting. \
         The test in “why” counts each text once and leaves out labels in doubt."
    )
}

fn choice_columns(data: &ReportData, shown: &[Metric]) -> Vec<PageColumn> {
    let first = [words("model"), words("in use → gets")];
    let figures = shown
        .iter()
        .flat_map(|measure| with_counts(measure, data.run.unit));
    let last = [number("loops"), words("why")];
    first.into_iter().chain(figures).chain(last).collect()
}

fn choice_row(data: &ReportData, choice: &ChoiceRow, shown: &[Metric]) -> PageRow {
    let first = [PageCell::model(&choice.model), names_cell(data, choice)];
    let sides = [&choice.in_use, &choice.held_out, &choice.in_sample];
    let last = [
        PageCell::count(choice.loops),
        PageCell::text(choice.reason.as_str()),
    ];
    let cells = first
        .into_iter()
        .chain(figure_cells(sides, shown))
        .chain(last);
    let is_whole = choice.model == ALL_MODELS;
    PageRow {
        cells: cells.collect(),
        role: if is_whole { "chosen" } else { "" },
    }
}

/// Returns the cells of measures, with figures in use, of the file, and in-sample.
///
/// The counts of wrong alarms and transient stops come before their rate.
pub(super) fn figure_cells(sides: [&ChoiceFigures; 3], shown: &[Metric]) -> Vec<PageCell> {
    let [_, file, _] = sides;
    let counts: [fn(&ChoiceFigures) -> u64; 2] = [|side| side.wrong, |side| side.transient];
    let counts =
        || counts.map(|n| with_changes(PageCell::count(n(file)), sides.map(|side| count(n(side)))));
    let cells = shown.iter().flat_map(|measure| {
        let (counts, write) = (measure.is_wrong_rate().then(counts), formatter_of(measure));
        let cell = PageCell::figure(file.value(measure), write);
        let cell = with_changes(cell, sides.map(|one| write(one.value(measure))));
        counts.into_iter().flatten().chain([cell])
    });
    cells.collect()
}

/// Adds the figures in use and in-sample to the cell of the file's figure. Equal figures are written once.
fn with_changes(cell: PageCell, [now, file, inside]: [String; 3]) -> PageCell {
    let small = (inside != file).then(|| format!("in-sample {inside}"));
    let before = (now != file).then(|| format!("{now} → "));
    let text = before.unwrap_or_default() + &file;
    PageCell { text, ..cell }.with(small.unwrap_or_default())
}

/// Returns the cell with the names of the setting in use and of the chosen setting. The second line is the chosen
/// setting's short name.
fn names_cell(data: &ReportData, choice: &ChoiceRow) -> PageCell {
    let text = if choice.setting == data.in_use() || choice.in_use_is == choice.gets {
        choice.in_use_is.clone()
    } else {
        format!("{} → {}", choice.in_use_is, choice.gets)
    };
    let small = choice.setting.map(|at| data.describe(at));
    let small = small.filter(|small| !text.ends_with(small.as_str()));
    PageCell::text(text).with(small.unwrap_or_default())
}
