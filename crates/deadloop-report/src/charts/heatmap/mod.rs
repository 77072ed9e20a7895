//! Heatmaps: the objective over pairs of the parameters that matter most.

use super::{ChartEntry, DrawnChart, WIDTH};
use crate::data::{Objective, ReportData};
use crate::draw::{Anchor, Canvas, DrawError, Ink, Label, Pen, SEQUENCE, measure};
use crate::grid::{Grid, Worth};
use crate::numbers::{decimal, percent};
use crate::points::{Rows, setting};
use deadloop_score::TableCell;
use deadloop_score::measure::RECALL;
use std::borrow::Cow;

mod legend;

use legend::{chosen_pen, current_pen, key_height, legend};

pub(super) static ENTRY: ChartEntry = ChartEntry {
    name: "heatmap",
    title: "The objective over pairs of parameters",
    reading: "Each field is the best setting with those two values, whatever the other parameters; hatched: no such \
              setting is within the limits, as likely as not.",
    columns: &[
        ("parameter_1", "up the side"),
        ("value_1", "of that parameter"),
        ("parameter_2", "along the bottom"),
        ("value_2", "of that parameter"),
        (
            "setting",
            "the best one with both values that is within the limits; none: none is",
        ),
        ("name", "what it is called"),
        ("objective", "its objective"),
        ("recall", "its recall"),
        ("fa_per_mchar", "its wrong alarms per million clean chars"),
    ],
    draw,
};

/// How many pairs are drawn, and of how many parameters.
const PAIRS: usize = 2;
const PARAMETERS: usize = 3;
const GAP: f64 = 26.0;

/// A pair of dimensions, with the worth of each field; rows from the top.
struct Map<'d> {
    x: usize,
    y: usize,
    fields: Vec<Vec<Worth<'d>>>,
}

/// The lowest and highest objective drawn.
struct Range {
    low: f64,
    high: f64,
    objective: Objective,
    /// What the objective is called in the unit of the run.
    title: Cow<'static, str>,
}

fn draw(data: &ReportData) -> Result<Option<DrawnChart>, DrawError> {
    let grid = Grid::of(data).filter(|grid| grid.dimensions.len() > 1);
    let Some(grid) = &grid else {
        return Ok(None);
    };
    let maps = maps(grid);
    let Some(range) = range(data, &maps) else {
        return Ok(None);
    };
    let columns = maps.len().min(2);
    let width = (WIDTH - GAP * (columns as f64 - 1.0)) / columns as f64;
    let rows: Vec<&[Map<'_>]> = maps.chunks(columns).collect();
    let heights: Vec<f64> = rows
        .iter()
        .map(|row| row.iter().map(|map| map_height(map)).fold(0.0, f64::max))
        .collect();
    let key = key_height();
    let canvas = ENTRY.canvas(key + heights.iter().sum::<f64>());
    legend(&canvas, grid, &range)?;
    let mut top = key;
    for (row, height) in rows.iter().zip(&heights) {
        for (n, map) in row.iter().enumerate() {
            Field {
                canvas: &canvas,
                grid,
                map,
                range: &range,
                data,
            }
            .draw(n as f64 * (width + GAP), top, width)?;
        }
        top += height;
    }
    let numbers = maps.iter().flat_map(|map| numbers(data, grid, map));
    Ok(Some(DrawnChart {
        picture: canvas.finish()?,
        rows: numbers.collect(),
    }))
}

fn numbers(data: &ReportData, grid: &Grid<'_>, map: &Map<'_>) -> Rows {
    let (x, y) = (&grid.dimensions[map.x], &grid.dimensions[map.y]);
    let row = |(up, along): (usize, usize)| {
        let best = map.fields[up][along].best;
        let value = y.values[y.values.len() - 1 - up];
        let names = [y.name, value, x.name, x.values[along]].map(TableCell::text);
        let which = best.map_or([TableCell::Text(None), TableCell::Text(None)], |best| {
            setting(data, best.0.setting)
        });
        let figures = [
            best.map(|best| best.1),
            best.and_then(|best| best.0.value(&RECALL)),
            best.and_then(|best| best.0.value(data.run.wrong())),
        ];
        let named = names.into_iter().chain(which);
        named.chain(figures.map(TableCell::Float)).collect()
    };
    (0..map.fields.len())
        .flat_map(|up| (0..x.values.len()).map(move |along| (up, along)))
        .map(row)
        .collect()
}

/// The pairs of the parameters with the largest effect; the one with the longer values goes up the side.
fn maps<'d>(grid: &Grid<'d>) -> Vec<Map<'d>> {
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

