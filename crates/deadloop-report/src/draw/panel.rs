//! A pair of axes on a sheet: plotters maps data to places, the panel draws grid, ticks and names.

use super::DrawError;
use super::axis::Axis;
use super::backend::Backend;
use super::canvas::{Anchor, Canvas, Label, Mark, Pen};
use super::picture::FINE;
use super::text::measure;
use super::theme::Ink;
use plotters::coord::cartesian::Cartesian2d;
use plotters::drawing::DrawingArea;
use plotters::element::PathElement;

/// Where a panel lies on its sheet, in pixels: the plotting area without tick labels.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    /// The left edge.
    pub(crate) left: f64,
    /// The upper edge.
    pub(crate) top: f64,
    /// The right edge.
    pub(crate) right: f64,
    /// The lower edge.
    pub(crate) bottom: f64,
}

/// Axes on a sheet.
pub(crate) struct Panel<'c> {
    canvas: &'c Canvas,
    place: Place,
    x: Axis,
    y: Axis,
    area: DrawingArea<Backend, Cartesian2d<Axis, Axis>>,
}

impl<'c> Panel<'c> {
    /// Axes at `place`: `x` to the right, `y` upwards.
    pub(crate) fn new(canvas: &'c Canvas, place: Place, x: Axis, y: Axis) -> Self {
        let fine = |from: f64, to: f64| (from * FINE).round() as i32..(to * FINE).round() as i32;
        let coordinates = Cartesian2d::new(
            x.clone(),
            y.clone(),
            (fine(place.left, place.right), fine(place.bottom, place.top)),
        );
        let area = canvas.root.apply_coord_spec(coordinates);
        Self {
            canvas,
            place,
            x,
            y,
            area,
        }
    }

    /// The pixel of a data point.
    pub(crate) fn at(&self, x: f64, y: f64) -> (f64, f64) {
        let (x, y) = self.area.map_coordinate(&(x, y));
        (f64::from(x) / FINE, f64::from(y) / FINE)
    }

    /// Grid lines and tick labels of both axes; names below and above the axes.
    pub(crate) fn axes(&self, x_name: &str, y_name: &str) -> Result<(), DrawError> {
        self.x_axis(x_name)?;
        self.y_axis(y_name)
    }

    /// Vertical grid lines and their labels under them; labels that would touch the last one are left out.
    pub(crate) fn x_axis(&self, name: &str) -> Result<(), DrawError> {
        let Place {
            left,
            top,
            right,
            bottom,
        } = self.place;
        let label = Label::new(Ink::Muted, Anchor::Middle).size(12.0);
        let mut free_from = f64::NEG_INFINITY;
        for (at, text) in self.x.ticks() {
            let x = self.at(*at, self.y.low()).0;
            self.canvas
                .line(&[(x, top), (x, bottom)], Pen::solid(Ink::Grid, 1.0))?;
            let half = measure(text, 12.0) / 2.0;
            if x - half >= free_from {
                self.canvas.text((x, bottom + 13.0), text, label)?;
                free_from = x + half + 5.0;
            }
        }
        self.canvas.line(
            &[(left, bottom), (right, bottom)],
            Pen::solid(Ink::Axis, 1.0),
        )?;
        if name.is_empty() {
            return Ok(());
        }
        let label = Label::new(Ink::Text, Anchor::Middle).size(13.0);
        self.canvas
            .text_within(((left + right) / 2.0, bottom + 33.0), name, right, label)
    }

    /// Horizontal grid lines and their labels left of them; the name is above the axis, so that it need not be
    /// read sideways. Labels that would touch the one below are left out.
    pub(crate) fn y_axis(&self, name: &str) -> Result<(), DrawError> {
        let Place {
            left, top, right, ..
        } = self.place;
        let mut free_below = f64::INFINITY;
        for (at, text) in self.y.ticks() {
            let y = self.at(self.x.low(), *at).1;
            self.canvas
                .line(&[(left, y), (right, y)], Pen::solid(Ink::Grid, 1.0))?;
            if y > free_below {
                continue;
            }
            free_below = y - 14.0;
            self.canvas.text(
                (left - 7.0, y),
                text,
                Label::new(Ink::Muted, Anchor::End).size(12.0),
            )?;
        }
        let start = (left - 42.0).max(2.0);
        self.canvas.text(
            (start, top - 16.0),
            name,
            Label::new(Ink::Text, Anchor::Start).size(13.0),
        )
    }

    /// A line through data points.
    pub(crate) fn line(&self, points: &[(f64, f64)], pen: Pen) -> Result<(), DrawError> {
        Ok(self
            .area
            .draw(&PathElement::new(points.to_vec(), pen.style()))?)
    }

    /// A line that keeps its height until the next point: what is true of all x up to there.
    pub(crate) fn steps(&self, points: &[(f64, f64)], pen: Pen) -> Result<(), DrawError> {
        let mut corners = Vec::with_capacity(points.len() * 2);
        for (n, &(x, y)) in points.iter().enumerate() {
            if n > 0 {
                corners.push((x, points[n - 1].1));
            }
            corners.push((x, y));
        }
        self.line(&corners, pen)
    }

    /// A point.
    pub(crate) fn mark(
        &self,
        at: (f64, f64),
        mark: Mark,
        radius: f64,
        ink: Ink,
    ) -> Result<(), DrawError> {
        self.canvas.mark(self.at(at.0, at.1), mark, radius, ink)
    }

    /// The next element shows `text` when pointed at.
    pub(crate) fn title(&self, text: impl Into<String>) -> &Self {
        self.canvas.title(text);
        self
    }
}
