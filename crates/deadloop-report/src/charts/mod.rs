//! The charts, one per file, listed in [`CHARTS`].
//!
//! Titles and explanations are written for chars. [`RunInfo::in_unit`](crate::data::RunInfo::in_unit) converts them to
//! the unit of the run. A chart has one size, which the page scales. A chart without data is left out.

mod heatmap;
mod latency;
mod operating;

use crate::data::ReportData;
pub(crate) use crate::draw::ChartArea;
use crate::draw::{DrawError, Ink, Picture, centered_text};
pub(crate) use operating::{Plane, draw_planes};
use plotters::chart::{MeshStyle, SeriesLabelPosition, SeriesLabelStyle};
use plotters::coord::CoordTranslate;
use plotters::coord::ranged1d::Ranged;
use plotters::prelude::{Color as _, DrawingBackend, TRANSPARENT};
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// Every chart, in the order of the page. The first is the plane, which has its own section.
///
/// A test fails for a file that is not listed.
pub static CHARTS: &[&ChartEntry] = &[&operating::ENTRY, &latency::ENTRY, &heatmap::ENTRY];

/// The width and height of a chart, in pixels.
const CHART_PIXELS: (u32, u32) = (760, 420);

/// An entry in the registry of charts.
#[derive(Debug)]
pub struct ChartEntry {
    /// The name of the chart's file, without `.svg`.
    pub name: &'static str,
    /// The title of the chart on the page.
    pub title: &'static str,
    /// The sentence that explains the chart.
    pub reading: &'static str,
    draw: fn(&ReportData) -> Result<Option<Picture>, DrawError>,
}

/// A chart of a report.
#[derive(Debug, Clone)]
pub struct Chart {
    /// The entry of the chart in the registry.
    pub entry: &'static ChartEntry,
    /// The picture. `None` if the report has no data for the chart.
    pub drawn: Option<Picture>,
}

/// Draws every chart in the registry.
pub fn draw_all(data: &ReportData) -> Result<Vec<Chart>, DrawError> {
    let chart = |entry: &&'static ChartEntry| {
        Ok(Chart {
            entry,
            drawn: (entry.draw)(data)?,
        })
    };
    CHARTS.iter().map(chart).collect()
}

/// Styles the grid, the ticks and the names of the axes of a chart.
fn style_mesh<'m, 'a, 'b, X: Ranged, Y: Ranged, DB: DrawingBackend>(
    mesh: &'m mut MeshStyle<'a, 'b, X, Y, DB>,
) -> &'m mut MeshStyle<'a, 'b, X, Y, DB> {
    mesh.axis_style(Ink::Axis.color())
        .bold_line_style(Ink::Grid.color())
        .light_line_style(TRANSPARENT)
        .label_style(centered_text(12, Ink::Muted))
        .axis_desc_style(centered_text(13, Ink::Text))
}

/// Styles the legend of a chart, and places it in the lower right corner.
fn style_legend<'m, 'a, 'b, DB: DrawingBackend + 'a, C: CoordTranslate>(
    labels: &'m mut SeriesLabelStyle<'a, 'b, DB, C>,
) -> &'m mut SeriesLabelStyle<'a, 'b, DB, C> {
    labels
        .position(SeriesLabelPosition::LowerRight)
        .background_style(Ink::Paper.color().filled())
        .border_style(Ink::Grid.color())
        .label_font(centered_text(13, Ink::Text).pos(Pos::new(HPos::Left, VPos::Top)))
}

fn format_share(share: &f64) -> String {
    format!("{:.0} %", 100.0 * share)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_is_registered() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/charts");
        let files = std::fs::read_dir(folder)
            .unwrap()
            .map(|file| file.unwrap().file_name().into_string().unwrap());
        let stem = |file: String| file.strip_suffix(".rs").unwrap_or(&file).to_owned();
        let mut stems: Vec<String> = files.map(stem).collect();
        stems.retain(|stem| stem != "mod");
        stems.sort();
        let mut names: Vec<&str> = CHARTS.iter().map(|entry| entry.name).collect();
        names.sort_unstable();
        assert_eq!(stems, names);
    }
}
