//! The tables of settings: of all models together, by model, and by field.

use super::{PageCell, PageColumn, PageRow, PageTable, number, role, with_counts, words};
use crate::data::{ALL_MODELS, FieldScore, ReportData, Role, Score};
use crate::numbers::{chars, count, decimal, formatter_of};
use deadloop_score::replay::detect::Unit;
use deadloop_score::{Count, Metric, measures};

/// The maximum number of rows that are not folded, in tables by model and by field.
const MAX_UNFOLDED_ROWS: usize = 25;
/// The maximum number of named settings in tables by model and by field.
const MAX_SETTINGS: usize = 3;

/// Builds the table of the setting in use, the chosen setting, other named settings and `never`, on all models
/// together.
pub(super) fn settings_table(data: &ReportData) -> Option<PageTable> {
    if !data.has_labels() {
        return alarm_table(data);
    }
    let rank = |score: &&Score| {
        let rank = match role(data, score.setting) {
            "current" => 0,
            "chosen" | "best" => 1,
            "never" => 3,
            _ => 2,
        };
        let leading = data.leading().iter();
        (rank, leading.take_while(|at| **at != score.setting).count())
    };
    let is_named = |score: &&Score| {
        data.settings
            .get(score.setting)
            .is_some_and(|setting| setting.role != Role::Cell)
            || data.chosen() == Some(score.setting)
            || data.best() == Some(score.setting)
    };
    let mut scores: Vec<&Score> = data.together().filter(is_named).collect();
    scores.sort_by_cached_key(rank);
    let rows = scores.into_iter();
    let rows = rows
        .map(|score| score_row(data, score, name_cell(data, score)))
        .collect();
    let by = data.leading_by();
    let note = format!(
        "All models together; the one in use, that of settings.toml or the best one, then those with {by} first, then no guard (never). A \
         loop is found, stopped in an earlier repetition, which ends by itself, or missed. All figures are in-sample."
    );
    PageTable::new(
        "Settings side by side",
        note,
        score_columns(data, "setting"),
        rows,
    )
}

/// Builds the table of alarms by setting, for a corpus without labels.
fn alarm_table(data: &ReportData) -> Option<PageTable> {
    // Without labels, the only known size of a corpus is in chars.
    let has_rate = data.run.unit == Unit::Chars;
    let row = |(at, [cut, all]): (usize, [u64; 2])| {
        let id = data.settings.get(at).map_or("", |setting| &setting.id);
        let name = data.describe(at);
        let small = if name == id { "" } else { id };
        let rate = (data.run.chars > 0).then(|| cut as f64 * 1e6 / data.run.chars as f64);
        PageRow {
            cells: [
                PageCell::text(name.as_str()).with(small),
                PageCell::count(cut),
                PageCell::count(all),
            ]
            .into_iter()
            .chain(has_rate.then(|| PageCell::figure(rate, decimal)))
            .collect(),
            role: role(data, at),
        }
    };
    let mut columns = vec![words("setting"), number("would cut"), number("transcripts")];
    columns.extend(has_rate.then(|| number("per Mchar")));
    let rate = if has_rate {
        ", and for each million chars of the corpus"
    } else {
        ""
    };
    let note = format!(
        "Transcripts that each setting would have cut{rate}. Nothing is labelled: whether rightly, only a label can tell."
    );
    let rows = data.cuts().into_iter().map(row).collect();
    PageTable::new("What each setting would cut", note, columns, rows)
}

/// The fields that belong to a loop, not to a transcript.
pub(super) const LOOP_FIELDS: [&str; 3] = ["channel", "kind", "onset"];

/// Builds a table for each wanted field, with a row for each value under each of the shown settings.
///
/// The shown settings are the first named ones and the chosen one.
pub(super) fn field_tables(data: &ReportData, wanted: impl Fn(&str) -> bool) -> Vec<PageTable> {
    let shown = &data.leading()[..data.leading().len().min(MAX_SETTINGS)];
    let is_shown = |by: &&FieldScore| {
        shown.contains(&by.score.setting) || data.chosen() == Some(by.score.setting)
    };
    let mut fields: Vec<&str> = data.by.iter().map(|by| by.field.as_str()).collect();
    fields.dedup();
    let table = |field: &str| {
        let rows = data
            .by
            .iter()
            .filter(|by| by.field == field)
            .filter(is_shown);
        let name = |by: &FieldScore| {
            PageCell::text(by.value.as_deref().unwrap_or("–")).with(data.describe(by.score.setting))
        };
        let row = |by: &FieldScore| score_row(data, &by.score, name(by));
        let rows = rows.map(row).collect();
        let title = format!("By {field}");
        let columns = score_columns(data, "value");
        let table = PageTable::new(&title, "All models together.", columns, rows)?;
        Some(table.fold(MAX_UNFOLDED_ROWS, "more rows", "scores.parquet"))
    };
    fields
        .into_iter()
        .filter(|field| wanted(field))
        .filter_map(table)
        .collect()
}

