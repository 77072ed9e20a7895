//! The plane: what is saved against wrong alarms, a dot for each setting; for all models, and for those with most loops.

use super::{ChartEntry, DrawnChart, WIDTH};
use crate::data::{ALL_MODELS, ReportData, Role, Score};
use crate::draw::{
    Anchor, Axis, Canvas, Dash, DrawError, Ink, Key, Label, Legend, Mark, Panel, Pen, Place,
    names_beside,
};
use crate::look::Look;
use crate::numbers::{decimal, percent};
use crate::points::{Rows, setting};
use crate::visible::visible;
use deadloop_score::TableCell;
use std::collections::BTreeMap;

pub(super) static ENTRY: ChartEntry = ChartEntry {
    name: "operating",
    title: "Every setting",
    reading: "Each dot is a setting that was replayed, of equal ones the best: higher is better, further left cuts less \
              healthy output. The line is the best of all settings with at most that many wrong alarms per million clean chars. \
              All figures here are in-sample, on all transcripts; held-out ones are at the top of the page and in the tables.",
    columns: &[
        ("mark", "best: a step of the line; else what the setting is"),
        ("model", "the model, * for all together"),
        (
            "setting",
            "its id, as in scores.csv; none where the line begins",
        ),
        ("name", "what it is called"),
        (
            "height",
            "the objective, where that is a share; else what is saved",
        ),
        ("fa_per_mchar", "wrong alarms per million clean chars"),
    ],
    draw,
};

/// How many models have a plane of their own.
const MODELS: usize = 8;
/// Dots of a plane at most, and the pixels in which settings are one dot at first.
const DOTS: usize = 350;
const APART: f64 = 5.0;

/// A setting that is marked.
struct Point {
    /// What it is: `chosen`, `best in-sample`, `in use`, `named`, `never`.
    role: &'static str,
    setting: usize,
    name: String,
    at: (f64, f64),
    mark: Mark,
    ink: Ink,
    radius: f64,
    /// Whether its name stands beside it: there are more settings than shapes that a legend can tell apart.
    beside: bool,
}

/// A step of the line: its place, and the setting that reaches it.
type Step = ((f64, f64), Option<usize>);

/// A dot: settings in one place, of which this is the best.
pub(crate) struct Dot {
    pub(crate) setting: usize,
    /// The number of settings there.
    pub(crate) settings: usize,
}

/// A plane of one model.
pub(crate) struct Plane<'d> {
    pub(crate) model: &'d str,
    pub(crate) svg: String,
    /// By the numbers that the picture has.
    pub(crate) dots: Vec<Dot>,
}

/// The planes of all models together and of the models with the most loops.
pub(crate) fn planes(data: &ReportData) -> Result<Vec<Plane<'_>>, DrawError> {
    let own = models(data).into_iter().take(MODELS).enumerate();
    let own = own.map(|(n, model)| (format!("operating-{n}"), model));
    let all = std::iter::once(("operating".to_owned(), ALL_MODELS)).chain(own);
    let mut planes = Vec::new();
    for (name, model) in all {
        if let Some((drawn, dots)) = plane(data, (&name, model))? {
            let svg = drawn.svg();
            planes.push(Plane { model, svg, dots });
        }
    }
    Ok(planes)
}

fn draw(data: &ReportData) -> Result<Option<DrawnChart>, DrawError> {
    Ok(plane(data, (ENTRY.name, ALL_MODELS))?.map(|(drawn, _)| drawn))
}

