//! Settings side by side: the named ones with the floors, the Pareto front, and each model by itself.

use super::{Cell, Column, Row, Table, number, role, words};
use crate::data::{ALL_MODELS, BesideFloor, By, ReportData, Role, Score, Verdict};
use crate::numbers::{chars, count, decimal, percent, writer};
use deadloop_score::measure::{DELAY, NET_PER_1000, RECALL};
use deadloop_score::replay::detect::Unit;
use deadloop_score::{Count, Metric, measures};
use std::collections::BTreeMap;

/// The longest Pareto front that is shown.
const FRONT: usize = 40;
/// How many rows of models, or of values of a field, are shown before the rest is folded away.
const SHOWN: usize = 25;
/// How many settings each model is seen through.
const NAMED: usize = 3;

/// The setting in use, the chosen one, other named settings, floors; all models together.
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
            || data.chosen() == Some(score.setting)
            || data.best() == Some(score.setting)
    };
    let mut scores: Vec<&Score> = data.together().filter(is_named).collect();
    scores.sort_by_cached_key(rank);
    let rows = scores.into_iter().map(|score| {
        let first = label(data, score);
        with_means(row(data, score, first), score)
    });
    let rows = rows.collect();
    let by = data.leading_by();
    let pi = percent(Some(data.run.worth.pi));
    let note = format!(
        "All models together; the one in use, the chosen or best one, then those with {by} first, then floors: never alarm, \
         always alarm at the first checkpoint, alarm at random as often. “Spares less than” a floor: where {pi} of the \
         responses loop, a wrong alarm costs {} {} besides what is generated again, and the whole 95 % interval of the difference lies \
         below 0. A loop is found, stopped in an earlier repetition, which ends by itself, or missed. Of the chosen one these are \
         in-sample figures; the table of what each model gets has the held-out ones. “Models” is the mean over models, each counting \
         the same.",
        chars(Some(data.run.worth.annoyance)),
        data.run.unit
    );
    let mut columns = columns(data, "setting");
    columns.extend([number("recall, models"), number("false alarms, models")]);
    Table::new("Settings and floors side by side", note, columns, rows)
}

/// Without labels: how often each setting would have fired.
fn would_cut(data: &ReportData) -> Option<Table> {
    // Of a corpus without labels only the chars are known.
    let rated = data.run.unit == Unit::Chars;
    let mut all: BTreeMap<usize, (u64, u64)> = BTreeMap::new();
    for row in data.outcomes.iter() {
        let counts = all.entry(row.setting).or_default();
        counts.0 += u64::from(row.alarm_at.is_some() && row.verdict != Verdict::Error);
        counts.1 += 1;
    }
    for (at, idle) in &data.idle {
        all.entry(*at).or_default().1 += idle;
    }
    let row = |(at, (cut, of)): (usize, (u64, u64))| {
        let id = data.settings.get(at).map_or("", |setting| &setting.id);
        let name = data.describe(at);
        let small = if name == id { "" } else { id };
        let rate = (data.run.chars > 0).then(|| cut as f64 * 1e6 / data.run.chars as f64);
        Row {
            cells: [
                Cell::text(name.as_str()).with(small),
                Cell::count(cut),
                Cell::count(of),
            ]
            .into_iter()
            .chain(rated.then(|| Cell::figure(rate, decimal)))
            .collect(),
            role: role(data, at),
        }
    };
    let mut columns = vec![words("setting"), number("would cut"), number("transcripts")];
    columns.extend(rated.then(|| number("per Mchar")));
    let rate = if rated {
        ", and for each million chars of the corpus"
    } else {
        ""
    };
    let note = format!(
        "Transcripts that each setting would have cut{rate}. Nothing is labelled: whether rightly, only a label can tell."
    );
    let rows = all.into_iter().map(row).collect();
    Table::new("What each setting would cut", note, columns, rows)
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
        let table = Table::new(&title, "All models together.", columns(data, "value"), rows)?;
        Some(table.cut(SHOWN, "scores_by.csv"))
    };
    fields.into_iter().filter_map(table).collect()
}

