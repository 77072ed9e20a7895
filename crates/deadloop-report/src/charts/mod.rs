//! The charts: one file each, listed in [`CHARTS`].
//!
//! Titles, readings and columns are written in chars; [`RunInfo::told`](crate::data::RunInfo::told) says them in the
//! unit of the run. A chart is drawn for a width, so that a phone gets its own layout and not a shrunk one. What a folder has no data
//! for is left out, never shown as an empty frame.

mod breakdown;
mod cost;
mod dumbbells;
mod forest;
mod heatmap;
mod history;
mod latency;
mod marginal;
mod operating;
mod pareto;

use crate::data::ReportData;
use crate::draw::{DrawError, Picture};
use crate::grid::Grid;
use crate::points::{ChartColumn, Rows, Told, csv};
use std::cell::OnceCell;

/// Every chart, in the order of the page. A test fails for a file that is not listed.
pub static CHARTS: &[&ChartEntry] = &[
    &dumbbells::ENTRY,
    &operating::ENTRY,
    &forest::ENTRY,
    &pareto::ENTRY,
    &cost::ENTRY,
    &latency::ENTRY,
    &breakdown::ENTRY,
    &heatmap::ENTRY,
    &marginal::ENTRY,
    &history::ENTRY,
];

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
    draw: for<'d> fn(&'d ReportData, Sheet<'d>) -> Result<Drawing, DrawError>,
}

/// What a draw function knows about its sheet.
#[derive(Clone, Copy)]
struct Sheet<'a> {
    /// The name of the chart.
    name: &'static str,
    /// Which of its layouts it is.
    suffix: &'static str,
    /// Read aloud.
    caption: &'static str,
    /// In pixels.
    width: f64,
    /// The grid that was searched, once a chart has asked for it.
    grid: &'a OnceCell<Option<Grid<'a>>>,
}

impl<'a> Sheet<'a> {
    /// The grid that was searched: the same for every chart of `data`, in both layouts.
    fn grid(&self, data: &'a ReportData) -> Option<&'a Grid<'a>> {
        self.grid.get_or_init(|| Grid::of(data)).as_ref()
    }

    /// An empty canvas of this width.
    fn canvas(&self, height: f64) -> crate::draw::Canvas {
        // Unique among the charts of a page.
        let name = format!("{}-{}", self.name, self.suffix);
        crate::draw::Canvas::new(&name, self.caption, self.width, height)
    }

    /// Whether this is the layout for phones.
    fn narrow(&self) -> bool {
        self.width < 600.0
    }
}

/// Below a chart: how many models it shows of those with scores of their own, and where the others are: in `file`, or
/// without such scores.
fn left_out(
    canvas: &crate::draw::Canvas,
    y: f64,
    (shown, scored, without): (usize, usize, u64),
    (which, file): (&str, &str),
) -> Result<(), DrawError> {
    use crate::draw::{Anchor, Ink, Label};
    let others = match (shown < scored, without > 0) {
        (false, false) => return Ok(()),
        (true, false) => format!("the others are in {file}"),
        (false, true) => "the others have no scores by model".into(),
        (true, true) => {
            format!("those with scores of their own are in {file}")
        }
    };
    let all = scored as u64 + without;
    let [shown, all] = [shown as u64, all].map(crate::numbers::count);
    let what = format!("{shown} of {all} models, {which};");
    let label = Label::new(Ink::Muted, Anchor::Start).size(12.0);
    if canvas.width() < 600.0 {
        canvas.text((4.0, y), &what, label)?;
        return canvas.text((4.0, y + 16.0), &others, label);
    }
    canvas.text((4.0, y), &format!("{what} {others}"), label)
}

/// How much room [`left_out`] takes.
const LEFT_OUT: f64 = 32.0;

/// The outcome of drawing.
enum Drawing {
    /// The chart, and the numbers that it shows.
    Shown(Picture, Rows),
    /// The folder has no data for it.
    Absent,
}

/// A chart of a report.
#[derive(Debug, Clone)]
pub struct Chart {
    /// Its entry in the registry.
    pub entry: &'static ChartEntry,
    /// The columns of its CSV file, in the unit of the run.
    pub columns: Vec<Told>,
    /// The chart in its two layouts; `None`: the folder has no data for it.
    pub drawn: Option<Layouts>,
}

/// One chart for two widths, and the numbers behind it.
#[derive(Debug, Clone)]
pub struct Layouts {
    wide: Picture,
    narrow: Picture,
    pub(crate) rows: Rows,
}

impl Layouts {
    /// For screens and paper: SVG without a style of its own, to stand inside the page.
    pub fn wide(&self) -> String {
        self.wide.svg()
    }

    /// Returns the chart as narrow as a phone.
    pub fn narrow(&self) -> String {
        self.narrow.svg()
    }

    /// The wide chart as a file of its own, light or dark by itself.
    pub fn file(&self) -> String {
        self.wide.stand_alone()
    }
}

impl Chart {
    /// The numbers behind the chart as CSV; `None` if the chart is left out.
    ///
    /// # Errors
    /// It could not be put together in memory.
    pub fn csv(&self) -> std::io::Result<Option<Vec<u8>>> {
        let drawn = self.drawn.as_ref();
        drawn
            .map(|layouts| csv(&self.columns, &layouts.rows))
            .transpose()
    }
}

const WIDE: f64 = 960.0;
const NARROW: f64 = 366.0;

/// Draws every chart of the registry.
pub fn draw_all(data: &ReportData) -> Result<Vec<Chart>, DrawError> {
    let grid = OnceCell::new();
    CHARTS
        .iter()
        .map(|entry| entry.chart(data, &grid))
        .collect()
}

/// Draws the chart of several runs alone.
pub(crate) fn history_chart(data: &ReportData) -> Result<Chart, DrawError> {
    history::ENTRY.chart(data, &OnceCell::new())
}

impl ChartEntry {
    fn chart<'d>(
        &'static self,
        data: &'d ReportData,
        grid: &'d OnceCell<Option<Grid<'d>>>,
    ) -> Result<Chart, DrawError> {
        let told = |column: &ChartColumn| (data.run.told(column.0), data.run.told(column.1));
        Ok(Chart {
            entry: self,
            columns: self.columns.iter().map(told).collect(),
            drawn: self.drawn(data, grid)?,
        })
    }

    fn drawn<'d>(
        &self,
        data: &'d ReportData,
        grid: &'d OnceCell<Option<Grid<'d>>>,
    ) -> Result<Option<Layouts>, DrawError> {
        let layout = |width: f64, suffix: &'static str| {
            let sheet = Sheet {
                name: self.name,
                suffix,
                caption: self.title,
                width,
                grid,
            };
            (self.draw)(data, sheet)
        };
        Ok(match layout(WIDE, "wide")? {
            Drawing::Absent => None,
            // What a layout has no room for, the other has: the numbers are those of the wide one.
            Drawing::Shown(wide, rows) => match layout(NARROW, "narrow")? {
                Drawing::Absent => None,
                Drawing::Shown(narrow, _) => Some(Layouts { wide, narrow, rows }),
            },
        })
    }
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
