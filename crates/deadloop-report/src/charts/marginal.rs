//! The marginal effect of each parameter: what the objective and the wrong alarms do along its values.

use super::{ChartEntry, Drawing, Sheet};
use crate::data::{ReportData, RunInfo};
use crate::draw::{
    Anchor, Axis, Canvas, Dash, DrawError, Ink, Key, Label, Legend, Mark, Panel, Pen, Place,
    measure,
};
use crate::grid::{Grid, Worth};
use crate::numbers::decimal;
use crate::points::{Rows, setting};
use deadloop_score::{MeasureUnit, TableCell};

pub(super) static ENTRY: ChartEntry = ChartEntry {
    name: "marginal",
    title: "What each parameter does",
    reading: "For each value of a parameter: the best setting with that value that is within the limits, as likely as not, and the median of \
              all settings with it; below, their wrong alarms per million clean chars and, dashed, the limit. A flat line means that the \
              parameter does not matter here.",
    columns: &[
        ("parameter", "whose values are gone through"),
        ("value", "of the parameter"),
        (
            "setting",
            "the best one with that value that is within the limits; none: none is",
        ),
        ("name", "what it is called"),
        ("best", "its objective"),
        (
            "best_fa_per_mchar",
            "its wrong alarms per million clean chars",
        ),
        (
            "median",
            "the median objective of all settings with that value",
        ),
        (
            "median_fa_per_mchar",
            "their median wrong alarms per million clean chars",
        ),
    ],
    draw,
};

/// How many parameters are drawn.
const PARAMETERS: usize = 9;
const UPPER: f64 = 130.0;
const LOWER: f64 = 74.0;
const BLOCK: f64 = 48.0 + UPPER + 34.0 + LOWER + 46.0;

/// One parameter's values and what they are worth.
struct Slice<'g, 'd> {
    name: &'d str,
    /// The name as it is shown.
    title: &'d str,
    values: &'g [&'d str],
    worths: Vec<Worth<'d>>,
}

fn draw<'d>(data: &'d ReportData, sheet: Sheet<'d>) -> Result<Drawing, DrawError> {
    let Some(grid) = sheet.grid(data) else {
        return Ok(Drawing::Absent);
    };
    let slices = slices(grid);
    if slices
        .iter()
        .all(|slice| slice.worths.iter().all(|worth| worth.median.is_none()))
    {
        return Ok(Drawing::Absent);
    }
    let columns = if sheet.narrow() {
        1
    } else {
        columns(slices.len())
    };
    let width = sheet.width / columns as f64;
    let legend = Legend::new(keys(), sheet.width - 8.0, 300.0);
    let top = legend.height() + 8.0;
    let canvas = sheet.canvas(top + slices.len().div_ceil(columns) as f64 * BLOCK);
    legend.draw(&canvas, 4.0, 4.0)?;
    let axes = (objective_axis(data, &slices), fa_axis(data, &slices));
    for (n, slice) in slices.iter().enumerate() {
        let corner = (
            (n % columns) as f64 * width,
            top + (n / columns) as f64 * BLOCK,
        );
        block(&canvas, slice, corner, width, &axes, &data.run)?;
    }
    let rows = slices.iter().flat_map(|slice| rows(data, slice));
    Ok(Drawing::Shown(canvas.finish()?, rows.collect()))
}

fn rows(data: &ReportData, slice: &Slice<'_, '_>) -> Rows {
    let row = |(value, worth): (&&str, &Worth<'_>)| {
        let names = [slice.name, value].map(TableCell::text);
        let which = worth
            .best
            .map_or([TableCell::Text(None), TableCell::Text(None)], |best| {
                setting(data, best.0.setting)
            });
        let figures = [
            worth.best.map(|best| best.1),
            worth.best.and_then(|best| best.0.value(data.run.wrong())),
            worth.median,
            worth.median_fa,
        ];
        let named = names.into_iter().chain(which);
        named.chain(figures.map(TableCell::Float)).collect()
    };
    slice.values.iter().zip(&slice.worths).map(row).collect()
}

/// Three in a row, unless that leaves a single one in the last.
fn columns(count: usize) -> usize {
    if count == 4 { 2 } else { count.clamp(1, 3) }
}

fn slices<'g, 'd>(grid: &'g Grid<'d>) -> Vec<Slice<'g, 'd>> {
    let order = grid.by_effect().into_iter().take(PARAMETERS);
    let slice = |at: usize| {
        let dimension = &grid.dimensions[at];
        let worths = (0..dimension.values.len())
            .map(|value| grid.worth(&[(at, value)]))
            .collect();
        Slice {
            name: dimension.name,
            title: grid.title(at),
            values: &dimension.values,
            worths,
        }
    };
    order.map(slice).collect()
}

