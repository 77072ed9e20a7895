//! The tools for drawing charts: plotters' SVG backend in the colours of the theme.
//!
//! | file | content |
//! |---|---|
//! | `picture.rs` | a chart as SVG, inside a page and as a separate file |
//! | `theme.rs` | the inks (a light and a dark colour each) and the CSS made from them |
//! | `axis.rs` | a logarithmic scale with a strip for 0 |
//! | `text.rs` | the width of texts, and the shortening of long ones |

mod axis;
mod picture;
mod text;
mod theme;

pub(crate) use axis::ChartAxis;
pub use picture::Picture;
pub(crate) use picture::{ChartArea, centered_text};
pub(crate) use text::{elide, text_width};
pub(crate) use theme::{HEATMAP_INKS, Ink, chart_css, variables_css};

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
