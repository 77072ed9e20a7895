//! The plane: the share saved against wrong alarms.
//!
//! Each dot is a setting. All models have a plane, and so have the models with the most loops.

use super::{Area, ChartEntry, PLOT, legend, mesh, percent_labels};
use crate::data::{ALL_MODELS, ReportData, Role, Score};
use crate::draw::{Axis, DrawError, Ink, Picture, elide, words};
use crate::look::ink;
use crate::numbers::{decimal, percent, plain};
use crate::visible::visible;
use plotters::prelude::*;
use std::collections::BTreeMap;

pub(super) static ENTRY: ChartEntry = ChartEntry {
    name: "operating",
    title: "Every setting",
    reading: "Each dot is a setting that was replayed, of equal ones the best: higher is better, further left cuts less \
              healthy output. The line is the best of all settings with at most that many wrong alarms per million clean chars. \
              All figures here are in-sample, on all transcripts; held-out ones are at the top of the page and in the tables.",
    draw,
};

/// The maximum number of models with a plane of their own.
const MODELS: usize = 8;
/// The maximum number of dots of a plane.
const DOTS: usize = 350;
const APART: f64 = 5.0;

/// The maximum number of settings marked by a letter.
const MARKED: usize = 5;

/// A setting marked by a letter.
struct Point {
    /// The role: `chosen`, `best in-sample`, `in use`, `named`, `never`.
    role: &'static str,
    setting: usize,
    name: String,
    at: (f64, f64),
    ink: Ink,
}

/// A dot, which shows the best of the settings at a place.
pub(crate) struct Dot {
    pub(crate) setting: usize,
    /// The number of settings at the place.
    pub(crate) settings: usize,
}

/// A dot and its place: the rate of wrong alarms and the height of its setting.
type Spot = ((f64, f64), Dot);

/// The plane of a model.
pub(crate) struct Plane<'d> {
    pub(crate) model: &'d str,
    pub(crate) svg: String,
    /// The dots by their numbers in the picture.
    pub(crate) dots: Vec<Dot>,
}

/// Draws the planes of all models together and of the models with the most loops.
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

fn draw(data: &ReportData) -> Result<Option<Picture>, DrawError> {
    Ok(plane(data, (ENTRY.name, ALL_MODELS))?.map(|(drawn, _)| drawn))
}

/// Draws the plane of a model. Returns it with the dots that can be clicked, in the order in which they are drawn. `None` if
/// no setting has a place.
fn plane(
    data: &ReportData,
    (name, model): (&str, &str),
) -> Result<Option<(Picture, Vec<Dot>)>, DrawError> {
    let places = places(data, model);
    if places.is_empty() {
        return Ok(None);
    }
    let points = points(data, model);
    let mut spots = Vec::new();
    let picture = Picture::new((name, ENTRY.title), PLOT, |area| {
        spots = drawn(area, data, &places, &points)?;
        Ok(())
    })?;
    let mut titles: Vec<String> = spots.iter().map(|(at, _)| told(data, *at)).collect();
    let mut dots: Vec<Dot> = spots.into_iter().map(|(_, dot)| dot).collect();
    for point in points.iter().rev() {
        titles.push(format!("{}: {}", point.name, told(data, point.at)));
        dots.push(Dot {
            setting: point.setting,
            settings: 1,
        });
    }
    Ok(Some((picture.with_titles("circle", &titles), dots)))
}

/// Draws the dots, the line, the limit and the marks. Returns the dots with their places.
fn drawn(
    area: &Area<'_>,
    data: &ReportData,
    places: &[(usize, (f64, f64))],
    points: &[Point],
) -> Result<Vec<Spot>, DrawError> {
    let rates = places.iter().map(|(_, at)| at.0).chain(data.run.limit);
    let mut chart = ChartBuilder::on(area)
        .margin(10)
        .margin_right(32)
        .x_label_area_size(44)
        .y_label_area_size(62)
        .build_cartesian_2d(Axis::rates(rates), 0.0..1.0)?;
    mesh(&mut chart.configure_mesh())
        .x_label_formatter(&|x| plain(*x, 3))
        .y_label_formatter(&percent_labels)
        .x_desc(data.run.wrong_name(false))
        .y_desc(data.run.height().title_in(data.run.unit))
        .draw()?;
    let best = envelope(places);
    chart.draw_series(LineSeries::new(best, Ink::Axis.color().stroke_width(2)))?;
    if let Some(limit) = data.run.limit {
        let color = Ink::Limit.color();
        let ends = [(limit, 0.0), (limit, 1.0)];
        chart
            .draw_series(DashedLineSeries::new(ends, 6, 4, color.stroke_width(2)))?
            .label(format!("limit: {limit}"))
            .legend(move |(x, y)| Rectangle::new([(x, y - 1), (x + 18, y + 1)], color.filled()));
    }
    let muted = Ink::Muted.color().filled();
    let spots = spots(|at| chart.backend_coord(at), places);
    chart.draw_series(spots.iter().map(|(at, _)| Circle::new(*at, 3, muted)))?;
    // The first point is drawn last, on top. Letters identify points without colours.
    for (letter, point) in ('A'..).zip(points).collect::<Vec<_>>().into_iter().rev() {
        let color = point.ink.color();
        let mark = EmptyElement::at(point.at)
            + Circle::new((0, 0), 8, color.filled())
            + Text::new(letter.to_string(), (0, 0), words(12, Ink::OnHigh));
        chart.draw_series([mark])?;
    }
    for (letter, point) in ('A'..).zip(points) {
        let color = point.ink.color();
        chart
            .draw_series(std::iter::empty::<Circle<(f64, f64), i32>>())?
            .label(elide(&visible(&point.name), 300.0, 13.0))
            .legend(move |at| {
                EmptyElement::at(at)
                    + Rectangle::new([(2, -7), (16, 7)], color.filled())
                    + Text::new(letter.to_string(), (9, 0), words(12, Ink::OnHigh))
            });
    }
    legend(&mut chart.configure_series_labels()).draw()?;
    Ok(spots)
}

