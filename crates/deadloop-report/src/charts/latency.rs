//! Latency: the share of all loops found within so many chars of their onset.

use super::{ChartEntry, Drawing, Sheet};
use crate::data::ReportData;
use crate::draw::{Axis, DrawError, Key, Legend, Panel, Place};
use crate::look::Look;
use crate::numbers::percent;
use crate::points::Rows;
use crate::series::{Series, series};
use deadloop_score::TableCell;

pub(super) static ENTRY: ChartEntry = ChartEntry {
    name: "latency",
    title: "How soon after its onset a loop is found",
    reading: "The line's height at N is the share of all loops found within N characters of their onset; misses stay \
              in the denominator, so that each line ends at its recall. Measured on all of the transcripts, those the choice was made on included.",
    columns: &[
        ("name", "the setting, or the choice of each model"),
        ("chars", "after the onset"),
        ("found", "share of all loops found within so many chars"),
    ],
    draw,
};

const SETTINGS: usize = 5;
const FROM: f64 = 50.0;
const MARKED: [f64; 10] = [
    50.0, 100.0, 200.0, 500.0, 1000.0, 2000.0, 5000.0, 10_000.0, 20_000.0, 50_000.0,
];

fn draw(data: &ReportData, sheet: Sheet<'_>) -> Result<Drawing, DrawError> {
    let list: Vec<Series<'_>> = series(data, SETTINGS)
        .into_iter()
        .filter(|series| series.loops() > 0)
        .collect();
    if list.is_empty() {
        return Ok(Drawing::Absent);
    }
    let keys = list.iter().map(key).collect();
    let legend = Legend::new(keys, sheet.width - 8.0, 420.0);
    let top = legend.height() + 40.0;
    let plot = if sheet.narrow() { 260.0 } else { 340.0 };
    let canvas = sheet.canvas(top + plot + 50.0);
    legend.draw(&canvas, 4.0, 4.0)?;
    let place = Place {
        left: 50.0,
        top,
        right: sheet.width - 26.0,
        bottom: top + plot,
    };
    let longest = list
        .iter()
        .filter_map(|series| series.latencies().last().copied())
        .fold(5000.0, f64::max);
    let panel = Panel::new(
        &canvas,
        place,
        Axis::log(FROM, longest, &MARKED),
        Axis::share(5),
    );
    panel.axes("chars after the onset", "share of all loops found")?;
    let curves: Vec<_> = list
        .iter()
        .map(|series| (series, incidence(series, longest)))
        .collect();
    for (series, curve) in curves.iter().rev() {
        let Look { mark, pen } = series.look;
        panel.title(series.name.as_str()).steps(curve, pen)?;
        if let Some(&end) = curve.last() {
            let title = format!("{}: recall {}", series.name, percent(Some(end.1)));
            panel.title(title).mark(end, mark, 5.5, pen.ink)?;
        }
    }
    let rows = curves
        .iter()
        .flat_map(|(series, curve)| rows(series, curve));
    Ok(Drawing::Shown(canvas.finish()?, rows.collect()))
}

fn rows(series: &Series<'_>, curve: &[(f64, f64)]) -> Rows {
    let row = |(chars, found): &(f64, f64)| {
        let name = TableCell::text(series.name.as_str());
        vec![
            name,
            TableCell::Float(Some(*chars)),
            TableCell::Float(Some(*found)),
        ]
    };
    curve.iter().map(row).collect()
}

/// The share found by each latency, from the axis' start to its end.
fn incidence(series: &Series<'_>, longest: f64) -> Vec<(f64, f64)> {
    let (latencies, loops) = (series.latencies(), series.loops() as f64);
    let start = latencies.iter().filter(|&&latency| latency <= FROM).count();
    let mut curve = vec![(FROM, start as f64 / loops)];
    let mut at = start;
    while at < latencies.len() {
        let here = latencies[at];
        at = latencies.partition_point(|&latency| latency <= here);
        curve.push((here, at as f64 / loops));
    }
    curve.push((longest, latencies.len() as f64 / loops));
    curve
}

fn key(series: &Series<'_>) -> Key {
    let recall = series.recall(|_| true).share();
    let Look { mark, pen } = series.look;
    Key {
        name: format!("{} · recall {}", series.name, percent(recall.value)),
        pen: Some(pen),
        mark: Some((mark, pen.ink)),
    }
}
