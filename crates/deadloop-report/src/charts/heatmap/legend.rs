//! Above the maps: the ramp of the objective, the hatching and the two outlines.

use super::super::Sheet;
use super::Range;
use crate::draw::{Anchor, Canvas, Dash, DrawError, Ink, Label, Pen, SEQUENCE, measure};
use crate::grid::Grid;

pub(super) fn chosen_pen() -> Pen {
    Pen::solid(Ink::Chosen, 3.0)
}

pub(super) fn current_pen() -> Pen {
    Pen::dashed(Ink::Text, 2.0, Dash::Dashed)
}

pub(super) fn key_height(grid: &Grid<'_>, sheet: &Sheet<'_>) -> f64 {
    if !sheet.narrow() {
        return 46.0;
    }
    let places = placed(&swatches(grid), BELOW, sheet.width);
    places.last().map_or(BELOW.1, |(_, y)| *y) + 42.0
}

/// The ramp with its ends, the hatching and the two outlines.
pub(super) fn legend(
    canvas: &Canvas,
    grid: &Grid<'_>,
    range: &Range,
    narrow: bool,
) -> Result<(), DrawError> {
    let label = Label::new(Ink::Text, Anchor::Start).size(13.0);
    let objective = range.objective;
    let (worst, best) = if objective.0.more_is_better {
        (range.low, range.high)
    } else {
        (range.high, range.low)
    };
    let ramp = format!("{} {}", range.title, objective.write(worst));
    canvas.text((4.0, 16.0), &ramp, label)?;
    let mut x = 12.0 + measure(&ramp, 13.0);
    for ink in SEQUENCE {
        canvas.rect((x, 8.0), (x + 18.0, 24.0), ink)?;
        x += 18.0;
    }
    let high = objective.write(best);
    canvas.text((x + 7.0, 16.0), &high, label)?;
    x += 34.0 + measure(&high, 13.0);
    let from = if narrow { BELOW } else { (x, 8.0) };
    let swatches = swatches(grid);
    for ((name, pen), (x, top)) in swatches.iter().zip(placed(&swatches, from, canvas.width())) {
        let (from, to) = ((x, top), (x + 26.0, top + 16.0));
        match pen {
            Some(pen) => canvas.frame(from, to, *pen)?,
            None => canvas.hatch(from, to)?,
        }
        canvas.text((x + 33.0, top + 8.0), name, label)?;
    }
    Ok(())
}

/// The hatching and the two outlines, as far as the maps have them.
fn swatches(grid: &Grid<'_>) -> Vec<(&'static str, Option<Pen>)> {
    let data = grid.data;
    let all = [
        ("not within the limits", None),
        ("chosen", Some(chosen_pen())),
        ("in use", Some(current_pen())),
    ];
    let shown = [
        !data.run.constraints.is_empty(),
        grid.holds(data.chosen()),
        grid.holds(data.in_use()),
    ];
    let both = all.into_iter().zip(shown);
    both.filter_map(|(swatch, shown)| shown.then_some(swatch))
        .collect()
}

/// Where swatches stand, in rows that end at `width`; `from`: the first.
fn placed(swatches: &[(&str, Option<Pen>)], from: (f64, f64), width: f64) -> Vec<(f64, f64)> {
    let (mut x, mut y) = from;
    let place = |(name, _): &(&str, Option<Pen>)| {
        let end = x + 33.0 + measure(name, 13.0);
        if end > width && x > from.0 {
            (x, y) = (from.0, y + ROW);
        }
        let at = (x, y);
        x += 52.0 + measure(name, 13.0);
        at
    };
    swatches.iter().map(place).collect()
}

/// From one row of swatches to the next.
const ROW: f64 = 22.0;

/// Where swatches begin on phones: below the ramp.
const BELOW: (f64, f64) = (4.0, 36.0);
