//! Settings side by side: the named ones with the floors, the Pareto front, and each model by itself.

use super::{Cell, Column, Row, Table, number, role, words};
use crate::data::{ALL_MODELS, By, ReportData, Role, Score, Verdict};
use crate::numbers::{chars, decimal, percent};
use std::collections::BTreeMap;

/// The longest Pareto front that is shown.
const FRONT: usize = 40;
/// How many rows of models, or of values of a field, are shown before the rest is folded away.
const SHOWN: usize = 25;
/// How many settings each model is seen through.
const NAMED: usize = 3;

/// Current, chosen, other named settings, floors; all models together.
pub(super) fn side_by_side(data: &ReportData) -> Option<Table> {
    if !data.has_labels() {
        return would_cut(data);
    }
    let rank = |score: &&Score| {
        let rank = match role(data, score.setting) {
            "current" => 0,
            "chosen" | "best" => 1,
            "floor" => 3,
            _ => 2,
        };
        let leading = data.leading().iter();
        (rank, leading.take_while(|at| **at != score.setting).count())
    };
    let is_named = |score: &&Score| {
        data.settings
            .get(score.setting)
            .is_some_and(|setting| setting.role != Role::Cell)
            || data.pooled() == Some(score.setting)
            || data.best() == Some(score.setting)
    };
    let mut scores: Vec<&Score> = data.together().filter(is_named).collect();
    scores.sort_by_cached_key(rank);
    let floor = floor(data);
    let rows = scores.into_iter().map(|score| {
        let first = label(
            data,
            score,
            floor.filter(|floor| !beats(data, score, floor)),
        );
        with_means(row(data, score, first), score)
    });
    let rows = rows.collect();
    let by = data.leading_by();
    let note = format!(
        "All models together; the one in use, the chosen or best one, then those with {by} first. A setting that does not beat the floors (never alarm, always alarm at the first \
                checkpoint, alarm at random as often) is worth nothing. “Does not beat” a floor: its utility at this \
                run's lambda and share of loops is at or below that of the best floor; where utility is n/a, its \
                objective. Of a tuned setting these are in-sample figures; \
                the table of choices has the held-out ones. “Models” is the mean over models, each counting the same."
    );
    let mut columns = columns("setting");
    columns.extend([number("recall, models"), number("false alarms, models")]);
    Table::new("Settings and floors side by side", note, columns, rows)
}

/// Without labels: how often each setting would have fired.
fn would_cut(data: &ReportData) -> Option<Table> {
    let mut all: BTreeMap<usize, (u64, u64)> = BTreeMap::new();
    for row in &data.outcomes {
        let counts = all.entry(row.setting).or_default();
        counts.0 += u64::from(row.alarm_at.is_some() && row.verdict != Verdict::Error);
        counts.1 += 1;
    }
    let row = |(at, (cut, of)): (usize, (u64, u64))| {
        let id = data.settings.get(at).map_or("", |setting| &setting.id);
        let name = data.describe(at);
        let small = if name == id { "" } else { id };
        let rate = (data.run.chars > 0).then(|| cut as f64 * 1e6 / data.run.chars as f64);
        Row {
            cells: vec![
                Cell::text(name.as_str()).with(small),
                Cell::count(cut),
                Cell::count(of),
                Cell::figure(rate, decimal),
            ],
            role: role(data, at),
        }
    };
    let columns = vec![
        words("setting"),
        number("would cut"),
        number("transcripts"),
        number("per Mchar"),
    ];
    let note = "Transcripts that each setting would have cut, and for each million chars of the corpus. Nothing is \
                labelled: whether rightly, only a label can tell.";
    let rows = all.into_iter().map(row).collect();
    Table::new("What each setting would cut", note, columns, rows)
}

