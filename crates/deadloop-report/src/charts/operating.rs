//! The plane: the share saved against the rate of wrong alarms.
//!
//! Each dot is a setting. All models have a plane, and so have the models with the most loops.

use super::{CHART_PIXELS, ChartArea, ChartEntry, format_share, style_mesh};
use crate::data::{ALL_MODELS, ReportData, Role, Score};
use crate::draw::{ChartAxis, DrawError, Ink, Picture, centered_text, elide, text_width};
use crate::numbers::{decimal, format_plain, percent};
use crate::series::series_ink;
use crate::visible::visible;
use deadloop_score::choose::Advice;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use std::collections::BTreeMap;

pub(super) static ENTRY: ChartEntry = ChartEntry {
    name: "operating",
    title: "Every setting",
    reading: "Each dot is a setting: higher is better, further left cuts less healthy output. The strip at the left has the \
              settings without a wrong alarm. The line is the best of all settings with at most that many wrong alarms per \
              million clean chars. Held-out figures are in the tables, and worse.",
    draw,
};

/// The maximum number of models with their own plane.
const MAX_MODELS: usize = 8;
/// The maximum number of dots on a plane.
const MAX_DOTS: usize = 350;
/// The least distance of dots, in pixels. It is increased if there are too many dots.
const DOT_DISTANCE_PIXELS: f64 = 7.0;
/// The width of the room for letters at the left end of the strip, in pixels.
const MARKS_ROOM_PIXELS: i32 = 22;
/// The width of a letter's circle, in pixels.
const MARK_PIXELS: i32 = 17;
/// The height of a row of the key, in pixels.
const KEY_ROW_PIXELS: u32 = 22;

/// The maximum number of settings that are marked by a letter.
const MAX_MARKED: usize = 5;

/// A setting that is marked by a letter.
struct MarkedSetting {
    setting: usize,
    name: String,
    /// The rate of wrong alarms and the height.
    at: (f64, f64),
    ink: Ink,
}

/// A dot on the plane. It shows the best of the settings at its position.
pub(crate) struct Dot {
    pub(crate) setting: usize,
    /// The number of settings at the position.
    pub(crate) settings: usize,
}

/// A dot with its position on the plane.
struct PlacedDot {
    /// The rate of wrong alarms and the height of the setting.
    at: (f64, f64),
    /// The offset at which the dot is drawn, in pixels.
    offset: (i32, i32),
    dot: Dot,
}

/// The drawn plane of a model.
pub(crate) struct Plane<'d> {
    pub(crate) model: &'d str,
    pub(crate) svg: String,
    /// The dots, in the order of their numbers in the picture.
    pub(crate) dots: Vec<Dot>,
}

/// Draws the planes of all models together, and of the models with the most loops.
pub(crate) fn draw_planes(data: &ReportData) -> Result<Vec<Plane<'_>>, DrawError> {
    let own = (0..MAX_MODELS).zip(models_by_loops(data));
    let own = own.map(|(n, model)| (format!("operating-{n}"), model));
    let all = std::iter::once(("operating".to_owned(), ALL_MODELS)).chain(own);
    let mut planes = Vec::new();
    for (name, model) in all {
        if let Some((drawn, dots)) = draw_plane(data, (&name, model))? {
            let svg = drawn.svg();
            planes.push(Plane { model, svg, dots });
        }
    }
    Ok(planes)
}

fn draw(data: &ReportData) -> Result<Option<Picture>, DrawError> {
    Ok(draw_plane(data, (ENTRY.name, ALL_MODELS))?.map(|(drawn, _)| drawn))
}

