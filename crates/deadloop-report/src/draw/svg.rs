//! A picture as SVG, for a page whose style gives the inks their colours, and as a file of its own.

use super::picture::{FINE, Form, Paint, Picture, Shape, Step, Stroke, Words};
use super::theme::{Ink, chart_css, variables_css};
use crate::visible::visible;
use std::fmt::Write as _;

impl Picture {
    /// As a part of the page.
    pub(crate) fn svg(&self) -> String {
        self.with("")
    }

    /// As a file of its own, light or dark by itself: the theme's CSS and the paper go inside.
    pub(crate) fn stand_alone(&self) -> String {
        self.with(&format!(
            "<style>\n{}{}</style>\n<rect class=\"f-paper\" width=\"100%\" height=\"100%\" fill=\"{}\"/>\n",
            variables_css(),
            chart_css(),
            Ink::Paper.light()
        ))
    }

    fn with(&self, inside: &str) -> String {
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"chart\" viewBox=\"0 0 {w} {h}\" role=\"img\" \
             aria-labelledby=\"{id}\">\n{inside}<title id=\"{id}\">{caption}</title>\n",
            w = self.width,
            h = self.height,
            id = escape(&self.name),
            caption = escape(&self.caption),
        );
        self.shapes.iter().for_each(|shape| write(&mut svg, shape));
        svg + "</svg>\n"
    }
}

fn write(svg: &mut String, shape: &Shape) {
    let (tag, attributes, inner) = parts(&shape.form);
    let dot = shape.about.dot;
    let attributes = match dot {
        Some(dot) => format!("{attributes} data-dot=\"{dot}\""),
        None => attributes,
    };
    let title = shape.about.title.as_ref();
    let title = title.map_or_else(String::new, |title| {
        format!("<title>{}</title>", escape(title))
    });
    let _ = if inner.is_empty() && title.is_empty() {
        writeln!(svg, "<{tag}{attributes}/>")
    } else {
        writeln!(svg, "<{tag}{attributes}>{title}{inner}</{tag}>")
    };
}

/// Tag, attributes, and the escaped text inside.
fn parts(form: &Form) -> (&'static str, String, String) {
    match form {
        Form::Rect((x, y), (width, height), paint) => {
            let place = format!(
                " x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"",
                px(*x),
                px(*y),
                px(*width),
                px(*height)
            );
            ("rect", painted(*paint) + &place, String::new())
        }
        Form::Line(points, stroke) => {
            let look = stroked(*stroke) + " stroke-linejoin=\"round\"";
            ("polyline", look + &point_list(points), String::new())
        }
        Form::Circle((x, y), radius, paint) => {
            let place = format!(" cx=\"{}\" cy=\"{}\" r=\"{}\"", px(*x), px(*y), px(*radius));
            ("circle", painted(*paint) + &place, String::new())
        }
        Form::Polygon(points, ink) => {
            ("polygon", filled(*ink) + &point_list(points), String::new())
        }
        Form::Text(words) => ("text", text(words), escape(&words.text)),
    }
}

fn text(words: &Words) -> String {
    let anchor = match words.across {
        0.0 => "",
        1.0 => " text-anchor=\"end\"",
        _ => " text-anchor=\"middle\"",
    };
    let down = match words.down {
        0.0 => String::new(),
        down => format!(" dy=\"{down}em\""),
    };
    let weight = if words.bold {
        " font-weight=\"600\""
    } else {
        ""
    };
    format!(
        "{} x=\"{}\" y=\"{}\" font-size=\"{}\"{anchor}{down}{weight}",
        filled(words.ink),
        px(words.at.0),
        px(words.at.1),
        px(words.size),
    )
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

fn painted(paint: Paint) -> String {
    match paint {
        Paint::Fill(ink) => filled(ink),
        Paint::Edge(stroke) => stroked(stroke),
    }
}

fn filled(ink: Ink) -> String {
    format!(" class=\"f-{}\" fill=\"{}\"", ink.class(), ink.light())
}

fn stroked(Stroke { ink, dash, width }: Stroke) -> String {
    let dash = dash
        .pattern()
        .map(|lengths| {
            let lengths: Vec<String> = lengths.iter().map(ToString::to_string).collect();
            format!(" stroke-dasharray=\"{}\"", lengths.join(" "))
        })
        .unwrap_or_default();
    format!(
        " class=\"s-{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{}\"{dash}",
        ink.class(),
        ink.light(),
        px(width)
    )
}

fn point_list(points: &[Step]) -> String {
    let points: Vec<String> = points
        .iter()
        .map(|(x, y)| format!("{},{}", px(*x), px(*y)))
        .collect();
    format!(" points=\"{}\"", points.join(" "))
}

/// Text safe inside XML: markup escaped, what XML cannot hold left out.
fn escape(text: &str) -> String {
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
