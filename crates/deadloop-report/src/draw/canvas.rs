//! One sheet of a chart: a drawing area of plotters, addressed in pixels.

use super::DrawError;
use super::backend::{Backend, SharedSheet};
use super::picture::{About, FINE, Picture};
use super::text::{elide, measure};
use super::theme::{Dash, Ink};
use plotters::coord::Shift;
use plotters::drawing::{DrawingArea, IntoDrawingArea};
use plotters::element::{Circle, PathElement, Polygon, Rectangle, Text};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{FontDesc, FontFamily, FontStyle, ShapeStyle, TextStyle};

/// A place on the sheet, in pixels from the upper left.
pub(crate) type At = (f64, f64);

/// A sheet that is being drawn.
pub(crate) struct Canvas {
    name: String,
    caption: String,
    width: f64,
    height: f64,
    sheet: SharedSheet,
    pub(super) root: DrawingArea<Backend, Shift>,
}

/// How a line is drawn.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pen {
    /// Its ink.
    pub(crate) ink: Ink,
    /// Its width in pixels.
    pub(crate) width: f64,
    /// How it is broken.
    pub(crate) dash: Dash,
}

impl Pen {
    /// A solid line.
    pub(crate) fn solid(ink: Ink, width: f64) -> Self {
        Self {
            ink,
            width,
            dash: Dash::Solid,
        }
    }

    /// A broken line.
    pub(crate) fn dashed(ink: Ink, width: f64, dash: Dash) -> Self {
        Self { ink, width, dash }
    }

    pub(super) fn style(self) -> ShapeStyle {
        let width = (self.width * FINE).round() as u32;
        ShapeStyle {
            color: self.ink.color(self.dash),
            filled: false,
            stroke_width: width,
        }
    }
}

/// Which point of a text is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Anchor {
    /// Its left end.
    Start,
    /// Its middle.
    Middle,
    /// Its right end.
    End,
}

/// How a text is written. It is centred on its line's height.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Label {
    /// Its ink.
    pub(crate) ink: Ink,
    /// Its font size in pixels.
    pub(crate) size: f64,
    /// The point that is given.
    pub(crate) anchor: Anchor,
    /// Whether it is bold.
    pub(crate) bold: bool,
}

impl Label {
    /// Ordinary text.
    pub(crate) fn new(ink: Ink, anchor: Anchor) -> Self {
        Self {
            ink,
            size: 13.0,
            anchor,
            bold: false,
        }
    }

    /// The same in another size.
    pub(crate) fn size(self, size: f64) -> Self {
        Self { size, ..self }
    }

    /// The same in bold.
    pub(crate) fn bold(self) -> Self {
        Self { bold: true, ..self }
    }

    /// About how many pixels `text` takes.
    pub(crate) fn measure(self, text: &str) -> f64 {
        measure(text, self.em())
    }

    /// The font size that text in ordinary letters would have, were it as wide: bold letters are wider by an eighth in
    /// the widest of common fonts.
    fn em(self) -> f64 {
        if self.bold {
            self.size * 1.125
        } else {
            self.size
        }
    }
}

/// The shape of a point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mark {
    /// A disc.
    Disc,
    /// A square.
    Square,
    /// A square on its corner.
    Diamond,
    /// A triangle, point up.
    Triangle,
    /// A triangle, point down.
    TriangleDown,
    /// A cross.
    Cross,
    /// A star with five points.
    Star,
    /// Five corners.
    Pentagon,
}

impl Mark {
    /// The corners of a mark of radius 1 around (0, 0). Empty for the round marks and the cross.
    fn corners(self) -> Vec<At> {
        match self {
            Self::Square => vec![(-0.85, -0.85), (0.85, -0.85), (0.85, 0.85), (-0.85, 0.85)],
            Self::Diamond => vec![(0.0, -1.2), (1.2, 0.0), (0.0, 1.2), (-1.2, 0.0)],
            Self::Triangle => vec![(0.0, -1.15), (1.1, 0.85), (-1.1, 0.85)],
            Self::TriangleDown => vec![(0.0, 1.15), (1.1, -0.85), (-1.1, -0.85)],
            Self::Star => (0..10).map(star_corner).collect(),
            Self::Pentagon => (0..5).map(pentagon_corner).collect(),
            Self::Disc | Self::Cross => Vec::new(),
        }
    }
}

fn star_corner(n: u32) -> At {
    let radius = if n.is_multiple_of(2) { 1.45 } else { 0.62 };
    let angle = f64::from(n) * std::f64::consts::PI / 5.0 - std::f64::consts::FRAC_PI_2;
    (radius * angle.cos(), radius * angle.sin())
}

fn pentagon_corner(n: u32) -> At {
    let angle = f64::from(n) * std::f64::consts::PI * 0.4 - std::f64::consts::FRAC_PI_2;
    (1.1 * angle.cos(), 1.1 * angle.sin())
}

impl Canvas {
    /// An empty sheet. `name` makes ids unique in a page that holds several charts; `caption` is read aloud.
    pub(crate) fn new(name: &str, caption: &str, width: f64, height: f64) -> Self {
        let sheet = SharedSheet::default();
        let size = ((width * FINE) as u32, (height * FINE) as u32);
        let root = Backend::new(sheet.clone(), size).into_drawing_area();
        Self {
            name: name.to_owned(),
            caption: caption.to_owned(),
            width,
            height,
            sheet,
            root,
        }
    }

    /// The width in pixels.
    pub(crate) fn width(&self) -> f64 {
        self.width
    }

    /// The next element shows `text` when pointed at.
    pub(crate) fn title(&self, text: impl Into<String>) -> &Self {
        self.sheet.borrow_mut().about.title = Some(text.into());
        self
    }