/// Returns the cell with the name of a setting, and its id on the second line.
fn name_cell(data: &ReportData, score: &Score) -> PageCell {
    let setting = &data.settings[score.setting];
    let name = data.describe(score.setting);
    let id = if name == setting.id { "" } else { &setting.id };
    let (name, small) = match role(data, score.setting) {
        "chosen" => ("settings.toml".to_owned(), data.describe(score.setting)),
        "best" => ("best in-sample".to_owned(), data.describe(score.setting)),
        "never" => (setting.id.clone(), "no guard at all".to_owned()),
        _ => (name, id.to_owned()),
    };
    PageCell::text(name).with(small)
}

/// Returns the measures in tables of settings, in order.
fn shown_measures(unit: Unit) -> impl Iterator<Item = Metric> {
    measures(unit).filter(|measure| measure.shown.tables)
}

/// Returns the columns of a table of scores. `first` is the heading of the first.
fn score_columns(data: &ReportData, first: &'static str) -> Vec<PageColumn> {
    let unit = data.run.unit;
    let measures = shown_measures(unit).flat_map(|measure| with_counts(measure, unit));
    let lead = [words(first), number("loops")].into_iter();
    lead.chain(measures)
        .chain([number("median latency")])
        .collect()
}

/// Returns a row of a table of scores, after its first cell.
fn score_row(data: &ReportData, score: &Score, first: PageCell) -> PageRow {
    let measures = shown_measures(data.run.unit).flat_map(|measure| {
        let counts = [
            score.scores.tally.wrong(),
            score.scores.tally.get(Count::TransientStop),
        ];
        let counts = measure.is_wrong_rate().then(|| counts.map(PageCell::count));
        let figure = PageCell::interval(score.estimate(measure), formatter_of(measure));
        counts.into_iter().flatten().chain([figure])
    });
    let lead = [first, loops_cell(score)].into_iter();
    let median = PageCell::figure(score.scores.latency.p50, chars);
    PageRow {
        cells: lead.chain(measures).chain([median]).collect(),
        role: role(data, score.setting),
    }
}

/// Returns the cell with the number of loops. The second line has the numbers found, stopped earlier and missed.
fn loops_cell(score: &Score) -> PageCell {
    let get = |count| score.scores.tally.get(count);
    let (found, earlier) = (get(Count::Hit), get(Count::Earlier));
    let missed = score.loops() - found - earlier;
    PageCell::count(score.loops()).with(format!(
        "{} found, {} stopped earlier, {} missed",
        count(found),
        count(earlier),
        count(missed)
    ))
}

/// Builds the table of each model under the first named settings, for a run without a choice.
pub(super) fn model_table(data: &ReportData) -> Option<PageTable> {
    let named = data.leading();
    let shown = &named[..named.len().min(MAX_SETTINGS)];
    let of_model = |score: &&Score| {
        score.model != ALL_MODELS
            && score.loops() + score.clean() > 0
            && shown.contains(&score.setting)
    };
    let mut scores: Vec<&Score> = data.scores.iter().filter(of_model).collect();
    let loops = data.labelled_loops();
    scores.sort_by_cached_key(|score| {
        let rank = shown.iter().position(|at| *at == score.setting);
        let model = score.model.as_str();
        (std::cmp::Reverse(loops.get(model)), model, rank)
    });
    let describe = |score: &&Score| {
        let first = PageCell::model(&score.model).with(data.describe(score.setting));
        score_row(data, score, first)
    };
    let rows = scores.iter().map(describe).collect();
    let mut note =
        "Each model seen through each setting, those with the most loops first.".to_owned();
    if named.len() > MAX_SETTINGS {
        note = format!(
            "Each model seen through the first setting and those {} of {} with {}; models with the most loops first. scores.parquet has all of it.",
            MAX_SETTINGS - 1,
            named.len(),
            data.leading_by()
        );
    }
    let table = PageTable::new("Models", note, score_columns(data, "model"), rows)?;
    Some(table.fold(MAX_UNFOLDED_ROWS, "more rows", "scores.parquet"))
}
