//! Above the maps: the ramp of the objective, the hatching and the two outlines.

use super::Range;
use crate::draw::{Anchor, Canvas, Dash, DrawError, Ink, Label, Pen, SEQUENCE, measure};
use crate::grid::Grid;

pub(super) fn chosen_pen() -> Pen {
    Pen::solid(Ink::Chosen, 3.0)
}

pub(super) fn current_pen() -> Pen {
    Pen::dashed(Ink::Text, 2.0, Dash::Dashed)
}

pub(super) fn key_height() -> f64 {
    46.0
}

/// The ramp with its ends, the hatching and the two outlines.
pub(super) fn legend(canvas: &Canvas, grid: &Grid<'_>, range: &Range) -> Result<(), DrawError> {
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
    for (name, pen) in swatches(grid) {
        let (from, to) = ((x, 8.0), (x + 26.0, 24.0));
        match pen {
            Some(pen) => canvas.frame(from, to, pen)?,
            None => canvas.hatch(from, to)?,
        }
        canvas.text((x + 33.0, 16.0), name, label)?;
        x += 52.0 + measure(name, 13.0);
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