fn plane(
    data: &ReportData,
    (name, model): (&str, &str),
) -> Result<Option<(DrawnChart, Vec<Dot>)>, DrawError> {
    let places = places(data, model);
    if places.is_empty() {
        return Ok(None);
    }
    let points = points(data, model);
    let line = envelope(&places);
    let legend = Legend::new(keys(&points), WIDTH - 8.0, 300.0);
    let top = legend.height() + 40.0;
    let bottom = top + 360.0;
    let canvas = Canvas::new(name, ENTRY.title, WIDTH, bottom + 50.0);
    legend.draw(&canvas, 4.0, 4.0)?;
    let place = Place {
        left: 50.0,
        top,
        right: WIDTH - 16.0,
        bottom,
    };
    let rates = places.iter().map(|(_, at)| at.0);
    let x = Axis::rates(rates.chain(data.run.limit));
    let panel = Panel::new(&canvas, place, x, Axis::share(5));
    let height = data.run.height();
    panel.axes(data.run.wrong_name(false), &height.title_in(data.run.unit))?;
    limit(data, &canvas, &panel)?;
    panel.title("the best at each rate").steps(
        &line.iter().map(|step| step.0).collect::<Vec<_>>(),
        Pen::solid(Ink::Axis, 1.6),
    )?;
    let mut dots = Vec::new();
    for (at, dot) in spots(&panel, &places) {
        canvas.dot(dots.len()).speck(at, 3.2, Ink::Muted)?;
        dots.push(dot);
    }
    for point in points.iter().rev() {
        panel.title(format!("{}: {}", point.name, told(data, point.at)));
        canvas.dot(dots.len());
        panel.mark(point.at, point.mark, point.radius, point.ink)?;
        dots.push(Dot {
            setting: point.setting,
            settings: 1,
        });
    }
    let named: Vec<_> = points
        .iter()
        .map(|point| {
            let name = point.beside.then_some(point.name.as_str());
            (panel.at(point.at.0, point.at.1), name)
        })
        .collect();
    let limit = data.run.limit.map(|limit| panel.at(limit, 0.0).0);
    names_beside(&canvas, &named, limit)?;
    let rows = rows(data, model, (&line, &points));
    let picture = canvas.finish()?;
    Ok(Some((DrawnChart { picture, rows }, dots)))
}

/// Where the settings of a model are, without `never`, the best first.
fn places(data: &ReportData, model: &str) -> Vec<(usize, (f64, f64))> {
    let guards = |setting: usize| {
        let setting = data.settings.get(setting);
        setting.is_some_and(|setting| setting.role != Role::Never)
    };
    let scores = data.scores.iter().filter(|score| score.model == model);
    let scores = scores.filter(|score| guards(score.setting));
    let mut places: Vec<_> = scores
        .filter_map(|score| Some((score.setting, place(data, score)?)))
        .collect();
    places.sort_by(|(_, a), (_, b)| b.1.total_cmp(&a.1).then(a.0.total_cmp(&b.0)));
    places
}

/// The dots and their pixels: settings so near each other that they cannot be told apart are one.
fn spots(panel: &Panel<'_>, places: &[(usize, (f64, f64))]) -> Vec<((f64, f64), Dot)> {
    let mut apart = APART;
    loop {
        let mut spots: BTreeMap<(i64, i64), ((f64, f64), Dot)> = BTreeMap::new();
        for (setting, (rate, height)) in places {
            let at = panel.at(*rate, *height);
            let cell = |pixel: f64| (pixel / apart).round() as i64;
            let first = Dot {
                setting: *setting,
                settings: 0,
            };
            let (_, dot) = spots.entry((cell(at.0), cell(at.1))).or_insert((at, first));
            dot.settings += 1;
        }
        if spots.len() <= DOTS {
            return spots.into_values().collect();
        }
        apart *= 1.3;
    }
}

/// The highest place at each rate of wrong alarms, rising, each with its setting; it starts at (0, 0), where `never` is.
fn envelope(places: &[(usize, (f64, f64))]) -> Vec<Step> {
    let mut all = places.to_vec();
    all.sort_by(|(_, a), (_, b)| a.0.total_cmp(&b.0).then(b.1.total_cmp(&a.1)));
    let mut best = vec![((0.0, 0.0), None)];
    for (setting, point) in all {
        if best.last().is_some_and(|(last, _)| point.1 > last.1) {
            best.push((point, Some(setting)));
        }
    }
    best
}

fn rows(data: &ReportData, model: &str, (line, points): (&[Step], &[Point])) -> Rows {
    let row = |mark: &str, at: Option<usize>, (fa, height): (f64, f64)| {
        let which = at.map_or([TableCell::Text(None), TableCell::Text(None)], |at| {
            setting(data, at)
        });
        let names = [mark, model].map(TableCell::text).into_iter().chain(which);
        names
            .chain([height, fa].map(|figure| TableCell::Float(Some(figure))))
            .collect()
    };
    let marks = points
        .iter()
        .map(|point| row(point.role, Some(point.setting), point.at));
    let steps = line.iter().map(|(at, setting)| row("best", *setting, *at));
    marks.chain(steps).collect()
}

