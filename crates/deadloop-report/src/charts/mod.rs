//! The charts: one file each, listed in [`CHARTS`].
//!
//! Titles, readings and columns are written in chars; [`RunInfo::told`](crate::data::RunInfo::told) says them in the
//! unit of the run. A chart has one size, which the page scales. What a folder has no data for is left out, never shown
//! as an empty frame.

mod heatmap;
mod latency;
mod operating;

use crate::data::ReportData;
use crate::draw::{Canvas, DrawError, Picture};
use crate::points::{ChartColumn, Rows, Told, csv};
pub(crate) use operating::{Plane, planes};

/// Every chart, in the order of the page. A test fails for a file that is not listed.
pub static CHARTS: &[&ChartEntry] = &[&operating::ENTRY, &latency::ENTRY, &heatmap::ENTRY];

/// The width of every chart, in pixels.
const WIDTH: f64 = 760.0;

/// A chart of the registry.
#[derive(Debug)]
pub struct ChartEntry {
    /// The name of its files, without `.svg` or `.csv`.
    pub name: &'static str,
    /// Its title on the page.
    pub title: &'static str,
    /// One sentence: how to read it.
    pub reading: &'static str,
    /// The columns of its CSV file.
    pub columns: &'static [ChartColumn],
    draw: fn(&ReportData) -> Result<Option<DrawnChart>, DrawError>,
}

/// A chart that was drawn, and the numbers that it shows.
#[derive(Debug, Clone)]
pub struct DrawnChart {
    picture: Picture,
    pub(crate) rows: Rows,
}

impl DrawnChart {
    /// SVG without a style of its own, to stand inside the page.
    pub fn svg(&self) -> String {
        self.picture.svg()
    }

    /// The chart as a file of its own, light or dark by itself.
    pub fn file(&self) -> String {
        self.picture.stand_alone()
    }
}

/// A chart of a report.
#[derive(Debug, Clone)]
pub struct Chart {
    /// Its entry in the registry.
    pub entry: &'static ChartEntry,
    /// The columns of its CSV file, in the unit of the run.
    pub columns: Vec<Told>,
    /// The chart; `None` if the folder has no data for it.
    pub drawn: Option<DrawnChart>,
}

impl Chart {
    /// The numbers behind the chart as CSV; `None` if the chart is left out.
    ///
    /// # Errors
    /// It could not be put together in memory.
    pub fn csv(&self) -> std::io::Result<Option<Vec<u8>>> {
        let drawn = self.drawn.as_ref();
        drawn
            .map(|drawn| csv(&self.columns, &drawn.rows))
            .transpose()
    }
}

impl ChartEntry {
    /// An empty canvas for this chart.
    fn canvas(&self, height: f64) -> Canvas {
        Canvas::new(self.name, self.title, WIDTH, height)
    }
}

/// Draws every chart of the registry.
pub fn draw_all(data: &ReportData) -> Result<Vec<Chart>, DrawError> {
    let told = |column: &ChartColumn| (data.run.told(column.0), data.run.told(column.1));
    let chart = |entry: &&'static ChartEntry| {
        Ok(Chart {
            entry,
            columns: entry.columns.iter().map(told).collect(),
            drawn: (entry.draw)(data)?,
        })
    };
    CHARTS.iter().map(chart).collect()
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
        // A chart is a file, or a folder of its name.
        let stem = |file: String| file.strip_suffix(".rs").unwrap_or(&file).to_owned();
        let mut stems: Vec<String> = files.map(stem).collect();
        stems.retain(|stem| stem != "mod");
        stems.sort();
        let mut names: Vec<&str> = CHARTS.iter().map(|entry| entry.name).collect();
        names.sort_unstable();
        assert_eq!(stems, names);
    }
}