/// Draws the plane of a model. Also returns the dots that can be clicked, in the order in which they are drawn.
///
/// `None` if no setting has a position.
fn draw_plane(
    data: &ReportData,
    (name, model): (&str, &str),
) -> Result<Option<(Picture, Vec<Dot>)>, DrawError> {
    let positions = setting_positions(data, model);
    if positions.is_empty() {
        return Ok(None);
    }
    let marked = marked_settings(data, model);
    let mut placed = Vec::new();
    let entries = key_entries(data, &marked);
    // A long name has a row to itself.
    let room = f64::from(CHART_PIXELS.0 / 2) - 44.0;
    let fits = |(_, _, name): &KeyEntry| text_width(name, 13.0) <= room;
    let columns = if entries.iter().all(fits) { 2 } else { 1 };
    let rows = entries.len().div_ceil(columns) as u32;
    let size = (CHART_PIXELS.0, CHART_PIXELS.1 + KEY_ROW_PIXELS * rows);
    let picture = Picture::new((name, ENTRY.title), size, |area| {
        let (plot, below) = area.split_vertically(CHART_PIXELS.1 as i32);
        placed = draw_settings(&plot, data, &positions, &marked)?;
        draw_key(&below, entries, columns as i32)
    })?;
    let mut titles: Vec<String> = placed.iter().map(|dot| hover_title(data, dot.at)).collect();
    let mut dots: Vec<Dot> = placed.into_iter().map(|placed| placed.dot).collect();
    for setting in marked.iter().rev() {
        let title = hover_title(data, setting.at);
        titles.push(format!("{}: {title}", setting.name));
        dots.push(Dot {
            setting: setting.setting,
            settings: 1,
        });
    }
    Ok(Some((picture.with_titles("circle", &titles), dots)))
}

/// Draws the dots, the line, the limits and the letters. Returns the dots with their positions.
fn draw_settings(
    area: &ChartArea<'_>,
    data: &ReportData,
    positions: &[(usize, (f64, f64))],
    marked: &[MarkedSetting],
) -> Result<Vec<PlacedDot>, DrawError> {
    let rates = positions.iter().map(|(_, at)| at.0).chain(data.run.limit);
    let mut chart = ChartBuilder::on(area)
        .margin(10)
        .margin_right(32)
        .x_label_area_size(44)
        .y_label_area_size(62)
        .build_cartesian_2d(ChartAxis::for_rates(rates), 0.0..1.0)?;
    style_mesh(&mut chart.configure_mesh())
        .x_label_formatter(&|x| format_plain(*x, 3))
        .y_label_formatter(&format_share)
        .x_desc(data.run.wrong_name())
        .y_desc(data.run.height_measure().title_in(data.run.unit))
        .draw()?;
    let pixel = |at: &(f64, f64)| chart.backend_coord(at);
    // The strip for 0, from its left end to its middle.
    let (left, top) = pixel(&(-1.0, 1.0));
    let half = pixel(&(0.0, 1.0)).0 - left;
    let strip = [(0, 0), (2 * half, pixel(&(0.0, 0.0)).1 - top)];
    let dots = place_dots(pixel, positions, half);
    let offsets = mark_offsets(pixel, marked, half);
    chart.draw_series([
        EmptyElement::at((-1.0, 1.0)) + Rectangle::new(strip, Ink::Band.color().filled())
    ])?;
    // A rate of 0 ends at the strip.
    let clamp_rate = |(rate, height): (f64, f64)| (rate.max(f64::MIN_POSITIVE), height);
    let best = envelope(positions).into_iter().map(clamp_rate);
    chart.draw_series(LineSeries::new(best, Ink::Axis.color().stroke_width(2)))?;
    let vertical = data
        .run
        .limit
        .map(|limit| [(limit, 0.0), (limit, 1.0)].map(clamp_rate));
    let horizontal = data.run.constraints.iter();
    let height = data.run.height_measure();
    let horizontal = horizontal.filter(|one| one.metric == height && !one.at_most);
    let horizontal = horizontal.map(|one| [(-1.0, one.bound), (f64::MAX, one.bound)]);
    for ends in vertical.into_iter().chain(horizontal) {
        let style = Ink::Limit.color().stroke_width(2);
        chart.draw_series(DashedLineSeries::new(ends, 6, 4, style))?;
    }
    let muted = Ink::Muted.color().filled();
    let draw_dot = |dot: &PlacedDot| EmptyElement::at(dot.at) + Circle::new(dot.offset, 3, muted);
    chart.draw_series(dots.iter().map(draw_dot))?;
    // The first setting is drawn last, on top. Letters identify settings without colours.
    let marks = ('A'..).zip(marked).zip(offsets);
    for ((letter, setting), at) in marks.collect::<Vec<_>>().into_iter().rev() {
        let mark = EmptyElement::at(setting.at)
            + Circle::new(at, 8, setting.ink.color().filled())
            + Text::new(letter.to_string(), at, centered_text(12, Ink::OnHigh));
        chart.draw_series([mark])?;
    }
    Ok(dots)
}

