//! A plotters backend that writes the SVG that a themed page needs.
//!
//! plotters' own SVG backend knows no classes, titles, dashes or patterns, guesses text width in bytes (a CJK label
//! comes out 25 % too wide) and writes whole pixels. Its documented way out is a backend of one's own; this is one.
//! Charts are drawn on a sheet [`FINE`] times too large, and written with one decimal. A plotters colour carries an
//! ink and a dash (`theme.rs`); a title waits in the [`Sheet`] for the next element, which takes it.

use super::text::measure;
use super::theme::{Dash, Ink};
use crate::visible::visible;
use plotters::style::text_anchor::{HPos, VPos};
use plotters_backend::{
    BackendColor, BackendCoord, BackendStyle, BackendTextStyle, DrawingBackend, DrawingErrorKind,
    FontStyle,
};
use std::cell::RefCell;
use std::convert::Infallible;
use std::fmt::Write as _;
use std::rc::Rc;

/// Steps of the drawing grid in a pixel of the SVG.
pub(super) const FINE: f64 = 10.0;

/// The SVG so far, and what the next element shall carry.
#[derive(Debug, Default)]
pub(super) struct Sheet {
    /// Elements written so far.
    pub(super) body: String,
    /// The hover title of the next element.
    pub(super) title: Option<String>,
}

/// A sheet shared between the backend, which plotters owns, and the canvas.
pub(super) type SharedSheet = Rc<RefCell<Sheet>>;

/// The backend: elements go to the sheet.
pub(super) struct Backend {
    sheet: SharedSheet,
    size: (u32, u32),
}

type Done = Result<(), DrawingErrorKind<Infallible>>;

impl Backend {
    /// A backend of `size` (in steps of the fine grid) that writes to `sheet`.
    pub(super) fn new(sheet: SharedSheet, size: (u32, u32)) -> Self {
        Self { sheet, size }
    }

    /// Writes one element; `inner` is its text, already escaped.
    fn element(&self, tag: &str, attributes: &str, color: BackendColor, inner: &str) -> Done {
        if color.alpha == 0.0 {
            return Ok(());
        }
        let mut sheet = self.sheet.borrow_mut();
        let title = sheet
            .title
            .take()
            .map(|title| format!("<title>{}</title>", escape(&title)));
        let opacity = if color.alpha < 1.0 {
            format!(" opacity=\"{}\"", color.alpha)
        } else {
            String::new()
        };
        let title = title.unwrap_or_default();
        let _ = if inner.is_empty() && title.is_empty() {
            writeln!(sheet.body, "<{tag}{attributes}{opacity}/>")
        } else {
            writeln!(
                sheet.body,
                "<{tag}{attributes}{opacity}>{title}{inner}</{tag}>"
            )
        };
        Ok(())
    }
}

/// A length or place, in pixels with one decimal at most.
fn px(steps: i32) -> String {
    let value = f64::from(steps) / FINE;
    if value.fract() == 0.0 {
        format!("{value:.0}")
    } else {
        format!("{value:.1}")
    }
}

fn filled(color: BackendColor) -> String {
    let (ink, _) = Ink::of(color.rgb);
    format!(" class=\"f-{}\" fill=\"{}\"", ink.class(), ink.light())
}

fn stroked<S: BackendStyle>(style: &S) -> String {
    let (ink, dash) = Ink::of(style.color().rgb);
    let width = px(i32::try_from(style.stroke_width()).unwrap_or(i32::MAX));
    let dash = Dash::pattern(dash)
        .map(|pattern| format!(" stroke-dasharray=\"{pattern}\""))
        .unwrap_or_default();
    format!(
        " class=\"s-{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{width}\"{dash}",
        ink.class(),
        ink.light()
    )
}

fn point_list(points: impl IntoIterator<Item = BackendCoord>) -> String {
    let points: Vec<String> = points
        .into_iter()
        .map(|(x, y)| format!("{},{}", px(x), px(y)))
        .collect();
    format!(" points=\"{}\"", points.join(" "))
}

/// Text safe inside XML: markup escaped, what XML cannot hold left out.
pub(super) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    // Names come from strangers: nothing in them turns the reading around.
    for c in visible(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\u{fffe}' | '\u{ffff}' => {}
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
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

    fn draw_pixel(&mut self, (x, y): BackendCoord, color: BackendColor) -> Done {
        let place = format!(
            " x=\"{}\" y=\"{}\" width=\"0.1\" height=\"0.1\"",
            px(x),
            px(y)
        );
        self.element("rect", &(filled(color) + &place), color, "")
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
        let look = if fill {
            filled(style.color())
        } else {
            stroked(style)
        };
        let (x, y) = (from.0.min(to.0), from.1.min(to.1));
        let (width, height) = ((to.0 - from.0).abs(), (to.1 - from.1).abs());
        let place = format!(
            " x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"",
            px(x),
            px(y),
            px(width),
            px(height)
        );
        self.element("rect", &(look + &place), style.color(), "")
    }

    fn draw_path<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        path: I,
        style: &S,
    ) -> Done {
        let look = stroked(style) + " stroke-linejoin=\"round\"";
        self.element("polyline", &(look + &point_list(path)), style.color(), "")
    }

    fn draw_circle<S: BackendStyle>(
        &mut self,
        at: BackendCoord,
        radius: u32,
        style: &S,
        fill: bool,
    ) -> Done {
        let look = if fill {
            filled(style.color())
        } else {
            stroked(style)
        };
        let radius = px(i32::try_from(radius).unwrap_or(i32::MAX));
        let place = format!(" cx=\"{}\" cy=\"{}\" r=\"{radius}\"", px(at.0), px(at.1));
        self.element("circle", &(look + &place), style.color(), "")
    }

    fn fill_polygon<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        path: I,
        style: &S,
    ) -> Done {
        self.element(
            "polygon",
            &(filled(style.color()) + &point_list(path)),
            style.color(),
            "",
        )
    }

    fn draw_text<T: BackendTextStyle>(
        &mut self,
        text: &str,
        style: &T,
        (x, y): BackendCoord,
    ) -> Done {
        let anchor = style.anchor();
        let across = match anchor.h_pos {
            HPos::Left => "",
            HPos::Center => " text-anchor=\"middle\"",
            HPos::Right => " text-anchor=\"end\"",
        };
        let down = match anchor.v_pos {
            VPos::Top => " dy=\"0.76em\"",
            VPos::Center => " dy=\"0.35em\"",
            VPos::Bottom => "",
        };
        let weight = if matches!(style.style(), FontStyle::Bold) {
            " font-weight=\"600\""
        } else {
            ""
        };
        let attributes = format!(
            "{} x=\"{}\" y=\"{}\" font-size=\"{}\"{across}{down}{weight}",
            filled(style.color()),
            px(x),
            px(y),
            px(style.size().round() as i32),
        );
        self.element("text", &attributes, style.color(), &escape(text))
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
