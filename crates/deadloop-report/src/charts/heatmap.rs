//! Heatmaps of the objective over pairs of the most effective parameters.

use super::{ChartArea, ChartEntry, style_mesh};
use crate::data::{Objective, ReportData, Score, brief};
use crate::draw::{DrawError, HEATMAP_INKS, Ink, Picture, centered_text, elide, text_width};
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

/// The maximum number of heatmaps in the chart.
const MAX_MAPS: usize = 2;
/// The maximum number of parameters that are paired on heatmaps.
const MAX_PARAMETERS: usize = 3;
/// The width and height of one heatmap, in pixels.
const MAP_PIXELS: (u32, u32) = (380, 400);
/// The height of the legend above the heatmaps, in pixels.
const LEGEND_PIXELS: i32 = 30;

/// A heatmap of two parameters, given by their dimensions in the grid.
struct ParameterPairMap<'d> {
    x: usize,
    y: usize,
    /// The summary of each field, by row from the top and by column.
    fields: Vec<Vec<ObjectiveSummary<'d>>>,
}

/// The lowest and the highest value of the objective on the heatmaps.
struct ObjectiveRange {
    low: f64,
    high: f64,
    objective: Objective,
    /// The title of the objective, in the unit of the run.
    title: Cow<'static, str>,
}

fn draw(data: &ReportData) -> Result<Option<Picture>, DrawError> {
    let grid = ScoreGrid::new(data).filter(|grid| grid.dimensions.len() > 1);
    let Some(grid) = &grid else {
        return Ok(None);
    };
    let maps = build_maps(grid);
    let Some(range) = objective_range(data, &maps) else {
        return Ok(None);
    };
    let mut titles = Vec::new();
    let size = (MAP_PIXELS.0 * maps.len() as u32, MAP_PIXELS.1);
    let draw = |area: &ChartArea<'_>| {
        let (head, maps_area) = area.split_vertically(LEGEND_PIXELS);
        for (part, map) in maps_area.split_evenly((1, maps.len())).iter().zip(&maps) {
            MapPainter {
                area: part,
                grid,
                map,
                range: &range,
                data,
            }
            .draw(&mut titles)?;
        }
        draw_legend(&head, grid, &range)
    };
    let picture = Picture::new((ENTRY.name, ENTRY.title), size, draw)?;
    Ok(Some(picture.with_titles("rect", &titles)))
}

/// Builds the heatmaps of the parameters with the largest effect. The parameter with longer values is the vertical one.
fn build_maps<'d>(grid: &ScoreGrid<'d>) -> Vec<ParameterPairMap<'d>> {
    let mut order = grid.by_effect();
    order.truncate(MAX_PARAMETERS);
    let longest_value = |at: usize| {
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
        let (x, y) = if longest_value(a) > longest_value(b) {
            (b, a)
        } else {
            (a, b)
        };
        let (columns, rows) = (
            grid.dimensions[x].values.len(),
            grid.dimensions[y].values.len(),
        );
        let field = |row: usize, column: usize| grid.summarize(&[(x, column), (y, rows - 1 - row)]);
        let fields = (0..rows)
            .map(|row| (0..columns).map(|column| field(row, column)).collect())
            .collect();
        ParameterPairMap { x, y, fields }
    };
    pairs.take(MAX_MAPS).map(map).collect()
}