fn told(data: &ReportData, (fa, height): (f64, f64)) -> String {
    format!(
        "{} {}, {} {}",
        data.run.height().title_in(data.run.unit),
        percent(Some(height)),
        decimal(Some(fa)),
        data.run.wrong_name(false)
    )
}

/// Where a score stands, if both figures are defined.
fn place(data: &ReportData, score: &Score) -> Option<(f64, f64)> {
    Some((
        score.value(data.run.wrong())?,
        score.value(data.run.height())?,
    ))
}

/// Every model, those with the most loops first.
fn models(data: &ReportData) -> Vec<&str> {
    let loops = data.labelled_loops().into_iter();
    let mut models: Vec<(&str, u64)> = loops.filter(|(model, _)| *model != ALL_MODELS).collect();
    models.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
    models.into_iter().map(|(model, _)| model).collect()
}

/// Current, chosen, other named settings and `never`, on a model. Those that are more than a legend can tell
/// apart are small and have their names beside them.
fn points(data: &ReportData, model: &str) -> Vec<Point> {
    let scores = data.scores.iter().filter(|score| score.model == model);
    let mut points: Vec<Point> = scores
        .filter_map(|score| Some((score.setting, place(data, score)?)))
        .flat_map(|(setting, at)| marks(data, model, (setting, at)))
        .collect();
    let rank = |point: &Point| {
        let leading = data.leading().iter().position(|at| *at == point.setting);
        (!is_star(point), point.role == "never", leading)
    };
    points.sort_by_key(rank);
    for point in &mut points {
        if !is_star(point) && rank(point).2 >= Some(Look::DISTINCT) {
            (point.mark, point.ink, point.radius) = (Mark::Disc, Ink::Axis, 4.0);
            point.beside = true;
        }
    }
    points
}

/// The chosen setting, or the best of a search.
fn is_star(point: &Point) -> bool {
    matches!(point.role, "chosen" | "best in-sample")
}

/// The marks of a setting: one as the chosen one, one as itself.
fn marks(data: &ReportData, model: &str, (setting, at): (usize, (f64, f64))) -> Vec<Point> {
    let point = |role, name: String, mark, ink, radius| Point {
        role,
        setting,
        name,
        at,
        mark,
        ink,
        radius,
        beside: false,
    };
    let mut marks = Vec::new();
    let chosen = if model == ALL_MODELS {
        data.chosen()
    } else {
        data.held_for(model).filter(|_| data.ships())
    };
    if chosen == Some(setting) {
        marks.push(point(
            "chosen",
            "chosen".into(),
            Mark::Star,
            Ink::Chosen,
            7.0,
        ));
    }
    if data.best() == Some(setting) {
        let name = "best in-sample".into();
        marks.push(point("best in-sample", name, Mark::Star, Ink::Chosen, 7.0));
    }
    let Some(this) = data.settings.get(setting) else {
        return marks;
    };
    let look = || Look::of(data, setting);
    let itself = match this.role {
        Role::Cell => return marks,
        Role::Never => {
            let name = format!("{}: no guard at all", this.id);
            point("never", name, Mark::TriangleDown, Ink::Muted, 5.0)
        }
        Role::InUse => point(
            "in use",
            data.describe(setting),
            look().mark,
            look().ink(),
            5.8,
        ),
        Role::Named => point(
            "named",
            data.describe(setting),
            look().mark,
            look().ink(),
            5.8,
        ),
    };
    marks.push(itself);
    marks
}

fn keys(points: &[Point]) -> Vec<Key> {
    let marks = points.iter().filter(|point| !point.beside);
    let key = |point: &Point| Key {
        name: visible(&point.name).into_owned(),
        pen: None,
        mark: Some((point.mark, point.ink)),
    };
    marks.map(key).collect()
}

fn limit(data: &ReportData, canvas: &Canvas, panel: &Panel<'_>) -> Result<(), DrawError> {
    let Some(limit) = data.run.limit else {
        return Ok(());
    };
    let (top, bottom) = (panel.at(limit, 1.0), panel.at(limit, 0.0));
    canvas.line(&[top, bottom], Pen::dashed(Ink::Limit, 1.6, Dash::Dashed))?;
    let text = format!("limit: {limit}");
    let at = top.0.clamp(110.0, canvas.width() - 40.0);
    canvas.text(
        (at, top.1 - 11.0),
        &text,
        Label::new(Ink::Limit, Anchor::Middle).size(12.0),
    )
}