/// Returns the places of a model's settings except `never`, the best first.
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

/// Returns the dots and their places. Settings that are too close to tell apart share a dot. `pixel` maps a place to
/// pixels.
fn spots(pixel: impl Fn(&(f64, f64)) -> (i32, i32), places: &[(usize, (f64, f64))]) -> Vec<Spot> {
    let mut apart = APART;
    loop {
        let mut spots: BTreeMap<(i64, i64), Spot> = BTreeMap::new();
        for (setting, at) in places {
            let (x, y) = pixel(at);
            let cell = |pixel: i32| (f64::from(pixel) / apart).round() as i64;
            let first = Dot {
                setting: *setting,
                settings: 0,
            };
            let (_, dot) = spots.entry((cell(x), cell(y))).or_insert((*at, first));
            dot.settings += 1;
        }
        if spots.len() <= DOTS {
            return spots.into_values().collect();
        }
        apart *= 1.3;
    }
}

/// Returns the upper envelope of the places: the highest value up to each rate of wrong alarms. It begins at (0, 0),
/// the place of `never`.
fn envelope(places: &[(usize, (f64, f64))]) -> Vec<(f64, f64)> {
    let mut all: Vec<(f64, f64)> = places.iter().map(|place| place.1).collect();
    all.sort_by(|a, b| a.0.total_cmp(&b.0).then(b.1.total_cmp(&a.1)));
    let mut best = vec![(0.0, 0.0)];
    for (rate, height) in all {
        if let Some((_, highest)) = best.last().copied().filter(|last| height > last.1) {
            best.extend([(rate, highest), (rate, height)]);
        }
    }
    best
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

/// Returns the place of a score, if both figures are defined.
fn place(data: &ReportData, score: &Score) -> Option<(f64, f64)> {
    Some((
        score.value(data.run.wrong())?,
        score.value(data.run.height())?,
    ))
}

/// Returns all models, those with the most loops first.
fn models(data: &ReportData) -> Vec<&str> {
    let loops = data.labelled_loops().into_iter();
    let mut models: Vec<(&str, u64)> = loops.filter(|(model, _)| *model != ALL_MODELS).collect();
    models.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
    models.into_iter().map(|(model, _)| model).collect()
}

/// Returns the marked settings of a model: the chosen one or the best of a search, then the one in use, then the first
/// of the other named ones.
fn points(data: &ReportData, model: &str) -> Vec<Point> {
    let scores = data.scores.iter().filter(|score| score.model == model);
    let mut points: Vec<Point> = scores
        .filter_map(|score| Some((score.setting, place(data, score)?)))
        .flat_map(|(setting, at)| marks(data, model, (setting, at)))
        .collect();
    points.sort_by_key(|point| {
        let leading = data.leading().iter().position(|at| *at == point.setting);
        let is_star = matches!(point.role, "chosen" | "best in-sample");
        (!is_star, point.role == "never", leading)
    });
    points.truncate(MARKED);
    points
}

/// Returns the marks of a setting. A chosen setting with a name has two.
fn marks(data: &ReportData, model: &str, (setting, at): (usize, (f64, f64))) -> Vec<Point> {
    let point = |role, name: String, ink| Point {
        role,
        setting,
        name,
        at,
        ink,
    };
    let mut marks = Vec::new();
    let chosen = if model == ALL_MODELS {
        data.chosen()
    } else {
        data.held_for(model).filter(|_| data.ships())
    };
    if chosen == Some(setting) {
        marks.push(point("chosen", "chosen".into(), Ink::Chosen));
    }
    if data.best() == Some(setting) {
        marks.push(point(
            "best in-sample",
            "best in-sample".into(),
            Ink::Chosen,
        ));
    }
    let role = data.settings.get(setting).map(|this| (this.role, &this.id));
    let itself = match role {
        None | Some((Role::Cell, _)) => return marks,
        Some((Role::Never, id)) => point("never", format!("{id}: no guard at all"), Ink::Muted),
        Some((Role::InUse, _)) => point("in use", data.describe(setting), ink(data, setting)),
        Some((Role::Named, _)) => point("named", data.describe(setting), ink(data, setting)),
    };
    marks.push(itself);
    marks
}
