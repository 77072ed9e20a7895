//! The plane: the share saved against wrong alarms.
//!
//! Each dot is a setting. All models have a plane, and so have the models with the most loops.

use super::{ChartArea, ChartEntry, PLOT, percent_labels, style_mesh};
use crate::data::{ALL_MODELS, ReportData, Role, Score};
use crate::draw::{ChartAxis, DrawError, Ink, Picture, elide, measure, words};
use crate::numbers::{decimal, format_plain, percent};
use crate::series::ink;
use crate::visible::visible;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use std::collections::BTreeMap;

pub(super) static ENTRY: ChartEntry = ChartEntry {
    name: "operating",
    title: "Every setting",
    reading: "Each dot is a setting that was replayed, of equal ones the best: higher is better, further left cuts less \
              healthy output. On the strip at the left are the settings without a wrong alarm, side by side where they are \
              equally high. The line is the best of all settings with at most that many wrong alarms per million clean chars. \
              All figures here are in-sample, on all transcripts; held-out ones are at the top of the page and in the tables.",
    draw,
};

/// The maximum number of models with a plane of their own.
const MODELS: usize = 8;
/// The maximum number of dots of a plane.
const DOTS: usize = 350;
/// The distance of dots in pixels, unless there are too many.
const APART: f64 = 7.0;
/// The room for marks at the left end of the strip, in pixels.
const MARKS: i32 = 22;
/// The width of a mark, in pixels.
const MARK: i32 = 17;
/// The height of a row of the key, in pixels.
const KEY_ROW: u32 = 22;

/// The maximum number of settings marked by a letter.
const MARKED: usize = 5;

/// A setting marked by a letter.
struct Point {
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

/// A dot with the rate of wrong alarms and the height of its setting, and its distance in pixels from that place.
struct PlacedDot {
    at: (f64, f64),
    aside: (i32, i32),
    dot: Dot,
}

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
    let entries = key_entries(data, &points);
    // A long name has a row to itself.
    let fits = |(_, _, name): &KeyEntry| measure(name, 13.0) <= f64::from(PLOT.0 / 2) - 44.0;
    let columns = if entries.iter().all(fits) { 2 } else { 1 };
    let rows = entries.len().div_ceil(columns) as u32;
    let size = (PLOT.0, PLOT.1 + KEY_ROW * rows);
    let picture = Picture::new((name, ENTRY.title), size, |area| {
        let (plot, below) = area.split_vertically(PLOT.1 as i32);
        spots = draw_points(&plot, data, &places, &points)?;
        key(&below, entries, columns as i32)
    })?;
    let mut titles: Vec<String> = spots
        .iter()
        .map(|spot| point_title(data, spot.at))
        .collect();
    let mut dots: Vec<Dot> = spots.into_iter().map(|spot| spot.dot).collect();
    for point in points.iter().rev() {
        titles.push(format!("{}: {}", point.name, point_title(data, point.at)));
        dots.push(Dot {
            setting: point.setting,
            settings: 1,
        });
    }
    Ok(Some((picture.with_titles("circle", &titles), dots)))
}

