//! The drawing kit of the charts: plotters with a backend of our own.
//!
//! | file | what lives there |
//! |---|---|
//! | `backend.rs` | a plotters backend that gathers shapes with inks, hover titles and dashes |
//! | `picture.rs` | those shapes: what a chart consists of |
//! | `svg.rs` | a picture as SVG with theme classes |
//! | `theme.rs` | the inks (a light and a dark colour each) and the CSS made from them |
//! | `text.rs` | how wide a text is, and how long ones are cut and stay apart |
//! | `axis.rs` | scales and their ticks |
//! | `canvas.rs` | one sheet: text, lines, marks in pixels |
//! | `panel.rs` | a pair of axes on a sheet: grid, tick labels, marks in data coordinates |
//! | `legend.rs` | keys that wrap |
//! | `beside.rs` | names beside points, where there is room |

mod axis;
mod backend;
mod beside;
mod canvas;
mod legend;
mod panel;
mod picture;
mod svg;
mod text;
mod theme;

pub(crate) use axis::Axis;
pub(crate) use beside::names_beside;
pub(crate) use canvas::{Anchor, Canvas, Label, Mark, Pen};
pub(crate) use legend::{Key, Legend};
pub(crate) use panel::{Panel, Place};
pub(crate) use picture::Picture;
pub(crate) use text::{elide, elide_apart, measure};
pub(crate) use theme::{Dash, Ink, SEQUENCE, SERIES, chart_css, variables_css};

/// Why a chart could not be drawn.
#[derive(Debug, thiserror::Error)]
#[error("plotters could not draw: {0}")]
pub struct DrawError(String);

impl<E: std::error::Error + Send + Sync> From<plotters::drawing::DrawingAreaErrorKind<E>>
    for DrawError
{
    fn from(error: plotters::drawing::DrawingAreaErrorKind<E>) -> Self {
        Self(error.to_string())
    }
}
