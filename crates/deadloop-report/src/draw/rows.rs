//! Rows of named things, each with points and intervals on a common axis: forest plots.

use super::DrawError;
use super::axis::Axis;
use super::canvas::{Anchor, Canvas, Label, Mark, Pen};
use super::panel::{Panel, Place};
use super::text::measure;
use super::theme::{Dash, Ink};
use crate::numbers::Estimate;

/// A point of a row, and how it looks.
#[derive(Debug, Clone)]
pub(crate) struct Dot {
    /// What is shown when it is pointed at.
    pub(crate) title: String,
    /// Where it lies, with its interval.
    pub(crate) at: Estimate,
    /// Its shape.
    pub(crate) mark: Mark,
    /// Its ink.
    pub(crate) ink: Ink,
}

/// The rows of one panel.
pub(crate) struct Rows<'c> {
    canvas: &'c Canvas,
    place: Place,
    panel: Panel<'c>,
    count: usize,
    /// Where the axis ends: an interval that goes on has an arrow there.
    high: f64,
}

impl<'c> Rows<'c> {
    /// `count` rows at `place`, over the axis `x`; every other row is on a band.
    pub(crate) fn new(
        canvas: &'c Canvas,
        place: Place,
        x: Axis,
        count: usize,
        name: &str,
    ) -> Result<Self, DrawError> {
        let high = x.high();
        let panel = Panel::new(canvas, place, x, Axis::slots(count));
        let rows = Self {
            canvas,
            place,
            panel,
            count,
            high,
        };
        for row in (0..count).step_by(2) {
            let (top, bottom) = rows.edges(row);
            canvas.rect((place.left, top), (place.right, bottom), Ink::Band)?;
        }
        rows.panel.x_axis(name)?;
        Ok(rows)
    }

    /// A line through all rows at the value that is not to be passed.
    pub(crate) fn limit(&self, at: f64) -> Result<(), DrawError> {
        let x = self.panel.at(at, 0.0).0;
        let ends = [(x, self.place.top), (x, self.place.bottom)];
        let pen = Pen::dashed(Ink::Limit, 1.6, Dash::Dashed);
        self.canvas.line(&ends, pen)?;
        let half = measure(&format!("limit: {at}"), 12.0) / 2.0;
        let x = x.clamp(self.place.left + half, self.place.right - half);
        let label = Label::new(Ink::Limit, Anchor::Middle).size(12.0);
        let text = format!("limit: {at}");
        self.canvas.text((x, self.place.top - 10.0), &text, label)
    }

    /// The upper and lower edge of a row.
    fn edges(&self, row: usize) -> (f64, f64) {
        let height = (self.place.bottom - self.place.top) / self.count as f64;
        (
            self.place.top + height * row as f64,
            self.place.top + height * (row + 1) as f64,
        )
    }

    /// The middle of a row.
    pub(crate) fn middle(&self, row: usize) -> f64 {
        let (top, bottom) = self.edges(row);
        (top + bottom) / 2.0
    }

    /// Draws the points of a row below each other; `n/a` where none is defined.
    pub(crate) fn dots(&self, row: usize, dots: &[Dot], lead: f64) -> Result<(), DrawError> {
        let (top, bottom) = self.edges(row);
        let top = top + lead;
        let step = (bottom - top) / (dots.len() as f64 + 1.0);
        if dots.iter().all(|dot| dot.at.value.is_none()) {
            let label = Label::new(Ink::Muted, Anchor::Start).size(12.0);
            return self
                .canvas
                .text((self.place.left + 8.0, (top + bottom) / 2.0), "n/a", label);
        }
        for (n, dot) in dots.iter().enumerate() {
            self.dot(dot, top + step * (n + 1) as f64)?;
        }
        Ok(())
    }

    /// Draws two points of a row on one line, and joins them.
    pub(crate) fn dumbbell(&self, row: usize, ends: &[Dot; 2], lead: f64) -> Result<(), DrawError> {
        let y = self.middle(row) + lead / 2.0;
        let values: Vec<f64> = ends.iter().filter_map(|dot| dot.at.value).collect();
        if let [base, new] = values[..] {
            let x = |value: f64| self.panel.at(value, 0.0).0;
            self.canvas
                .line(&[(x(base), y), (x(new), y)], Pen::solid(Ink::Axis, 2.4))?;
        }
        ends.iter().try_for_each(|dot| self.dot(dot, y))
    }

    fn dot(&self, dot: &Dot, y: f64) -> Result<(), DrawError> {
        let Some(value) = dot.at.value.filter(|value| value.is_finite()) else {
            return Ok(());
        };
        let x = |value: f64| self.panel.at(value, 0.0).0;
        if let (Some(low), Some(high)) = (dot.at.low, dot.at.high) {
            let pen = Pen {
                ink: dot.ink,
                width: 1.8,
                dash: Dash::Solid,
            };
            self.canvas
                .title(dot.title.as_str())
                .line(&[(x(low), y), (x(high), y)], pen)?;
            if high > self.high {
                let tip = x(high);
                let arrow = [(tip - 5.0, y - 4.0), (tip, y), (tip - 5.0, y + 4.0)];
                self.canvas.line(&arrow, pen)?;
            }
        }
        self.canvas
            .title(dot.title.as_str())
            .mark((x(value), y), dot.mark, 4.6, dot.ink)
    }
}
