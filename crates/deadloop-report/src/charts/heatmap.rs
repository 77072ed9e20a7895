//! Heatmaps: the objective over pairs of the most effective parameters.

use super::{ChartArea, ChartEntry, style_mesh};
use crate::data::{Objective, ReportData, Score, brief};
use crate::draw::{DrawError, Ink, Picture, STEPS, elide, measure, words};
use crate::grid::{ObjectiveSummary, ScoreGrid};
use crate::numbers::{decimal, percent};
use deadloop_score::measure::RECALL;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use std::borrow::Cow;

pub(super) static ENTRY: ChartEntry = ChartEntry {
    name: "heatmap",
    title: "The objective over pairs of parameters",
    reading: "Each field is the best setting with those two values, whatever the other parameters; crossed out: no such \
              setting is within the limits, as likely as not.",
    draw,
};

/// The maximum number of pairs drawn.
const PAIRS: usize = 2;
const PARAMETERS: usize = 3;
/// The size of a map.
const SIZE: (u32, u32) = (380, 400);
/// The height of the key above the maps.
const HEAD: i32 = 30;

/// A heatmap: a pair of dimensions and the worth of each field, with rows from the top.
struct Map<'d> {
    x: usize,
    y: usize,
    fields: Vec<Vec<ObjectiveSummary<'d>>>,
}

/// The lowest and highest objective drawn.
struct ObjectiveRange {
    low: f64,
    high: f64,
    objective: Objective,
    /// The title of the objective in the unit of the run.
    title: Cow<'static, str>,
}

fn draw(data: &ReportData) -> Result<Option<Picture>, DrawError> {
    let grid = ScoreGrid::new(data).filter(|grid| grid.dimensions.len() > 1);
    let Some(grid) = &grid else {
        return Ok(None);
    };
    let maps = maps(grid);
    let Some(range) = range(data, &maps) else {
        return Ok(None);
    };
    let mut titles = Vec::new();
    let size = (SIZE.0 * maps.len() as u32, SIZE.1);
    let draw = |area: &ChartArea<'_>| {
        let (head, maps_area) = area.split_vertically(HEAD);
        for (part, map) in maps_area.split_evenly((1, maps.len())).iter().zip(&maps) {
            HeatmapPainter {
                area: part,
                grid,
                map,
                range: &range,
                data,
            }
            .draw(&mut titles)?;
        }
        legend(&head, grid, &range)
    };
    let picture = Picture::new((ENTRY.name, ENTRY.title), size, draw)?;
    Ok(Some(picture.with_titles("rect", &titles)))
}

/// Returns the pairs of the parameters with the largest effect. The parameter with longer values is the vertical one.
fn maps<'d>(grid: &ScoreGrid<'d>) -> Vec<Map<'d>> {
    let mut order = grid.by_effect();
    order.truncate(PARAMETERS);
    let longest = |at: usize| {
        grid.dimensions[at]
            .values
            .iter()
            .map(|value| value.len())
            .max()
            .unwrap_or(0)
    };
    let pairs = order
        .iter()
        .enumerate()
        .flat_map(|(n, &a)| order[n + 1..].iter().map(move |&b| (a, b)));
    let map = |(a, b): (usize, usize)| {
        let (x, y) = if longest(a) > longest(b) {
            (b, a)
        } else {
            (a, b)
        };
        let (columns, rows) = (
            grid.dimensions[x].values.len(),
            grid.dimensions[y].values.len(),
        );
        let field = |row: usize, column: usize| grid.worth(&[(x, column), (y, rows - 1 - row)]);
        let fields = (0..rows)
            .map(|row| (0..columns).map(|column| field(row, column)).collect())
            .collect();
        Map { x, y, fields }
    };
    pairs.take(PAIRS).map(map).collect()
}

fn range(data: &ReportData, maps: &[Map<'_>]) -> Option<ObjectiveRange> {
    let values = || {
        maps.iter()
            .flat_map(|map| map.fields.iter().flatten())
            .filter_map(|worth| Some(worth.best?.1))
    };
    let low = values().reduce(f64::min)?;
    let high = values().reduce(f64::max)?;
    Some(ObjectiveRange {
        low,
        high,
        objective: data.run.objective,
        title: data.run.objective.0.title_in(data.run.unit),
    })
}

impl ObjectiveRange {
    fn ink(&self, value: f64) -> (Ink, Ink) {
        let spread = (self.high - self.low).max(f64::MIN_POSITIVE);
        let above = if self.objective.0.more_is_better {
            value - self.low
        } else {
            self.high - value
        };
        let step = (above / spread * STEPS as f64) as usize;
        (
            Ink::step(step),
            if step >= 4 { Ink::OnHigh } else { Ink::Text },
        )
    }
}

/// Draws the ramp of the objective, and the key of marked settings on the maps.
fn legend(
    area: &ChartArea<'_>,
    grid: &ScoreGrid<'_>,
    range: &ObjectiveRange,
) -> Result<(), DrawError> {
    let objective = range.objective;
    let (mut worst, mut best) = (range.low, range.high);
    if !objective.0.more_is_better {
        (worst, best) = (best, worst);
    }
    let style = words(13, Ink::Text).pos(Pos::new(HPos::Left, VPos::Center));
    let text = |text: &str, x: i32| area.draw(&Text::new(text.to_owned(), (x, 16), style.clone()));
    let ramp = format!("{} {}", range.title, objective.write(worst));
    text(&ramp, 8)?;
    let mut x = 16 + measure(&ramp, 13.0) as i32;
    for ink in (0..STEPS).map(Ink::step) {
        area.draw(&Rectangle::new(
            [(x, 8), (x + 18, 24)],
            ink.color().filled(),
        ))?;
        x += 18;
    }
    let high = objective.write(best);
    text(&high, x + 6)?;
    x += 30 + measure(&high, 13.0) as i32;
    let marks = [
        ("in use", Ink::Text, grid.holds(grid.data.in_use())),
        ("settings.toml", Ink::Chosen, grid.holds(grid.data.chosen())),
    ];
    for (name, ink, _) in marks.into_iter().filter(|mark| mark.2) {
        let frame = [(x, 8), (x + 20, 8), (x + 20, 24), (x, 24), (x, 8)];
        area.draw(&PathElement::new(frame, ink.color().stroke_width(3)))?;
        text(name, x + 27)?;
        x += 44 + measure(name, 13.0) as i32;
    }
    Ok(())
}

/// A map being drawn.
struct HeatmapPainter<'a, 's, 'd> {
    area: &'a ChartArea<'s>,
    grid: &'a ScoreGrid<'d>,
    map: &'a Map<'d>,
    range: &'a ObjectiveRange,
    data: &'a ReportData,
}