/// Draws the dots, the line, the limit and the marks. Returns the dots with their places.
fn draw_points(
    area: &ChartArea<'_>,
    data: &ReportData,
    places: &[(usize, (f64, f64))],
    points: &[Point],
) -> Result<Vec<PlacedDot>, DrawError> {
    let rates = places.iter().map(|(_, at)| at.0).chain(data.run.limit);
    let mut chart = ChartBuilder::on(area)
        .margin(10)
        .margin_right(32)
        .x_label_area_size(44)
        .y_label_area_size(62)
        .build_cartesian_2d(ChartAxis::rates(rates), 0.0..1.0)?;
    style_mesh(&mut chart.configure_mesh())
        .x_label_formatter(&|x| format_plain(*x, 3))
        .y_label_formatter(&percent_labels)
        .x_desc(data.run.wrong_name())
        .y_desc(data.run.height().title_in(data.run.unit))
        .draw()?;
    let pixel = |at: &(f64, f64)| chart.backend_coord(at);
    // The strip for 0, from its left end to its middle.
    let (left, top) = pixel(&(-1.0, 1.0));
    let half = pixel(&(0.0, 1.0)).0 - left;
    let strip = [(0, 0), (2 * half, pixel(&(0.0, 0.0)).1 - top)];
    let spots = spots(pixel, places, half);
    let asides = mark_offsets(pixel, points, half);
    chart.draw_series([
        EmptyElement::at((-1.0, 1.0)) + Rectangle::new(strip, Ink::Band.color().filled())
    ])?;
    // A rate of 0 ends at the strip.
    let beside = |(rate, height): (f64, f64)| (rate.max(f64::MIN_POSITIVE), height);
    let best = envelope(places).into_iter().map(beside);
    chart.draw_series(LineSeries::new(best, Ink::Axis.color().stroke_width(2)))?;
    let upright = data
        .run
        .limit
        .map(|limit| [(limit, 0.0), (limit, 1.0)].map(beside));
    let level = data.run.constraints.iter();
    let level = level.filter(|one| one.metric == data.run.height() && !one.at_most);
    let level = level.map(|one| [(-1.0, one.bound), (f64::MAX, one.bound)]);
    for ends in upright.into_iter().chain(level) {
        let style = Ink::Limit.color().stroke_width(2);
        chart.draw_series(DashedLineSeries::new(ends, 6, 4, style))?;
    }
    let muted = Ink::Muted.color().filled();
    let dot = |spot: &PlacedDot| EmptyElement::at(spot.at) + Circle::new(spot.aside, 3, muted);
    chart.draw_series(spots.iter().map(dot))?;
    // The first point is drawn last, on top. Letters identify points without colours.
    let marks = ('A'..).zip(points).zip(asides);
    for ((letter, point), at) in marks.collect::<Vec<_>>().into_iter().rev() {
        let mark = EmptyElement::at(point.at)
            + Circle::new(at, 8, point.ink.color().filled())
            + Text::new(letter.to_string(), at, words(12, Ink::OnHigh));
        chart.draw_series([mark])?;
    }
    Ok(spots)
}

/// Returns the distance of each mark in pixels from its point. On the strip for 0 marks are at its left end. A mark that
/// would cover an earlier one is moved to the right.
fn mark_offsets(
    pixel: impl Fn(&(f64, f64)) -> (i32, i32),
    points: &[Point],
    half: i32,
) -> Vec<(i32, i32)> {
    let mut taken: Vec<(i32, i32)> = Vec::new();
    let offset = |point: &Point| {
        let (left, y) = pixel(&point.at);
        let start = if point.at.0 <= 0.0 {
            MARKS / 2 - half
        } else {
            0
        };
        let mut x = left + start;
        while taken
            .iter()
            .any(|(other, height)| (other - x).abs() < MARK && (height - y).abs() < MARK)
        {
            x += MARK;
        }
        taken.push((x, y));
        (x - left, 0)
    };
    points.iter().map(offset).collect()
}

/// An entry of the key: the letter of a mark, the ink, the name.
type KeyEntry = (Option<char>, Ink, String);

/// Returns the key of the marks and the limit.
fn key_entries(data: &ReportData, points: &[Point]) -> Vec<KeyEntry> {
    let limit = data.run.limit.map(|limit| {
        let name = format!("limit: {limit} {}", data.run.wrong_name());
        (None, Ink::Limit, name)
    });
    let points = ('A'..).zip(points);
    let points = points.map(|(letter, point)| (Some(letter), point.ink, point.name.clone()));
    points.chain(limit).collect()
}

