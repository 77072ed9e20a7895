//! A plotters backend that gathers shapes.
//!
//! plotters' own SVG backend knows no classes, titles, dashes or patterns, guesses text width in bytes (a CJK label
//! comes out 25 % too wide) and writes whole pixels; its bitmaps have hard edges. Its documented way out is a backend
//! of one's own; this is one. Charts are drawn on a sheet [`FINE`](super::picture::FINE) times too large, and written
//! by `svg.rs` and `pixels.rs`. A plotters colour carries an ink and a dash (`theme.rs`); a title waits in the
//! [`Sheet`] for the next element, which takes it.

use super::picture::{About, Form, Paint, Shape, Step, Stroke, Words};
use super::text::measure;
use super::theme::Ink;
use plotters::style::text_anchor::{HPos, VPos};
use plotters_backend::{
    BackendColor, BackendCoord, BackendStyle, BackendTextStyle, DrawingBackend, DrawingErrorKind,
    FontStyle,
};
use std::cell::RefCell;
use std::convert::Infallible;
use std::rc::Rc;

/// The shapes so far, and what the next one shall carry.
#[derive(Debug, Default)]
pub(super) struct Sheet {
    /// From the bottom up.
    pub(super) shapes: Vec<Shape>,
    /// The hover title and the number of the next shape.
    pub(super) about: About,
}

/// A sheet shared between the backend, which plotters owns, and the canvas.
pub(super) type SharedSheet = Rc<RefCell<Sheet>>;

/// The backend: shapes go to the sheet.
pub(super) struct Backend {
    sheet: SharedSheet,
    size: (u32, u32),
}

type Done = Result<(), DrawingErrorKind<Infallible>>;

impl Backend {
    /// A backend of `size` (in steps of the fine grid) that fills `sheet`.
    pub(super) fn new(sheet: SharedSheet, size: (u32, u32)) -> Self {
        Self { sheet, size }
    }

    fn add(&self, color: BackendColor, form: Form) -> Done {
        if color.alpha > 0.0 {
            let mut sheet = self.sheet.borrow_mut();
            let about = std::mem::take(&mut sheet.about);
            sheet.shapes.push(Shape { about, form });
        }
        Ok(())
    }
}

fn ink(color: BackendColor) -> Ink {
    Ink::of(color.rgb).0
}

fn stroke<S: BackendStyle>(style: &S) -> Stroke {
    let (ink, dash) = Ink::of(style.color().rgb);
    Stroke {
        ink,
        dash,
        width: whole(style.stroke_width()),
    }
}

fn paint<S: BackendStyle>(style: &S, fill: bool) -> Paint {
    if fill {
        Paint::Fill(ink(style.color()))
    } else {
        Paint::Edge(stroke(style))
    }
}

fn whole(length: u32) -> i32 {
    i32::try_from(length).unwrap_or(i32::MAX)
}

impl DrawingBackend for Backend {
    type ErrorType = Infallible;

    fn get_size(&self) -> (u32, u32) {
        self.size
    }

    fn ensure_prepared(&mut self) -> Done {
        Ok(())
    }

    fn present(&mut self) -> Done {
        Ok(())
    }

    fn draw_pixel(&mut self, at: BackendCoord, color: BackendColor) -> Done {
        self.add(color, Form::Rect(at, (1, 1), Paint::Fill(ink(color))))
    }

    fn draw_line<S: BackendStyle>(
        &mut self,
        from: BackendCoord,
        to: BackendCoord,
        style: &S,
    ) -> Done {
        self.draw_path([from, to], style)
    }

    fn draw_rect<S: BackendStyle>(
        &mut self,
        from: BackendCoord,
        to: BackendCoord,
        style: &S,
        fill: bool,
    ) -> Done {
        let corner = (from.0.min(to.0), from.1.min(to.1));
        let size = ((to.0 - from.0).abs(), (to.1 - from.1).abs());
        self.add(style.color(), Form::Rect(corner, size, paint(style, fill)))
    }

    fn draw_path<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        path: I,
        style: &S,
    ) -> Done {
        let points: Vec<Step> = path.into_iter().collect();
        self.add(style.color(), Form::Line(points, stroke(style)))
    }

    fn draw_circle<S: BackendStyle>(
        &mut self,
        at: BackendCoord,
        radius: u32,
        style: &S,
        fill: bool,
    ) -> Done {
        let form = Form::Circle(at, whole(radius), paint(style, fill));
        self.add(style.color(), form)
    }

    fn fill_polygon<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        path: I,
        style: &S,
    ) -> Done {
        let corners: Vec<Step> = path.into_iter().collect();
        self.add(style.color(), Form::Polygon(corners, ink(style.color())))
    }

    fn draw_text<T: BackendTextStyle>(&mut self, text: &str, style: &T, at: BackendCoord) -> Done {
        let anchor = style.anchor();
        let words = Words {
            text: text.to_owned(),
            at,
            size: style.size().round() as i32,
            ink: ink(style.color()),
            bold: matches!(style.style(), FontStyle::Bold),
            across: match anchor.h_pos {
                HPos::Left => 0.0,
                HPos::Center => 0.5,
                HPos::Right => 1.0,
            },
            down: match anchor.v_pos {
                VPos::Top => 0.76,
                VPos::Center => 0.35,
                VPos::Bottom => 0.0,
            },
        };
        self.add(style.color(), Form::Text(words))
    }

    fn estimate_text_size<T: BackendTextStyle>(
        &self,
        text: &str,
        style: &T,
    ) -> Result<(u32, u32), DrawingErrorKind<Infallible>> {
        Ok((
            measure(text, style.size()).round() as u32,
            style.size().round() as u32,
        ))
    }
}