impl HeatmapPainter<'_, '_, '_> {
    /// Draws the map, and adds a title for each of its fields.
    fn draw(&self, titles: &mut Vec<String>) -> Result<(), DrawError> {
        let Map { x, y, fields } = self.map;
        let [across, up] = [x, y].map(|at| &self.grid.dimensions[*at].values);
        let (columns, rows) = (across.len() as i32, up.len() as i32);
        let label = |values: &[&str], at: i32, room: f64| {
            let value = usize::try_from(at).ok().and_then(|at| values.get(at));
            value.map_or_else(String::new, |value| elide(&brief(value), room, 12.0))
        };
        let widths = up.iter().map(|value| measure(&brief(value), 12.0) as i32);
        let beside = widths.max().unwrap_or(0).min(106) + 32;
        let mut chart = ChartBuilder::on(self.area)
            .margin(8)
            .x_label_area_size(44)
            .y_label_area_size(beside)
            .build_cartesian_2d(0..columns, 0..rows)?;
        let (width, height) = chart.plotting_area().dim_in_pixel();
        let half = (width as i32 / columns / 2, height as i32 / rows / 2);
        style_mesh(&mut chart.configure_mesh())
            .disable_mesh()
            .x_labels(across.len())
            .y_labels(up.len())
            .x_label_offset(half.0)
            .y_label_offset(-half.1)
            .x_label_formatter(&|at| label(across, *at, 76.0))
            .y_label_formatter(&|at| label(up, *at, 106.0))
            .x_desc(elide(&self.grid.title(*x), f64::from(width), 13.0))
            .y_desc(elide(&self.grid.title(*y), f64::from(height), 13.0))
            .draw()?;
        for (row, worths) in (0..rows).rev().zip(fields) {
            for (column, worth) in (0..columns).zip(worths) {
                let corners = [(column, row), (column + 1, row + 1)];
                let Some((score, value)) = worth.best else {
                    chart.draw_series([Rectangle::new(corners, Ink::Void.color().filled())])?;
                    chart.draw_series([PathElement::new(corners, Ink::Hatch.color())])?;
                    titles.push("no setting with these values is within the limits".into());
                    continue;
                };
                let (ink, on) = self.range.ink(value);
                let text = self.range.objective.write(value);
                titles.push(self.title(&text, score));
                chart.draw_series([Rectangle::new(corners, ink.color().filled())])?;
                let text = text.trim_end_matches(" %").to_owned();
                if text.len() as i32 * 8 < 2 * half.0 && half.1 > 7 {
                    chart.draw_series([EmptyElement::at((column, row))
                        + Text::new(text, (half.0, -half.1), words(12, on))])?;
                }
            }
        }
        for (setting, ink) in [
            (self.data.in_use(), Ink::Text),
            (self.data.chosen(), Ink::Chosen),
        ] {
            chart.draw_series(self.frame(setting, ink))?;
        }
        Ok(())
    }

    /// Returns the hover title of a field: its value as `text`, and the figures of its best setting.
    fn title(&self, text: &str, score: &Score) -> String {
        format!(
            "{} {text} · recall {} · {} {} · {}",
            self.range.title,
            percent(score.value(&RECALL)),
            self.data.run.wrong().title_in(self.data.run.unit),
            decimal(score.value(self.data.run.wrong())),
            self.data.describe(score.setting)
        )
    }

    /// Returns the frame around the field of a setting, if the map has one.
    fn frame(&self, setting: Option<usize>, ink: Ink) -> Option<PathElement<(i32, i32)>> {
        let Map { x, y, .. } = self.map;
        let [x, y] = [x, y].map(|at| self.grid.value_of(setting, *at));
        let (x, y) = (x? as i32, y? as i32);
        let around = vec![(x, y), (x + 1, y), (x + 1, y + 1), (x, y + 1), (x, y)];
        Some(PathElement::new(around, ink.color().stroke_width(3)))
    }
}