/// The objective above, the wrong alarms below, over the same values.
fn block(
    canvas: &Canvas,
    slice: &Slice<'_, '_>,
    (left, top): (f64, f64),
    width: f64,
    (objective, fa): &(Axis, Axis),
    run: &RunInfo,
) -> Result<(), DrawError> {
    let title = Label::new(Ink::Text, Anchor::Start).bold();
    canvas.text_within((left + 4.0, top + 14.0), slice.title, width - 12.0, title)?;
    let (start, end) = (left + 52.0, left + width - 16.0);
    let upper = Place {
        left: start,
        top: top + 54.0,
        right: end,
        bottom: top + 54.0 + UPPER,
    };
    let lower = Place {
        left: start,
        top: upper.bottom + 32.0,
        right: end,
        bottom: upper.bottom + 32.0 + LOWER,
    };
    let slots = Axis::slots(slice.values.len());
    let panel = Panel::new(canvas, upper, slots.clone(), objective.clone());
    panel.axes("", &run.objective.0.title_in(run.unit))?;
    let write = |value| run.objective.write(value);
    curve(&panel, slice, |worth| worth.median, median_look(), &write)?;
    let best = |worth: &Worth<'_>| worth.best.map(|best| best.1);
    curve(&panel, slice, best, best_look(), &write)?;
    let panel = Panel::new(canvas, lower, slots, fa.clone());
    panel.axes("", "wrong alarms")?;
    if let Some(limit) = run.limit {
        let ends = [(-0.5, limit), (slice.values.len() as f64 - 0.5, limit)];
        panel.line(&ends, Pen::dashed(Ink::Limit, 1.4, Dash::Dashed))?;
    }
    let write = |value| decimal(Some(value));
    curve(
        &panel,
        slice,
        |worth| worth.median_fa,
        median_look(),
        &write,
    )?;
    let best = |worth: &Worth<'_>| worth.best.and_then(|best| best.0.value(run.wrong()));
    curve(&panel, slice, best, best_look(), &write)?;
    values(canvas, slice, lower)
}

/// The parameter's values under the lower panel, as many as fit.
fn values(canvas: &Canvas, slice: &Slice<'_, '_>, place: Place) -> Result<(), DrawError> {
    let field = (place.right - place.left) / slice.values.len() as f64;
    let widest = slice
        .values
        .iter()
        .map(|value| measure(value, 12.0))
        .fold(0.0, f64::max);
    let every = ((widest.min(64.0) + 6.0) / field).ceil().max(1.0) as usize;
    for (n, value) in slice.values.iter().enumerate().step_by(every) {
        let at = (place.left + (n as f64 + 0.5) * field, place.bottom + 13.0);
        let room = field * every as f64 - 5.0;
        canvas.text_within(
            at,
            value,
            room,
            Label::new(Ink::Muted, Anchor::Middle).size(12.0),
        )?;
    }
    Ok(())
}

fn curve(
    panel: &Panel<'_>,
    slice: &Slice<'_, '_>,
    of: impl Fn(&Worth<'_>) -> Option<f64>,
    (pen, mark): (Pen, Mark),
    write: &dyn Fn(f64) -> String,
) -> Result<(), DrawError> {
    let points: Vec<(f64, f64)> = slice
        .worths
        .iter()
        .enumerate()
        .filter_map(|(n, worth)| Some((n as f64, of(worth)?)))
        .collect();
    panel.line(&points, pen)?;
    for &(n, value) in &points {
        let title = format!(
            "{} = {}: {}",
            slice.title,
            slice.values[n as usize],
            write(value)
        );
        panel.title(title).mark((n, value), mark, 4.2, pen.ink)?;
    }
    Ok(())
}

fn best_look() -> (Pen, Mark) {
    (Pen::solid(Ink::Chosen, 2.2), Mark::Disc)
}

fn median_look() -> (Pen, Mark) {
    (Pen::dashed(Ink::Sixth, 1.8, Dash::Dashed), Mark::Square)
}

fn keys() -> Vec<Key> {
    let key = |name: &str, (pen, mark): (Pen, Mark)| Key {
        name: name.into(),
        pen: Some(pen),
        mark: Some((mark, pen.ink)),
    };
    vec![
        key("best within the limits", best_look()),
        key("median of all", median_look()),
    ]
}

fn objective_axis(data: &ReportData, slices: &[Slice<'_, '_>]) -> Axis {
    if data.run.objective.0.unit == MeasureUnit::Share {
        return Axis::share(5);
    }
    let worths = || slices.iter().flat_map(|slice| &slice.worths);
    let values: Vec<f64> = worths()
        .flat_map(|worth| [worth.median, worth.best.map(|best| best.1)])
        .flatten()
        .collect();
    Axis::nice(
        values.iter().copied().fold(0.0, f64::min),
        values.iter().copied().fold(0.0, f64::max),
        4,
    )
}

fn fa_axis(data: &ReportData, slices: &[Slice<'_, '_>]) -> Axis {
    let worths = slices.iter().flat_map(|slice| &slice.worths);
    let rates = worths
        .flat_map(|worth| {
            [
                worth.median_fa,
                worth.best.and_then(|best| best.0.value(data.run.wrong())),
            ]
        })
        .flatten();
    Axis::rates(rates.chain(data.run.limit))
}
