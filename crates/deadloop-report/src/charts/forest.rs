//! A row per model: what is ended and wrong alarms of the current, the pooled and the model's own setting.

use super::{ChartEntry, Drawing, LEFT_OUT, Sheet, left_out};
use crate::data::{ALL_MODELS, ChoiceRow, ReportData};
use crate::draw::{
    Anchor, Axis, Canvas, Dot, DrawError, Ink, Key, Label, Legend, Mark, Place, Rows, elide_apart,
};
use crate::look::Look;
use crate::numbers::{Estimate, count, decimal, percent, range};
use crate::points::{Rows as Data, ends, setting};
use deadloop_score::measure::ENDED;
use deadloop_score::{Metric, TableCell};

pub(super) static ENTRY: ChartEntry = ChartEntry {
    name: "forest",
    title: "Loops ended and wrong alarms of each model",
    reading: "A row per model, those with the most loops first: a dot with its 95 % interval for the setting in use, \
              the chosen one of all models, and the model's own where it ships one (own: held out). An arrow: \
              the interval goes on. The dashed line is the limit of the run. n: labelled loops.",
    columns: &[
        ("model", "the model"),
        ("loops", "its labelled loops"),
        ("setting", "its id, as in scores.csv"),
        ("name", "what it is called; a model's own is held out"),
        (
            "ended",
            "share of the loops that are stopped, in them or in an earlier repetition",
        ),
        ("ended_lo", "lower end of its 95 % interval"),
        ("ended_hi", "upper end of it"),
        ("fa_per_mchar", "wrong alarms per million clean chars"),
        ("fa_lo", "lower end of its 95 % interval"),
        ("fa_hi", "upper end of it"),
    ],
    draw,
};

/// How many models are drawn; the file has them all.
const MODELS: usize = 20;
/// How many settings stand in a row where none is chosen.
const NAMED: usize = 3;
/// The width of a name with its count beside the rows, and of the count alone.
const NAMES: f64 = 322.0;
const COUNT: f64 = 62.0;

/// The dots of one model.
struct Row<'d> {
    model: &'d str,
    loops: u64,
    ended: Vec<Dot>,
    fa: Vec<Dot>,
    /// Of each pair of dots: whose they are, and their numbers.
    shown: Vec<Shown>,
}

/// A setting in a row: its name, the loops that count for it, what is ended and wrong alarms.
struct Shown {
    setting: usize,
    name: String,
    loops: u64,
    ended: Estimate,
    fa: Estimate,
}

fn draw(data: &ReportData, sheet: Sheet<'_>) -> Result<Drawing, DrawError> {
    let list = contestants(data);
    let all = rows(data, &list);
    let rows = &all[..all.len().min(MODELS)];
    if rows.is_empty() {
        return Ok(Drawing::Absent);
    }
    let legend = Legend::new(keys(data, &list), sheet.width - 8.0, 300.0);
    let top = legend.height() + 34.0;
    let per_row = if sheet.narrow() { 66.0 } else { 48.0 };
    let bottom = top + rows.len() as f64 * per_row;
    let canvas = sheet.canvas(bottom + 48.0 + LEFT_OUT);
    left_out(
        &canvas,
        bottom + 56.0,
        (rows.len(), all.len(), data.run.models_left_out),
        ("those with the most loops", "forest.csv"),
    )?;
    legend.draw(&canvas, 4.0, 4.0)?;
    let (left, right) = places(&sheet, top, bottom);
    let lead = if sheet.narrow() { 20.0 } else { 0.0 };
    let ended = Rows::new(
        &canvas,
        left,
        Axis::share(if sheet.narrow() { 2 } else { 5 }),
        rows.len(),
        "ended",
    )?;
    let fa_name = data.run.wrong_name(sheet.narrow());
    let fa = Rows::new(&canvas, right, fa_axis(data, rows), rows.len(), fa_name)?;
    data.run.limit.map_or(Ok(()), |limit| fa.limit(limit))?;
    let models: Vec<&str> = rows.iter().map(|row| row.model).collect();
    let (from, to) = name_ends(&canvas, sheet.narrow());
    let names = elide_apart(&models, to - from - COUNT, 13.0);
    for (n, (row, shown)) in rows.iter().zip(&names).enumerate() {
        ended.dots(n, &row.ended, lead)?;
        fa.dots(n, &row.fa, lead)?;
        let y = if sheet.narrow() {
            ended.middle(n) - per_row / 2.0 + 11.0
        } else {
            ended.middle(n)
        };
        name(&canvas, (row, shown), y, (from, to))?;
    }
    let numbers = all.iter().flat_map(|row| numbers(data, row));
    Ok(Drawing::Shown(canvas.finish()?, numbers.collect()))
}

/// Where what is ended stands, and the wrong alarms.
fn places(sheet: &Sheet<'_>, top: f64, bottom: f64) -> (Place, Place) {
    let (start, split, gap) = if sheet.narrow() {
        (16.0, 0.58, 17.0)
    } else {
        (NAMES + 8.0, 0.7, 24.0)
    };
    let middle = sheet.width * split;
    let place = |left, right| Place {
        left,
        top,
        right,
        bottom,
    };
    let right = place(middle + gap, sheet.width - 14.0);
    (place(start, middle - gap), right)
}

fn numbers(data: &ReportData, row: &Row<'_>) -> Data {
    let line = |shown: &Shown| {
        let [id, _] = setting(data, shown.setting);
        let names = [
            TableCell::text(row.model),
            TableCell::count(shown.loops),
            id,
            TableCell::text(shown.name.as_str()),
        ];
        let names = names.into_iter().chain(ends(shown.ended));
        names.chain(ends(shown.fa)).collect()
    };
    row.shown.iter().map(line).collect()
}

