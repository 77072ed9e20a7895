//! What a chart consists of, before it is written as SVG.

use super::theme::{Dash, Ink};

/// Steps of the drawing grid in a pixel.
pub(super) const FINE: f64 = 10.0;

/// A place, in steps from the upper left.
pub(super) type Step = (i32, i32);

/// A finished chart.
#[derive(Debug, Clone)]
pub(crate) struct Picture {
    /// Unique among the charts of a page.
    pub(super) name: String,
    /// Read aloud.
    pub(super) caption: String,
    /// In pixels.
    pub(super) width: f64,
    /// In pixels.
    pub(super) height: f64,
    /// What is on it, from the bottom up.
    pub(super) shapes: Vec<Shape>,
}

/// The words and the number of an element.
#[derive(Debug, Clone, Default)]
pub(super) struct About {
    /// Shown when it is pointed at.
    pub(super) title: Option<String>,
    /// The number of the dot, which the page's script asks for.
    pub(super) dot: Option<usize>,
}

/// One element.
#[derive(Debug, Clone)]
pub(super) struct Shape {
    /// Shown when it is pointed at, and the number of the dot that it is.
    pub(super) about: About,
    /// What it is.
    pub(super) form: Form,
}

/// Lengths are in steps.
#[derive(Debug, Clone)]
pub(super) enum Form {
    /// Upper left, width and height.
    Rect(Step, (i32, i32), Paint),
    /// A line through points, never filled.
    Line(Vec<Step>, Stroke),
    /// Middle and radius.
    Circle(Step, i32, Paint),
    /// Corners, filled.
    Polygon(Vec<Step>, Ink),
    /// Words.
    Text(Words),
}

/// How a form is filled or drawn.
#[derive(Debug, Clone, Copy)]
pub(super) enum Paint {
    /// Filled.
    Fill(Ink),
    /// Its edge alone.
    Edge(Stroke),
}

/// A line's look; the width is in steps.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stroke {
    pub(super) ink: Ink,
    pub(super) dash: Dash,
    pub(super) width: i32,
}

/// A text at a place.
#[derive(Debug, Clone)]
pub(super) struct Words {
    /// As it was given: nothing in it is escaped yet.
    pub(super) text: String,
    pub(super) at: Step,
    /// Font size, in steps.
    pub(super) size: i32,
    pub(super) ink: Ink,
    pub(super) bold: bool,
    /// Which point of the text is put at the place, from left (0) over the middle (0.5) to right (1).
    pub(super) across: f64,
    /// How far the baseline lies below the place, in ems.
    pub(super) down: f64,
}