/// Returns the offset of each letter from the position of its setting, in pixels.
///
/// On the strip for 0, letters are at its left end. A letter that would cover an earlier one is moved to the right.
fn mark_offsets(
    pixel: impl Fn(&(f64, f64)) -> (i32, i32),
    marked: &[MarkedSetting],
    half: i32,
) -> Vec<(i32, i32)> {
    let mut taken: Vec<(i32, i32)> = Vec::new();
    let offset = |setting: &MarkedSetting| {
        let (left, y) = pixel(&setting.at);
        let start = if setting.at.0 <= 0.0 {
            MARKS_ROOM_PIXELS / 2 - half
        } else {
            0
        };
        let mut x = left + start;
        while taken.iter().any(|(other, height)| {
            (other - x).abs() < MARK_PIXELS && (height - y).abs() < MARK_PIXELS
        }) {
            x += MARK_PIXELS;
        }
        taken.push((x, y));
        (x - left, 0)
    };
    marked.iter().map(offset).collect()
}

/// An entry of the key: the letter of a setting if it has one, the ink, and the name.
type KeyEntry = (Option<char>, Ink, String);

/// Returns the entries of the key: the marked settings, then the limit.
fn key_entries(data: &ReportData, marked: &[MarkedSetting]) -> Vec<KeyEntry> {
    let limit = data.run.limit.map(|limit| {
        let name = format!("limit: {limit} {}", data.run.wrong_name());
        (None, Ink::Limit, name)
    });
    let marked = ('A'..).zip(marked);
    let marked = marked.map(|(letter, one)| (Some(letter), one.ink, one.name.clone()));
    marked.chain(limit).collect()
}

/// Draws the key below the plane, in columns.
fn draw_key(area: &ChartArea<'_>, entries: Vec<KeyEntry>, columns: i32) -> Result<(), DrawError> {
    let left = centered_text(13, Ink::Text).pos(Pos::new(HPos::Left, VPos::Center));
    let (width, row) = (CHART_PIXELS.0 as i32 / columns, KEY_ROW_PIXELS as i32);
    for (at, (letter, ink, name)) in (0..).zip(entries) {
        let (x, y) = (at % columns * width + 12, at / columns * row + row / 2);
        let (tall, style) = (if letter.is_some() { 7 } else { 1 }, ink.color().filled());
        area.draw(&Rectangle::new([(x, y - tall), (x + 14, y + tall)], style))?;
        if let Some(letter) = letter {
            let text = letter.to_string();
            area.draw(&Text::new(text, (x + 7, y), centered_text(12, Ink::OnHigh)))?;
        }
        let name = elide(&visible(&name), f64::from(width) - 44.0, 13.0);
        area.draw(&Text::new(name, (x + 22, y), left.clone()))?;
    }
    Ok(())
}

/// Returns the positions of a model's settings on the plane, the best first. The setting `never` is left out.
fn setting_positions(data: &ReportData, model: &str) -> Vec<(usize, (f64, f64))> {
    let is_guard = |setting: usize| {
        let setting = data.settings.get(setting);
        setting.is_some_and(|setting| setting.role != Role::Never)
    };
    let scores = data.scores.iter().filter(|score| score.model == model);
    let scores = scores.filter(|score| is_guard(score.setting));
    let mut positions: Vec<_> = scores
        .filter_map(|score| Some((score.setting, plane_position(data, score)?)))
        .collect();
    positions.sort_by(|(_, a), (_, b)| b.1.total_cmp(&a.1).then(a.0.total_cmp(&b.0)));
    positions
}