/// What a setting is called, its id, and the floors that spare more.
fn label(data: &ReportData, score: &Score) -> Cell {
    let setting = &data.settings[score.setting];
    let name = data.describe(score.setting);
    let id = if name == setting.id { "" } else { &setting.id };
    let (name, small) = match role(data, score.setting) {
        "chosen" => ("chosen".to_owned(), data.described(score.setting)),
        "best" => ("best in-sample".to_owned(), data.described(score.setting)),
        "floor" => (setting.id.clone(), "floor".to_owned()),
        _ => (name, id.to_owned()),
    };
    let small = Some(small).filter(|small| !small.is_empty());
    let small: Vec<String> = small
        .into_iter()
        .chain(below(data, score.setting))
        .collect();
    Cell::text(name).with(small.join("; "))
}

/// The floors that spare more than a setting, beyond the interval of the difference.
fn below(data: &ReportData, setting: usize) -> Option<String> {
    let surely =
        |one: &&BesideFloor| one.setting == setting && one.below.is_some_and(|ends| ends.hi < 0.0);
    let floors = data.beside_floors.iter().filter(surely);
    let floors: Vec<&str> = floors.map(|one| one.floor.as_str()).collect();
    (!floors.is_empty()).then(|| format!("spares less than {}", floors.join(", ")))
}

/// The measures of the tables of settings: those of choices first.
fn shown_measures(unit: Unit) -> impl Iterator<Item = Metric> {
    let shown = |choice: bool| {
        let is_shown = move |m: &Metric| m.shown.tables && m.shown.choice == choice;
        measures(unit).filter(is_shown)
    };
    shown(true).chain(shown(false))
}

fn columns(data: &ReportData, first: &'static str) -> Vec<Column> {
    let unit = data.run.unit;
    let measures = shown_measures(unit).map(|measure| number(measure.title_in(unit)));
    let lead = [words(first), number("loops")].into_iter();
    lead.chain(measures)
        .chain([number("median latency")])
        .collect()
}

fn row(data: &ReportData, score: &Score, first: Cell) -> Row {
    let figure = |measure: Metric| {
        let cell = Cell::interval(score.of(measure), writer(measure));
        let money = score.value(measure).and_then(|chars| data.run.money(chars));
        match money.filter(|_| measure == &NET_PER_1000) {
            Some(money) => cell.with(format!("{} in money", decimal(Some(money)))),
            None => cell,
        }
    };
    let measures = shown_measures(data.run.unit).map(figure);
    let lead = [first, loops(score)].into_iter();
    let median = Cell::figure(score.latency.p50, chars);
    Row {
        cells: lead.chain(measures).chain([median]).collect(),
        role: role(data, score.setting),
    }
}

/// The loops, and what became of them.
fn loops(score: &Score) -> Cell {
    let of = |what| score.tally.get(what);
    let (found, earlier) = (of(Count::Hit), of(Count::Earlier));
    let missed = score.loops() - found - earlier;
    Cell::count(score.loops()).with(format!(
        "{} found, {} stopped earlier, {} missed",
        count(found),
        count(earlier),
        count(missed)
    ))
}

/// Settings that no other one beats on recall, false alarms and delay at once, by their rate of false alarms.
pub(super) fn pareto(data: &ReportData) -> Option<Table> {
    let is_cell = |setting: &&crate::data::SettingRow| setting.role == Role::Cell;
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
    let table = Table::new("Pareto front", note, columns(data, "setting"), rows)?;
    Some(table.cut(FRONT, "pareto.csv"))
}

fn id<'d>(data: &'d ReportData, score: &Score) -> &'d str {
    &data.settings[score.setting].id
}

/// The scores of those settings.
pub(crate) fn front(data: &ReportData) -> Vec<&Score> {
    let figures = |score: &Score| {
        let value = |measure| score.value(measure);
        Some((value(data.run.wrong())?, value(&RECALL)?, value(&DELAY)?))
    };
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
        score.model != ALL_MODELS
            && score.loops() + score.clean() > 0
            && shown.contains(&score.setting)
    };
    let mut scores: Vec<&Score> = data.scores.iter().filter(of_model).collect();
    // Settings differ a little in how many loops count (one that ends by itself does not): a model's rows stay together.
    let mut loops: BTreeMap<&str, u64> = BTreeMap::new();
    for score in &scores {
        let most = loops.entry(&score.model).or_default();
        *most = score.loops().max(*most);
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
    let table = Table::new("Models", note, columns(data, "model"), rows)?;
    Some(table.cut(SHOWN, "scores.parquet"))
}