/// The floor that is worth most: by its utility, or its objective where that is n/a.
fn floor(data: &ReportData) -> Option<&Score> {
    let floors = data
        .together()
        .filter(|score| data.settings[score.setting].role == Role::Floor);
    let worth = |score: &Score| {
        let merit = |value| data.run.objective.merit(value);
        score.utility.or(score.objective.map(merit))
    };
    let valued = floors.filter_map(|score| Some((score, worth(score)?)));
    let best = valued.reduce(|a, b| if b.1 > a.1 { b } else { a });
    best.map(|best| best.0)
}

/// Whether a setting is worth more than a floor; so is one that cannot be compared, and a floor itself.
fn beats(data: &ReportData, score: &Score, floor: &Score) -> bool {
    if data.settings[score.setting].role == Role::Floor {
        return true;
    }
    let merit = |value: f64| data.run.objective.merit(value);
    match (score.utility, floor.utility) {
        (Some(own), Some(floor)) => own > floor,
        _ => match (score.objective, floor.objective) {
            (Some(own), Some(floor)) => merit(own) > merit(floor),
            _ => true,
        },
    }
}

/// The means over models behind the other cells.
fn with_means(mut row: Row, score: &Score) -> Row {
    let [recall, fa] = score.macro_means;
    row.cells
        .extend([Cell::figure(recall, percent), Cell::figure(fa, decimal)]);
    row
}

/// A table for each field that was asked for, a row for each value and setting.
pub(super) fn by_field(data: &ReportData) -> Vec<Table> {
    let mut fields: Vec<&str> = data.by.iter().map(|by| by.field.as_str()).collect();
    fields.dedup();
    let table = |field: &str| {
        let rows = data.by.iter().filter(|by| by.field == field);
        let name = |by: &By| {
            Cell::name(by.value.as_deref().unwrap_or("–")).with(data.describe(by.score.setting))
        };
        let rows = rows.map(|by| row(data, &by.score, name(by))).collect();
        let title = format!("By {field}");
        let table = Table::new(&title, "All models together.", columns("value"), rows)?;
        Some(table.cut(SHOWN, "scores_by.csv"))
    };
    fields.into_iter().filter_map(table).collect()
}

/// What a setting is called, its id, and the floor that it does not beat.
fn label(data: &ReportData, score: &Score, above: Option<&Score>) -> Cell {
    let setting = &data.settings[score.setting];
    let name = data.describe(score.setting);
    let id = if name == setting.id { "" } else { &setting.id };
    let (name, small) = match role(data, score.setting) {
        "chosen" => ("chosen (pooled)".to_owned(), data.described(score.setting)),
        "best" => ("best in-sample".to_owned(), data.described(score.setting)),
        "floor" => (setting.id.clone(), "floor".to_owned()),
        _ => (name, id.to_owned()),
    };
    let beaten = above.map(|floor| format!("does not beat {}", data.describe(floor.setting)));
    let small: Vec<String> = [small]
        .into_iter()
        .filter(|small| !small.is_empty())
        .collect();
    let small: Vec<String> = small.into_iter().chain(beaten).collect();
    Cell::text(name).with(small.join("; "))
}

fn columns(first: &'static str) -> Vec<Column> {
    let numbers = [
        "loops",
        "recall",
        "false alarms / Mchar",
        "precision",
        "F1",
        "delay, chars",
        "median latency",
        "within 1\u{202f}000",
        "saved",
        "lost / Mchar",
        "right kind",
        "utility",
    ];
    std::iter::once(words(first))
        .chain(numbers.map(number))
        .collect()
}

fn row(data: &ReportData, score: &Score, first: Cell) -> Row {
    let cells = vec![
        first,
        Cell::count(score.loops),
        Cell::interval(score.recall, percent),
        Cell::interval(score.fa, decimal),
        Cell::interval(score.precision, percent),
        Cell::figure(score.f1, decimal),
        Cell::interval(score.delay, chars),
        Cell::figure(score.latency_p50, chars),
        Cell::figure(score.within[3], percent),
        Cell::figure(score.saved, percent),
        Cell::figure(score.lost, chars),
        Cell::figure(score.kind_accuracy, percent),
        Cell::figure(score.utility, decimal),
    ];
    Row {
        cells,
        role: role(data, score.setting),
    }
}