/// Returns the range of the objective on the heatmaps. `None` if no field has a value.
fn objective_range(data: &ReportData, maps: &[ParameterPairMap<'_>]) -> Option<ObjectiveRange> {
    let values = || {
        maps.iter()
            .flat_map(|map| map.fields.iter().flatten())
            .filter_map(|summary| Some(summary.best?.1))
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
    /// Returns the ink of a field with this value, and the ink of the text on it.
    fn inks_of(&self, value: f64) -> (Ink, Ink) {
        let spread = (self.high - self.low).max(f64::MIN_POSITIVE);
        let above = if self.objective.0.more_is_better {
            value - self.low
        } else {
            self.high - value
        };
        let step = (above / spread * HEATMAP_INKS as f64) as usize;
        (
            Ink::heatmap_step(step),
            if step >= 4 { Ink::OnHigh } else { Ink::Text },
        )
    }
}

/// Draws the colour scale of the objective, and the key of the framed settings.
fn draw_legend(
    area: &ChartArea<'_>,
    grid: &ScoreGrid<'_>,
    range: &ObjectiveRange,
) -> Result<(), DrawError> {
    let objective = range.objective;
    let (mut worst, mut best) = (range.low, range.high);
    if !objective.0.more_is_better {
        (worst, best) = (best, worst);
    }
    let style = centered_text(13, Ink::Text).pos(Pos::new(HPos::Left, VPos::Center));
    let text = |text: &str, x: i32| area.draw(&Text::new(text.to_owned(), (x, 16), style.clone()));
    let ramp = format!("{} {}", range.title, objective.format_value(worst));
    text(&ramp, 8)?;
    let mut x = 16 + text_width(&ramp, 13.0) as i32;
    for ink in (0..HEATMAP_INKS).map(Ink::heatmap_step) {
        area.draw(&Rectangle::new(
            [(x, 8), (x + 18, 24)],
            ink.color().filled(),
        ))?;
        x += 18;
    }
    let high = objective.format_value(best);
    text(&high, x + 6)?;
    x += 30 + text_width(&high, 13.0) as i32;
    let marks = [
        ("in use", Ink::Text, grid.has(grid.data.in_use())),
        ("settings.toml", Ink::Chosen, grid.has(grid.data.chosen())),
    ];
    for (name, ink, _) in marks.into_iter().filter(|mark| mark.2) {
        let frame = [(x, 8), (x + 20, 8), (x + 20, 24), (x, 24), (x, 8)];
        area.draw(&PathElement::new(frame, ink.color().stroke_width(3)))?;
        text(name, x + 27)?;
        x += 44 + text_width(name, 13.0) as i32;
    }
    Ok(())
}

/// The painter of one heatmap.
struct MapPainter<'a, 's, 'd> {
    area: &'a ChartArea<'s>,
    grid: &'a ScoreGrid<'d>,
    map: &'a ParameterPairMap<'d>,
    range: &'a ObjectiveRange,
    data: &'a ReportData,
}

impl MapPainter<'_, '_, '_> {
    /// Draws the heatmap, and adds the hover title of each of its fields to `titles`.
    fn draw(&self, titles: &mut Vec<String>) -> Result<(), DrawError> {
        let ParameterPairMap { x, y, fields } = self.map;
        let [across, up] = [x, y].map(|at| &self.grid.dimensions[*at].values);
        let (columns, rows) = (across.len() as i32, up.len() as i32);
        let label = |values: &[&str], at: i32, room: f64| {
            let value = usize::try_from(at).ok().and_then(|at| values.get(at));
            value.map_or_else(String::new, |value| elide(&brief(value), room, 12.0))
        };
        let widths = up.iter().map(|v| text_width(&brief(v), 12.0) as i32);
        let label_width = widths.max().unwrap_or(0).min(106) + 32;
        let mut chart = ChartBuilder::on(self.area)
            .margin(8)
            .x_label_area_size(44)
            .y_label_area_size(label_width)
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
        for (row, summaries) in (0..rows).rev().zip(fields) {
            for (column, summary) in (0..columns).zip(summaries) {
                let corners = [(column, row), (column + 1, row + 1)];
                let Some((score, value)) = summary.best else {
                    chart.draw_series([Rectangle::new(corners, Ink::Void.color().filled())])?;
                    chart.draw_series([PathElement::new(corners, Ink::Hatch.color())])?;
                    titles.push("no setting with these values is within the limits".into());
                    continue;
                };
                let (ink, text_ink) = self.range.inks_of(value);
                let text = self.range.objective.format_value(value);
                titles.push(self.field_title(&text, score));
                chart.draw_series([Rectangle::new(corners, ink.color().filled())])?;
                let text = text.trim_end_matches(" %").to_owned();
                if text.len() as i32 * 8 < 2 * half.0 && half.1 > 7 {
                    chart.draw_series([EmptyElement::at((column, row))
                        + Text::new(text, (half.0, -half.1), centered_text(12, text_ink))])?;
                }
            }
        }
        for (setting, ink) in [
            (self.data.in_use(), Ink::Text),
            (self.data.chosen(), Ink::Chosen),
        ] {
            chart.draw_series(self.field_frame(setting, ink))?;
        }
        Ok(())
    }

    /// Returns the hover title of a field, with the figures of its best setting. `text` is the formatted value of the
    /// field.
    fn field_title(&self, text: &str, score: &Score) -> String {
        format!(
            "{} {text} · recall {} · {} {} · {}",
            self.range.title,
            percent(score.value(&RECALL)),
            self.data.run.wrong().title_in(self.data.run.unit),
            decimal(score.value(self.data.run.wrong())),
            self.data.describe(score.setting)
        )
    }

    /// Returns a frame around the field of a setting. `None` if the setting is not on the heatmap.
    fn field_frame(&self, setting: Option<usize>, ink: Ink) -> Option<PathElement<(i32, i32)>> {
        let ParameterPairMap { x, y, .. } = self.map;
        let [x, y] = [x, y].map(|at| self.grid.value_of(setting, *at));
        let (x, y) = (x? as i32, y? as i32);
        let around = vec![(x, y), (x + 1, y), (x + 1, y + 1), (x, y + 1), (x, y)];
        Some(PathElement::new(around, ink.color().stroke_width(3)))
    }
}
