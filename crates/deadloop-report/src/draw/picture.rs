//! [`Picture`]: a chart as SVG, drawn by plotters and coloured by the theme of the page.

use super::DrawError;
use super::theme::{Ink, chart_css, variables_css};
use crate::visible::visible;
use plotters::coord::Shift;
use plotters::prelude::{DrawingArea, IntoDrawingArea, SVGBackend};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{IntoFont, TextStyle};

/// The drawing area of a chart.
pub(crate) type ChartArea<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// A drawn chart as SVG.
#[derive(Debug, Clone)]
pub struct Picture {
    name: String,
    caption: String,
    size: (u32, u32),
    /// The elements inside the outer SVG tag, one per line.
    elements: Vec<String>,
}

impl Picture {
    /// Draws a chart of this size in pixels.
    pub(crate) fn new(
        (name, caption): (&str, &str),
        size: (u32, u32),
        draw: impl FnOnce(&ChartArea<'_>) -> Result<(), DrawError>,
    ) -> Result<Self, DrawError> {
        let mut svg = String::new();
        let area = SVGBackend::with_string(&mut svg, size).into_drawing_area();
        draw(&area)?;
        area.present()?;
        drop(area);
        // plotters writes the content of a text on the line after its tag. The outer tag is written again by `render`.
        let mut elements: Vec<String> = Vec::new();
        for line in svg.lines() {
            match elements.last_mut() {
                Some(open) if open.starts_with("<text") && !open.ends_with("</text>") => {
                    *open += line
                }
                _ if line.starts_with("<svg") || line == "</svg>" => {}
                _ => elements.push(line.to_owned()),
            }
        }
        Ok(Self {
            name: name.to_owned(),
            caption: caption.to_owned(),
            size,
            elements,
        })
    }

    /// Adds a number and a hover title to each of the first elements with this tag.
    pub(crate) fn with_titles(mut self, tag: &str, titles: &[String]) -> Self {
        let open = format!("<{tag} ");
        let own = self
            .elements
            .iter_mut()
            .filter(|element| element.starts_with(&open));
        for (nth, (element, title)) in own.zip(titles).enumerate() {
            let shape = element.trim_end_matches("/>");
            *element = format!(
                "{shape} data-dot=\"{nth}\"><title>{}</title></{tag}>",
                escape(title)
            );
        }
        self
    }

    /// Returns the SVG as a part of a page. The style of the page sets the colours of the inks.
    pub fn svg(&self) -> String {
        self.render("")
    }

    /// Returns the SVG as a separate file, which follows the light or dark theme of the viewer. It includes the CSS and
    /// the background.
    pub fn to_svg_file(&self) -> String {
        self.render(&format!(
            "<style>\n{}{}</style>\n<rect width=\"100%\" height=\"100%\" fill=\"{}\"/>\n",
            variables_css(),
            chart_css(),
            Ink::Paper.light()
        ))
    }

    fn render(&self, head: &str) -> String {
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"chart\" viewBox=\"0 0 {} {}\" role=\"img\" \
             aria-labelledby=\"{id}-caption\">\n{head}<title id=\"{id}-caption\">{}</title>\n{}\n</svg>\n",
            self.size.0,
            self.size.1,
            escape(&self.caption),
            self.elements.join("\n"),
            id = escape(&self.name),
        )
    }
}

/// Returns the style of a text that is centred on its position.
pub(crate) fn centered_text(size: u32, ink: Ink) -> TextStyle<'static> {
    let style = ("sans-serif", f64::from(size) * 1.24)
        .into_font()
        .color(&ink.color());
    style.pos(Pos::new(HPos::Center, VPos::Center))
}

/// Escapes a text for XML, and removes chars that XML does not allow.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    // Names are untrusted, so none of their chars may change the direction of the text.
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