fn range(data: &ReportData, maps: &[Map<'_>]) -> Option<Range> {
    let values = || {
        maps.iter()
            .flat_map(|map| map.fields.iter().flatten())
            .filter_map(|worth| Some(worth.best?.1))
    };
    let low = values().reduce(f64::min)?;
    let high = values().reduce(f64::max)?;
    Some(Range {
        low,
        high,
        objective: data.run.objective,
        title: data.run.objective.0.title_in(data.run.unit),
    })
}

impl Range {
    fn ink(&self, value: f64) -> (Ink, Ink) {
        let spread = (self.high - self.low).max(f64::MIN_POSITIVE);
        let above = if self.objective.0.more_is_better {
            value - self.low
        } else {
            self.high - value
        };
        let step = (above / spread * SEQUENCE.len() as f64) as usize;
        let step = step.min(SEQUENCE.len() - 1);
        (
            SEQUENCE[step],
            if step >= 4 { Ink::OnHigh } else { Ink::Text },
        )
    }
}

fn row_height(map: &Map<'_>) -> f64 {
    if map.fields.len() > 12 { 18.0 } else { 27.0 }
}

fn map_height(map: &Map<'_>) -> f64 {
    map.fields.len() as f64 * row_height(map) + 30.0 + 56.0
}

/// One map while it is drawn.
struct Field<'a, 'd> {
    canvas: &'a Canvas,
    grid: &'a Grid<'d>,
    map: &'a Map<'d>,
    range: &'a Range,
    data: &'a ReportData,
}

impl Field<'_, '_> {
    fn draw(&self, left: f64, top: f64, width: f64) -> Result<(), DrawError> {
        let (x, y) = (
            &self.grid.dimensions[self.map.x],
            &self.grid.dimensions[self.map.y],
        );
        let widest = y
            .values
            .iter()
            .map(|value| measure(value, 12.0))
            .fold(30.0, f64::max);
        let side = (widest + 10.0).min(width * 0.36);
        let name = Label::new(Ink::Text, Anchor::Start).bold().size(13.0);
        let [up, along] = [self.map.y, self.map.x].map(|at| self.grid.title(at));
        let both = format!("{up} × {along}");
        // The name of what goes along stands under the columns too.
        let title = if name.measure(&both) > width {
            up
        } else {
            &both
        };
        self.canvas
            .text_within((left, top + 14.0), title, width, name)?;
        let (field, row) = ((width - side) / x.values.len() as f64, row_height(self.map));
        let origin = (left + side, top + 30.0);
        for (n, worths) in self.map.fields.iter().enumerate() {
            let from = origin.1 + n as f64 * row;
            let label = Label::new(Ink::Muted, Anchor::End).size(12.0);
            let value = y.values[y.values.len() - 1 - n];
            self.canvas.text_within(
                (origin.0 - 7.0, from + row / 2.0),
                value,
                side - 8.0,
                label,
            )?;
            for (m, worth) in worths.iter().enumerate() {
                let from = (origin.0 + m as f64 * field, from);
                self.field(worth, from, (from.0 + field, from.1 + row))?;
            }
        }
        self.columns(origin, field, row)?;
        self.outline(
            self.data.in_use(),
            origin,
            (field, row),
            (current_pen(), 3.5),
        )?;
        self.outline(
            self.data.chosen(),
            origin,
            (field, row),
            (chosen_pen(), 0.0),
        )
    }

    /// Values under the columns, as many as fit, and the parameter's name.
    fn columns(&self, origin: (f64, f64), field: f64, row: f64) -> Result<(), DrawError> {
        let x = &self.grid.dimensions[self.map.x];
        let bottom = origin.1 + self.map.fields.len() as f64 * row;
        let widest = x
            .values
            .iter()
            .map(|value| measure(value, 12.0))
            .fold(0.0, f64::max);
        let every = ((widest.min(60.0) + 6.0) / field).ceil().max(1.0) as usize;
        for (n, value) in x.values.iter().enumerate().step_by(every) {
            let at = (origin.0 + (n as f64 + 0.5) * field, bottom + 13.0);
            let label = Label::new(Ink::Muted, Anchor::Middle).size(12.0);
            self.canvas
                .text_within(at, value, field * every as f64 - 4.0, label)?;
        }
        let middle = origin.0 + field * x.values.len() as f64 / 2.0;
        let label = Label::new(Ink::Text, Anchor::Middle).size(12.0);
        self.canvas
            .text((middle, bottom + 31.0), self.grid.title(self.map.x), label)
    }

    fn field(&self, worth: &Worth<'_>, from: (f64, f64), to: (f64, f64)) -> Result<(), DrawError> {
        let (from, to) = ((from.0 + 0.75, from.1 + 0.75), (to.0 - 0.75, to.1 - 0.75));
        let Some((score, value)) = worth.best else {
            self.canvas
                .title("no setting with these values is within the limits")
                .rect(from, to, Ink::Void)?;
            return self.canvas.hatch(from, to);
        };
        let (ink, on) = self.range.ink(value);
        let text = self.range.objective.write(value);
        let title = format!(
            "{} {text} · recall {} · wrong alarms {} {} · {}",
            self.range.title,
            percent(score.value(&RECALL)),
            decimal(score.value(self.data.run.wrong())),
            self.data
                .run
                .wrong_name(false)
                .trim_start_matches("wrong alarms "),
            self.data.describe(score.setting)
        );
        self.canvas.title(title).rect(from, to, ink)?;
        let text = text.trim_end_matches(" %");
        if measure(text, 12.0) + 6.0 > to.0 - from.0 || to.1 - from.1 < 16.0 {
            return Ok(());
        }
        let middle = ((from.0 + to.0) / 2.0, (from.1 + to.1) / 2.0);
        self.canvas
            .text(middle, text, Label::new(on, Anchor::Middle).size(12.0))
    }

    /// Frames the field of a setting, `inset` pixels inside: the current field can be the chosen one too.
    fn outline(
        &self,
        setting: Option<usize>,
        origin: (f64, f64),
        size: (f64, f64),
        (pen, inset): (Pen, f64),
    ) -> Result<(), DrawError> {
        let column = self.grid.value_of(setting, self.map.x);
        let row = self.grid.value_of(setting, self.map.y);
        let Some((column, row)) = column.zip(row) else {
            return Ok(());
        };
        let row = self.map.fields.len() - 1 - row;
        let from = (
            origin.0 + column as f64 * size.0 + inset,
            origin.1 + row as f64 * size.1 + inset,
        );
        let to = (from.0 + size.0 - 2.0 * inset, from.1 + size.1 - 2.0 * inset);
        self.canvas
            .frame(from, to, Pen::solid(Ink::Paper, pen.width + 2.0))?;
        self.canvas.frame(from, to, pen)
    }
}