/// Draws the key in columns below the plane.
fn key(area: &ChartArea<'_>, entries: Vec<KeyEntry>, columns: i32) -> Result<(), DrawError> {
    let left = words(13, Ink::Text).pos(Pos::new(HPos::Left, VPos::Center));
    let (width, row) = (PLOT.0 as i32 / columns, KEY_ROW as i32);
    for (at, (letter, ink, name)) in (0..).zip(entries) {
        let (x, y) = (at % columns * width + 12, at / columns * row + row / 2);
        let (tall, style) = (if letter.is_some() { 7 } else { 1 }, ink.color().filled());
        area.draw(&Rectangle::new([(x, y - tall), (x + 14, y + tall)], style))?;
        if let Some(letter) = letter {
            let text = letter.to_string();
            area.draw(&Text::new(text, (x + 7, y), words(12, Ink::OnHigh)))?;
        }
        let name = elide(&visible(&name), f64::from(width) - 44.0, 13.0);
        area.draw(&Text::new(name, (x + 22, y), left.clone()))?;
    }
    Ok(())
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

/// Returns the dots and their places. Settings that are too close to tell apart share a dot. On the strip for 0, which is
/// two `half` wide, dots of one height lie side by side. `pixel` maps a place to pixels.
fn spots(
    pixel: impl Fn(&(f64, f64)) -> (i32, i32),
    places: &[(usize, (f64, f64))],
    half: i32,
) -> Vec<PlacedDot> {
    let mut apart = APART;
    loop {
        let cell = |pixel: i32| (f64::from(pixel) / apart).round() as i32;
        let room = (f64::from(2 * half - MARKS) / apart) as i32;
        let mut spots: BTreeMap<(i32, i32), PlacedDot> = BTreeMap::new();
        for (setting, at) in places {
            let (x, y) = pixel(at);
            let (mut column, row, mut aside) = (cell(x), cell(y), (0, 0));
            if at.0 <= 0.0 {
                // The first free place of the row, or that of equal figures.
                let taken = |n: &i32| spots.get(&(*n, row)).is_some_and(|spot| spot.at != *at);
                column = (0..room - 1).find(|n| !taken(n)).unwrap_or(room - 1);
                let right = (f64::from(column) + 0.5) * apart;
                let down = f64::from(row) * apart - f64::from(y);
                aside = (MARKS - half + right as i32, down.round() as i32);
            }
            let first = Dot {
                setting: *setting,
                settings: 0,
            };
            let spot = spots.entry((column, row)).or_insert(PlacedDot {
                at: *at,
                aside,
                dot: first,
            });
            spot.dot.settings += 1;
        }
        if spots.len() <= DOTS {
            return spots.into_values().collect();
        }
        apart *= 1.3;
    }
}

/// Returns the upper envelope of the places: the highest value up to each rate of wrong alarms. It begins at the highest
/// value without a wrong alarm, or at that of `never`.
fn envelope(places: &[(usize, (f64, f64))]) -> Vec<(f64, f64)> {
    let mut all: Vec<(f64, f64)> = places.iter().map(|place| place.1).collect();
    all.sort_by(|a, b| a.0.total_cmp(&b.0).then(b.1.total_cmp(&a.1)));
    let mut best = vec![(0.0, 0.0)];
    for (rate, height) in all {
        if let Some((_, highest)) = best.last().copied().filter(|last| height > last.1) {
            if rate <= 0.0 {
                best.clear();
            } else {
                best.push((rate, highest));
            }
            best.push((rate, height));
        }
    }
    best
}

fn point_title(data: &ReportData, (fa, height): (f64, f64)) -> String {
    format!(
        "{} {}, {} {}",
        data.run.height().title_in(data.run.unit),
        percent(Some(height)),
        decimal(Some(fa)),
        data.run.wrong_name()
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

/// Returns the marked settings of a model: the chosen one or the best of a search, then the one in use, the other named
/// ones, those of the limits, and no guard.
fn points(data: &ReportData, model: &str) -> Vec<Point> {
    let point = |setting: usize, name: String, ink| {
        let at = place(data, data.score(setting, model)?)?;
        Some(Point {
            setting,
            name,
            at,
            ink,
        })
    };
    let chosen = match model {
        ALL_MODELS => data.chosen(),
        model => data.held_for(model).filter(|_| data.ships()),
    };
    let stars = [("settings.toml", chosen), ("best in-sample", data.best())];
    let stars = stars.into_iter().filter_map(|(what, at)| {
        let name = format!("{what}: {}", data.describe(at?));
        point(at?, name, Ink::Chosen)
    });
    let named = data.leading().iter().filter(|at| chosen != Some(**at));
    let named = named.filter_map(|at| point(*at, data.describe(*at), ink(data, *at)));
    let mut points: Vec<Point> = stars.chain(named).collect();
    let limits = data.advice.iter().flat_map(|advice| &advice.limits);
    for rung in limits {
        let setting = data.settings.iter().position(|one| one.id == rung.setting);
        let new = setting.filter(|at| points.iter().all(|point| point.setting != *at));
        let ink = Ink::series(3 + points.len() % 5);
        points.extend(new.and_then(|at| point(at, data.describe(at), ink)));
    }
    let never = data.settings.iter().position(|one| one.role == Role::Never);
    points.extend(never.and_then(|at| point(at, "never: no guard at all".into(), Ink::Muted)));
    points.truncate(MARKED);
    points
}
