//! Latency: the share of all loops that were found within a distance of their onset, by that distance in chars or calls.

use super::{ChartEntry, DrawnChart, WIDTH};
use crate::data::ReportData;
use crate::draw::{Axis, DrawError, Key, Legend, Panel, Place};
use crate::look::Look;
use crate::numbers::percent;
use crate::points::Rows;
use crate::series::{Series, series};
use deadloop_score::TableCell;
use deadloop_score::replay::detect::Unit;

pub(super) static ENTRY: ChartEntry = ChartEntry {
    name: "latency",
    title: "How soon after its onset a loop is found",
    reading: "The line's height at N is the share of all loops found within N chars of their onset; misses stay \
              in the denominator, so that each line ends at its recall. Measured on all of the transcripts, those the choice was made on included.",
    columns: &[
        ("name", "the setting, or the choice of each model"),
        ("chars", "after the onset"),
        (
            "found",
            "share of all loops found within that number of chars",
        ),
    ],
    draw,
};

const SETTINGS: usize = 5;

/// The axis of latencies in a unit: where it begins, where it ends at the earliest, its marks.
fn scale(unit: Unit) -> (f64, f64, &'static [f64]) {
    match unit {
        Unit::Chars => (
            50.0,
            5000.0,
            &[50.0, 100.0, 200.0, 500.0, 1e3, 2e3, 5e3, 1e4, 2e4, 5e4],
        ),
        Unit::Calls | Unit::Turns => (
            1.0,
            20.0,
            &[
                1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1e3, 1e4, 1e5,
            ],
        ),
    }
}

fn draw(data: &ReportData) -> Result<Option<DrawnChart>, DrawError> {
    let list: Vec<Series<'_>> = series(data, SETTINGS)
        .into_iter()
        .filter(|series| series.loops() > 0)
        .collect();
    if list.is_empty() {
        return Ok(None);
    }
    let keys = list.iter().map(key).collect();
    let legend = Legend::new(keys, WIDTH - 8.0, 420.0);
    let top = legend.height() + 40.0;
    let plot = 320.0;
    let canvas = ENTRY.canvas(top + plot + 50.0);
    legend.draw(&canvas, 4.0, 4.0)?;
    let place = Place {
        left: 50.0,
        top,
        right: WIDTH - 26.0,
        bottom: top + plot,
    };
    let (from, least, marks) = scale(data.run.unit);
    let longest = list
        .iter()
        .filter_map(|series| series.latencies().last().copied())
        .fold(least, f64::max);
    let panel = Panel::new(
        &canvas,
        place,
        Axis::log(from, longest, marks),
        Axis::share(5),
    );
    panel.axes(
        &data.run.told("chars after the onset"),
        "share of all loops found",
    )?;
    let curves: Vec<_> = list
        .iter()
        .map(|series| (series, incidence(series, (from, longest))))
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
    Ok(Some(DrawnChart {
        picture: canvas.finish()?,
        rows: rows.collect(),
    }))
}

fn rows(series: &Series<'_>, curve: &[(f64, f64)]) -> Rows {
    let row = |(latency, found): &(f64, f64)| {
        let name = TableCell::text(series.name.as_str());
        vec![
            name,
            TableCell::Float(Some(*latency)),
            TableCell::Float(Some(*found)),
        ]
    };
    curve.iter().map(row).collect()
}

/// The share found by each latency, from the axis' start to its end.
fn incidence(series: &Series<'_>, (from, longest): (f64, f64)) -> Vec<(f64, f64)> {
    let (latencies, loops) = (series.latencies(), series.loops() as f64);
    let start = latencies.iter().filter(|&&latency| latency <= from).count();
    let mut curve = vec![(from, start as f64 / loops)];
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
