//! A row per model: recall and false alarms of the current, the pooled and the model's own setting.

use super::{Drawing, Entry, Sheet};
use crate::data::{ALL_MODELS, Choice, ReportData};
use crate::draw::{Anchor, Axis, Canvas, Dot, DrawError, Ink, Key, Label, Legend, Mark, Place, Rows};
use crate::numbers::{Interval, count, decimal, percent, range};

pub(super) static ENTRY: Entry = Entry {
    name: "forest",
    title: "Recall and false alarms of each model",
    reading: "A row per model, those with the most loops first: a dot with its 95 % interval for the setting in use, \
              the one pooled over all models, and the model's own where it has loops enough (own: held out).",
    draw,
};

/// How many models are drawn; the table has them all.
const MODELS: usize = 20;

/// The dots of one model.
struct Row<'d> {
    model: &'d str,
    loops: u64,
    recall: Vec<Dot>,
    fa: Vec<Dot>,
}

fn draw(data: &ReportData, sheet: Sheet<'_>) -> Result<Drawing, DrawError> {
    let rows = rows(data);
    if rows.is_empty() {
        return Ok(Drawing::Absent("it compares models, and this folder has no scores of a model with labelled loops"));
    }
    let legend = Legend::new(keys(data), sheet.width - 8.0, 300.0);
    let top = legend.height() + 34.0;
    let per_row = if sheet.narrow() { 62.0 } else { 48.0 };
    let bottom = top + rows.len() as f64 * per_row;
    let canvas = sheet.canvas(bottom + 48.0);
    legend.draw(&canvas, 4.0, 4.0)?;
    let (start, split, lead) = if sheet.narrow() { (16.0, 0.58, 16.0) } else { (250.0, 0.68, 0.0) };
    let middle = sheet.width * split;
    let gap = if sheet.narrow() { 17.0 } else { 24.0 };
    let left = Place { left: start, top, right: middle - gap, bottom };
    let right = Place { left: middle + gap, top, right: sheet.width - 14.0, bottom };
    let recall = Rows::new(&canvas, left, Axis::share(), rows.len(), "recall")?;
    let fa_name = if sheet.narrow() { "false alarms / Mchar" } else { "false alarms per million clean chars" };
    let fa = Rows::new(&canvas, right, fa_axis(&rows), rows.len(), fa_name)?;
    for (n, row) in rows.iter().enumerate() {
        recall.dots(n, &row.recall, lead)?;
        fa.dots(n, &row.fa, lead)?;
        let y = if sheet.narrow() { recall.middle(n) - per_row / 2.0 + 11.0 } else { recall.middle(n) };
        name(&canvas, row, y, sheet.narrow())?;
    }
    Ok(Drawing::Svg(canvas.finish()?))
}

fn name(canvas: &Canvas, row: &Row<'_>, y: f64, narrow: bool) -> Result<(), DrawError> {
    let n = format!("n = {}", count(row.loops));
    let start = if narrow { 10.0 } else { 4.0 };
    let end = if narrow { canvas.width() - 18.0 } else { 242.0 };
    canvas.text_within((start, y), row.model, end - start - 62.0, Label::new(Ink::Text, Anchor::Start))?;
    canvas.text((end, y), &n, Label::new(Ink::Muted, Anchor::End).size(12.0))
}

/// Models by loops; none without loops.
fn rows(data: &ReportData) -> Vec<Row<'_>> {
    let base = data.pooled().or_else(|| data.current());
    let Some(base) = base else { return Vec::new() };
    let mut scores: Vec<_> = data
        .scores
        .iter()
        .filter(|score| score.setting == base && score.model != ALL_MODELS && score.loops > 0)
        .collect();
    scores.sort_by(|a, b| b.loops.cmp(&a.loops).then(a.model.cmp(&b.model)));
    scores.truncate(MODELS);
    scores.iter().map(|score| row(data, &score.model, score.loops)).collect()
}

fn row<'d>(data: &'d ReportData, model: &'d str, loops: u64) -> Row<'d> {
    let own = data.choices.iter().find(|choice| choice.model == model && is_own(data, choice));
    let of_setting = |setting: Option<usize>| {
        let score = setting.and_then(|setting| data.score(setting, model));
        score.map_or((Interval::default(), Interval::default()), |score| (score.recall, score.fa))
    };
    let mut figures = vec![("current", of_setting(data.current())), ("pooled", of_setting(data.pooled()))];
    figures.push(("own", own.map_or_else(Default::default, |choice| (choice.recall, choice.fa))));
    figures.retain(|(_, figures)| figures.0.value.is_some() || figures.1.value.is_some());
    let recall = figures.iter().map(|(name, (recall, _))| dot(name, *recall, percent)).collect();
    let fa = figures.iter().map(|(name, (_, fa))| dot(name, *fa, decimal)).collect();
    Row { model, loops, recall, fa }
}

fn is_own(data: &ReportData, choice: &Choice) -> bool {
    choice.setting.is_some() && choice.setting != data.pooled()
}

fn look(name: &str) -> (Mark, Ink) {
    match name {
        "current" => (Mark::Disc, Ink::Current),
        "pooled" => (Mark::Star, Ink::Chosen),
        _ => (Mark::Diamond, Ink::Third),
    }
}

fn dot(name: &str, at: Interval, write: fn(Option<f64>) -> String) -> Dot {
    let (mark, ink) = look(name);
    Dot { title: format!("{name}: {} ({})", write(at.value), range(at, write)), at, mark, ink }
}

fn keys(data: &ReportData) -> Vec<Key> {
    let current = data.current().map(|at| ("current", data.describe(at)));
    let pooled = data.pooled().map(|_| ("pooled", "chosen, pooled".to_owned()));
    let own = data.choices.iter().any(|choice| is_own(data, choice)).then(|| ("own", "chosen, own (held out)".to_owned()));
    let keys = current.into_iter().chain(pooled).chain(own);
    keys.map(|(role, name)| Key { name, pen: None, mark: Some(look(role)) }).collect()
}

/// From 0 to the largest upper end, but not past thirty times the largest rate: an interval may be very wide.
fn fa_axis(rows: &[Row<'_>]) -> Axis {
    let ends = |of: fn(&Interval) -> Option<f64>| {
        rows.iter().flat_map(|row| &row.fa).filter_map(|dot| of(&dot.at)).filter(|end| end.is_finite()).fold(1.0, f64::max)
    };
    Axis::symlog(1.0, ends(|at| at.high).min(ends(|at| at.value) * 30.0))
}