/// Places the dots of all settings. Settings at nearly the same position share a dot.
///
/// `pixel` converts a position to pixels. On the strip for 0, which is two `half` wide, dots of one height are side by
/// side.
fn place_dots(
    pixel: impl Fn(&(f64, f64)) -> (i32, i32),
    positions: &[(usize, (f64, f64))],
    half: i32,
) -> Vec<PlacedDot> {
    let mut distance = DOT_DISTANCE_PIXELS;
    loop {
        let cell = |pixel: i32| (f64::from(pixel) / distance).round() as i32;
        let room = (f64::from(2 * half - MARKS_ROOM_PIXELS) / distance) as i32;
        let mut dots: BTreeMap<(i32, i32), PlacedDot> = BTreeMap::new();
        for (setting, at) in positions {
            let (x, y) = pixel(at);
            let (mut column, row, mut offset) = (cell(x), cell(y), (0, 0));
            if at.0 <= 0.0 {
                // The first free column of the row, or the column of equal figures.
                let taken = |n: &i32| dots.get(&(*n, row)).is_some_and(|dot| dot.at != *at);
                column = (0..room - 1).find(|n| !taken(n)).unwrap_or(room - 1);
                let right = (f64::from(column) + 0.5) * distance;
                let down = f64::from(row) * distance - f64::from(y);
                offset = (MARKS_ROOM_PIXELS - half + right as i32, down.round() as i32);
            }
            let first = Dot {
                setting: *setting,
                settings: 0,
            };
            let placed = dots.entry((column, row)).or_insert(PlacedDot {
                at: *at,
                offset,
                dot: first,
            });
            placed.dot.settings += 1;
        }
        if dots.len() <= MAX_DOTS {
            return dots.into_values().collect();
        }
        distance *= 1.3;
    }
}

/// Returns the upper envelope of the positions: the highest height up to each rate of wrong alarms.
///
/// It begins at the highest height without a wrong alarm, or at the height of `never`.
fn envelope(positions: &[(usize, (f64, f64))]) -> Vec<(f64, f64)> {
    let mut all: Vec<(f64, f64)> = positions.iter().map(|(_, at)| *at).collect();
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

/// Returns the hover title of a position on the plane.
fn hover_title(data: &ReportData, (rate, height): (f64, f64)) -> String {
    format!(
        "{} {}, {} {}",
        data.run.height_measure().title_in(data.run.unit),
        percent(Some(height)),
        decimal(Some(rate)),
        data.run.wrong_name()
    )
}

/// Returns the position of a score: the rate of wrong alarms and the height. `None` if one of them is n/a.
fn plane_position(data: &ReportData, score: &Score) -> Option<(f64, f64)> {
    Some((
        score.value(data.run.wrong())?,
        score.value(data.run.height_measure())?,
    ))
}

/// Returns all models, the one with the most loops first.
fn models_by_loops(data: &ReportData) -> Vec<&str> {
    let loops = data.labelled_loops().into_iter();
    let mut models: Vec<(&str, u64)> = loops.filter(|(model, _)| *model != ALL_MODELS).collect();
    models.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
    models.into_iter().map(|(model, _)| model).collect()
}

/// Returns the settings of a model that are marked by a letter.
///
/// The chosen one or the best of a search comes first, then the one in use, other named ones, those of the limits, and
/// no guard.
fn marked_settings(data: &ReportData, model: &str) -> Vec<MarkedSetting> {
    let mark = |setting: usize, name: String, ink| {
        let at = plane_position(data, data.score(setting, model)?)?;
        Some(MarkedSetting {
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
        mark(at?, name, Ink::Chosen)
    });
    let named = data.leading().iter().filter(|at| chosen != Some(**at));
    let named = named.filter_map(|at| mark(*at, data.describe(*at), series_ink(data, *at)));
    let mut marked: Vec<MarkedSetting> = stars.chain(named).collect();
    let limits = data.advice.iter().flat_map(Advice::limit_rows);
    for rung in limits {
        let setting = data.settings.iter().position(|one| one.id == rung.setting);
        let new = setting.filter(|at| marked.iter().all(|one| one.setting != *at));
        let ink = Ink::series(3 + marked.len() % 5);
        marked.extend(new.and_then(|at| mark(at, data.describe(at), ink)));
    }
    let never = data.settings.iter().position(|one| one.role == Role::Never);
    marked.extend(never.and_then(|at| mark(at, "never: no guard at all".into(), Ink::Muted)));
    marked.truncate(MAX_MARKED);
    marked
}