    /// Numbers the next element for the page's script.
    pub(crate) fn dot(&self, number: usize) -> &Self {
        self.sheet.borrow_mut().about.dot = Some(number);
        self
    }

    /// A small disc without an edge.
    pub(crate) fn speck(&self, at: At, radius: f64, ink: Ink) -> Result<(), DrawError> {
        let disc = Circle::new(fine(at), steps(radius), fill(ink));
        Ok(self.root.draw(&disc)?)
    }

    /// Writes `text` at a place.
    pub(crate) fn text(&self, at: At, text: &str, label: Label) -> Result<(), DrawError> {
        let style = if label.bold {
            FontStyle::Bold
        } else {
            FontStyle::Normal
        };
        let font = FontDesc::new(FontFamily::SansSerif, label.size * FINE, style);
        let across = match label.anchor {
            Anchor::Start => HPos::Left,
            Anchor::Middle => HPos::Center,
            Anchor::End => HPos::Right,
        };
        let color = label.ink.color(Dash::Solid);
        let style = TextStyle::from(font)
            .color(&color)
            .pos(Pos::new(across, VPos::Center));
        Ok(self.root.draw(&Text::new(text, fine(at), style))?)
    }

    /// Writes `text` cut in the middle to fit `room` pixels; the title then has the whole.
    pub(crate) fn text_within(
        &self,
        at: At,
        text: &str,
        room: f64,
        label: Label,
    ) -> Result<(), DrawError> {
        let short = elide(text, room, label.em());
        if short != text {
            self.title(text);
        }
        self.text(at, &short, label)
    }

    /// A line through `points`.
    pub(crate) fn line(&self, points: &[At], pen: Pen) -> Result<(), DrawError> {
        let points: Vec<_> = points.iter().copied().map(fine).collect();
        Ok(self.root.draw(&PathElement::new(points, pen.style()))?)
    }

    /// A filled rectangle between two corners.
    pub(crate) fn rect(&self, from: At, to: At, ink: Ink) -> Result<(), DrawError> {
        Ok(self
            .root
            .draw(&Rectangle::new([fine(from), fine(to)], fill(ink)))?)
    }

    /// A rectangle's outline.
    pub(crate) fn frame(&self, from: At, to: At, pen: Pen) -> Result<(), DrawError> {
        Ok(self
            .root
            .draw(&Rectangle::new([fine(from), fine(to)], pen.style()))?)
    }

    /// Diagonal lines inside a rectangle.
    pub(crate) fn hatch(&self, from: At, to: At) -> Result<(), DrawError> {
        const GAP: f64 = 7.0;
        let (width, height) = (to.0 - from.0, to.1 - from.1);
        let lines = ((width + height) / GAP) as u32;
        for n in 1..=lines {
            let along = f64::from(n) * GAP;
            let start = (from.0 + along.min(width), from.1 + (along - width).max(0.0));
            let end = (
                from.0 + (along - height).max(0.0),
                from.1 + along.min(height),
            );
            self.line(&[start, end], Pen::solid(Ink::Hatch, 1.0))?;
        }
        Ok(())
    }

    /// A point with a thin edge in the paper's colour, so that points on lines and on each other stay apart.
    pub(crate) fn mark(&self, at: At, mark: Mark, radius: f64, ink: Ink) -> Result<(), DrawError> {
        let about = std::mem::take(&mut self.sheet.borrow_mut().about);
        match mark {
            Mark::Disc => {
                self.root.draw(&Circle::new(
                    fine(at),
                    steps(radius + 1.3),
                    fill(Ink::Paper),
                ))?;
                self.restore(about.clone());
                self.root
                    .draw(&Circle::new(fine(at), steps(radius), fill(ink)))?;
            }
            Mark::Cross => {
                let r = radius * 0.85;
                let strokes = [[(-r, -r), (r, r)], [(-r, r), (r, -r)]];
                for (width, ink) in [(4.6, Ink::Paper), (2.2, ink)] {
                    for stroke in strokes {
                        self.line(
                            &stroke.map(|by| (at.0 + by.0, at.1 + by.1)),
                            Pen::solid(ink, width),
                        )?;
                    }
                }
                self.restore(about.clone());
                self.line(
                    &[(at.0 - r, at.1 - r), (at.0 + r, at.1 + r)],
                    Pen::solid(ink, 2.2),
                )?;
            }
            _ => {
                self.polygon(at, mark, radius + 1.6, Ink::Paper)?;
                self.restore(about.clone());
                self.polygon(at, mark, radius, ink)?;
            }
        }
        Ok(())
    }

    fn restore(&self, about: About) {
        self.sheet.borrow_mut().about = about;
    }

    fn polygon(&self, at: At, mark: Mark, radius: f64, ink: Ink) -> Result<(), DrawError> {
        let corners = mark
            .corners()
            .into_iter()
            .map(|by| fine((at.0 + by.0 * radius, at.1 + by.1 * radius)));
        Ok(self
            .root
            .draw(&Polygon::new(corners.collect::<Vec<_>>(), fill(ink)))?)
    }

    /// The finished picture.
    pub(crate) fn finish(self) -> Result<Picture, DrawError> {
        self.root.present()?;
        Ok(Picture {
            name: self.name,
            caption: self.caption,
            width: self.width,
            height: self.height,
            shapes: std::mem::take(&mut self.sheet.borrow_mut().shapes),
        })
    }
}

fn fill(ink: Ink) -> ShapeStyle {
    ShapeStyle {
        color: ink.color(Dash::Solid),
        filled: true,
        stroke_width: 0,
    }
}

fn steps(pixels: f64) -> i32 {
    (pixels * FINE).round() as i32
}

fn fine(at: At) -> (i32, i32) {
    (steps(at.0), steps(at.1))
}
