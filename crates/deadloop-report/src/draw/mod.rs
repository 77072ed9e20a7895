//! The kit of the charts: plotters' SVG backend in the theme's colours.
//!
//! | file | content |
//! |---|---|
//! | `picture.rs` | a chart as SVG, inside a page and as a file of its own |
//! | `theme.rs` | the inks (a light and a dark colour each) and the CSS made from them |
//! | `axis.rs` | a scale that plotters lacks: one with 0 and many powers |
//! | `text.rs` | the width of texts, and the shortening of long ones |

mod axis;
mod picture;
mod text;
mod theme;

pub(crate) use axis::ChartAxis;
pub use picture::Picture;
pub(crate) use picture::{ChartArea, words};
pub(crate) use text::{elide, measure};
pub(crate) use theme::{Ink, STEPS, chart_css, variables_css};

/// The error for a chart that could not be drawn.
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