/// Settings that no other one beats on recall, false alarms and delay at once, by their rate of false alarms.
pub(super) fn pareto(data: &ReportData) -> Option<Table> {
    let is_cell = |setting: &&crate::data::Setting| setting.role == Role::Cell;
    if data.settings.iter().filter(is_cell).count() < 2 {
        return None;
    }
    let describe = |score: &Score| {
        let first = Cell::text(data.describe(score.setting)).with(id(data, score));
        row(data, score, first)
    };
    let rows = front(data).into_iter().map(describe).collect();
    let note = "No setting of the grid has a higher recall, fewer false alarms and a shorter delay than one of these. \
                In-sample figures; each is named by what it changes.";
    let table = Table::new("Pareto front", note, columns("setting"), rows)?;
    Some(table.cut(FRONT, "pareto.csv"))
}

fn id<'d>(data: &'d ReportData, score: &Score) -> &'d str {
    &data.settings[score.setting].id
}

/// The scores of those settings.
pub(crate) fn front(data: &ReportData) -> Vec<&Score> {
    let figures = |score: &Score| Some((score.fa.value?, score.recall.value?, score.delay.value?));
    let is_cell = |score: &&Score| data.settings[score.setting].role != Role::Floor;
    let mut all: Vec<(&Score, (f64, f64, f64))> = data
        .together()
        .filter(is_cell)
        .filter_map(|score| Some((score, figures(score)?)))
        .collect();
    all.sort_by(|(_, a), (_, b)| {
        a.0.total_cmp(&b.0)
            .then(b.1.total_cmp(&a.1))
            .then(a.2.total_cmp(&b.2))
    });
    let mut kept: Vec<(&Score, (f64, f64, f64))> = Vec::new();
    for (score, point) in all {
        if !kept
            .iter()
            .any(|(_, other)| other.1 >= point.1 && other.2 <= point.2)
        {
            kept.push((score, point));
        }
    }
    kept.into_iter().map(|(score, _)| score).collect()
}

/// Each model with the first named settings, where nothing was chosen.
pub(super) fn by_model(data: &ReportData) -> Option<Table> {
    let named = data.leading();
    let shown = &named[..named.len().min(NAMED)];
    let of_model = |score: &&Score| {
        score.model != ALL_MODELS && score.loops + score.clean > 0 && shown.contains(&score.setting)
    };
    let mut scores: Vec<&Score> = data.scores.iter().filter(of_model).collect();
    // Settings differ a little in how many loops count (one that ends by itself does not): a model's rows stay together.
    let mut loops: BTreeMap<&str, u64> = BTreeMap::new();
    for score in &scores {
        let most = loops.entry(&score.model).or_default();
        *most = score.loops.max(*most);
    }
    scores.sort_by_cached_key(|score| {
        let place = shown.iter().position(|at| *at == score.setting);
        let model = score.model.as_str();
        (std::cmp::Reverse(loops.get(model)), model, place)
    });
    let describe = |score: &&Score| {
        let first = Cell::model(&score.model).with(data.describe(score.setting));
        row(data, score, first)
    };
    let rows = scores.iter().map(describe).collect();
    let mut note =
        "Each model seen through each setting, those with the most loops first.".to_owned();
    if named.len() > NAMED {
        note = format!(
            "Each model seen through the first setting and those {} of {} with {}; models with the most loops first. scores.parquet has all of it.",
            NAMED - 1,
            named.len(),
            data.leading_by()
        );
    }
    let table = Table::new("Models", note, columns("model"), rows)?;
    Some(table.cut(SHOWN, "scores.parquet"))
}