/// Where names begin, and counts end.
fn name_ends(canvas: &Canvas, narrow: bool) -> (f64, f64) {
    if narrow {
        (10.0, canvas.width() - 18.0)
    } else {
        (4.0, NAMES)
    }
}

fn name(
    canvas: &Canvas,
    (row, shown): (&Row<'_>, &str),
    y: f64,
    (from, to): (f64, f64),
) -> Result<(), DrawError> {
    if shown != row.model {
        canvas.title(row.model);
    }
    canvas.text((from, y), shown, Label::new(Ink::Text, Anchor::Start))?;
    let n = format!("n = {}", count(row.loops));
    canvas.text((to, y), &n, Label::new(Ink::Muted, Anchor::End).size(12.0))
}

/// A setting that every row shows.
struct Contestant {
    name: String,
    setting: usize,
    look: (Mark, Ink),
}

/// The setting in use and the chosen one; without one, the leading ones.
fn contestants(data: &ReportData) -> Vec<Contestant> {
    let current = data
        .in_use()
        .map(|at| (at, data.describe(at), Look::of(data, at)));
    let pooled = data
        .chosen()
        .map(|at| (at, "chosen".to_owned(), Look::CHOSEN));
    let mut list: Vec<_> = current.into_iter().chain(pooled).collect();
    if data.chosen().is_none() {
        let others = data
            .leading()
            .iter()
            .filter(|at| data.in_use() != Some(**at));
        let others = others.map(|at| (*at, data.describe(*at), Look::of(data, *at)));
        list.extend(others.take(NAMED - list.len()));
    }
    let contestant = |(setting, name, look): (usize, String, Look)| Contestant {
        name,
        setting,
        look: (look.mark, look.ink()),
    };
    list.into_iter().map(contestant).collect()
}

const OWN: (&str, (Mark, Ink)) = ("its own (held out)", (Mark::Diamond, Ink::Third));

/// Models by their labelled loops; none without loops.
fn rows<'d>(data: &'d ReportData, list: &[Contestant]) -> Vec<Row<'d>> {
    let loops = data.labelled_loops();
    let looping = loops.into_iter().filter(|(_, loops)| *loops > 0);
    let mut models: Vec<(&str, u64)> = looping.filter(|(model, _)| *model != ALL_MODELS).collect();
    models.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
    let rows = models.into_iter().map(|model| row(data, list, model));
    rows.filter(|row| !row.shown.is_empty()).collect()
}

fn row<'d>(data: &ReportData, list: &[Contestant], (model, loops): (&'d str, u64)) -> Row<'d> {
    let mut row = Row {
        model,
        loops,
        ended: Vec::new(),
        fa: Vec::new(),
        shown: Vec::new(),
    };
    for one in list {
        if let Some(score) = data.score(one.setting, model) {
            let shown = Shown {
                setting: one.setting,
                name: one.name.clone(),
                loops: score.loops(),
                ended: score.of(&ENDED),
                fa: score.of(data.run.wrong()),
            };
            row.add(shown, one.look);
        }
    }
    let own = data.choice_of(model).filter(|choice| choice.is_own());
    if let Some((own, setting)) = own.and_then(|own| Some((own, own.setting?))) {
        let held_out = |measure: Metric| Estimate {
            value: own.held_out.value(measure),
            ..Estimate::default()
        };
        let shown = Shown {
            setting,
            name: OWN.0.to_owned(),
            loops: own.loops,
            ended: held_out(&ENDED),
            fa: held_out(data.run.wrong()),
        };
        row.add(shown, OWN.1);
    }
    row
}

impl Row<'_> {
    fn add(&mut self, shown: Shown, look: (Mark, Ink)) {
        self.ended
            .push(dot(&shown.name, look, shown.ended, percent));
        self.fa.push(dot(&shown.name, look, shown.fa, decimal));
        self.shown.push(shown);
    }
}

fn dot(
    name: &str,
    (mark, ink): (Mark, Ink),
    at: Estimate,
    write: fn(Option<f64>) -> String,
) -> Dot {
    Dot {
        title: format!("{name}: {} ({})", write(at.value), range(at, write)),
        at,
        mark,
        ink,
    }
}

fn keys(data: &ReportData, list: &[Contestant]) -> Vec<Key> {
    let own = data
        .choices
        .iter()
        .any(ChoiceRow::is_own)
        .then(|| (OWN.0.to_owned(), OWN.1));
    let all = list
        .iter()
        .map(|one| (one.name.clone(), one.look))
        .chain(own);
    all.map(|(name, look)| Key {
        name,
        pen: None,
        mark: Some(look),
    })
    .collect()
}

/// From 0 to the largest upper end, but not past thirty times the largest rate: an interval may be very wide.
fn fa_axis(data: &ReportData, rows: &[Row<'_>]) -> Axis {
    let ends = |of: fn(&Estimate) -> Option<f64>| {
        rows.iter()
            .flat_map(|row| &row.fa)
            .filter_map(|dot| of(&dot.at))
            .filter(|end| end.is_finite())
            .fold(1.0, f64::max)
    };
    let most = ends(|at| at.high).min(ends(|at| at.value) * 30.0);
    Axis::symlog(
        1.0,
        data.run.limit.map_or(most, |limit| most.max(limit * 1.3)),
    )
}
