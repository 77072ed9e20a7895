//! The chart of latency: the share of loops found, by distance from the onset.

use super::{CHART_PIXELS, ChartArea, ChartEntry, format_share, style_legend, style_mesh};
use crate::data::ReportData;
use crate::draw::{DrawError, Picture, elide};
use crate::numbers::{format_plain, percent};
use crate::series::{Series, select_series};
use crate::visible::visible;
use deadloop_score::replay::detect::Unit;
use plotters::prelude::*;

pub(super) static ENTRY: ChartEntry = ChartEntry {
    name: "latency",
    title: "How soon after its onset a loop is found",
    reading: "The line's height at N is the share of all loops found within N chars of their onset; misses stay \
              in the denominator, so that each line ends at its recall. The figures are in-sample.",
    draw,
};

/// The maximum number of settings with a line.
const MAX_SETTINGS: usize = 5;

/// Returns the start of the axis of latencies in a unit, the least end of the axis, and its possible ticks.
fn axis_scale(unit: Unit) -> (f64, f64, &'static [f64]) {
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

fn draw(data: &ReportData) -> Result<Option<Picture>, DrawError> {
    let mut list = select_series(data, MAX_SETTINGS);
    list.retain(|series| series.loops() > 0);
    if list.is_empty() {
        return Ok(None);
    }
    let (start, least_end, ticks) = axis_scale(data.run.unit);
    let longest = list
        .iter()
        .filter_map(|series| series.latencies().last().copied());
    let longest = longest.fold(least_end, f64::max);
    let inside = ticks.iter().copied().filter(|at| *at <= longest);
    let ticks: Vec<f64> = inside.collect();
    let draw = |area: &ChartArea<'_>| {
        let mut chart = ChartBuilder::on(area)
            .margin(10)
            .margin_right(32)
            .x_label_area_size(44)
            .y_label_area_size(62)
            .build_cartesian_2d(
                (start..longest).log_scale().with_key_points(ticks.clone()),
                0.0..1.0,
            )?;
        let unit = data.run.in_unit("chars after the onset");
        style_mesh(&mut chart.configure_mesh())
            .x_label_formatter(&|x| format_plain(*x, 3))
            .y_label_formatter(&format_share)
            .x_desc(unit)
            .y_desc("share of all loops found")
            .draw()?;
        for series in &list {
            let color = series.ink.color();
            let name = format!(
                "{} · recall {}",
                visible(&series.name),
                percent(series.recall())
            );
            chart
                .draw_series(LineSeries::new(
                    cumulative_share(series, (start, longest)),
                    color.stroke_width(3),
                ))?
                .label(elide(&name, 380.0, 13.0))
                .legend(move |(x, y)| {
                    Rectangle::new([(x, y - 2), (x + 18, y + 2)], color.filled())
                });
        }
        style_legend(&mut chart.configure_series_labels())
            .position(SeriesLabelPosition::UpperLeft)
            .draw()?;
        Ok(())
    };
    Picture::new((ENTRY.name, ENTRY.title), CHART_PIXELS, draw).map(Some)
}

/// Returns the corners of the step curve of the share of loops found by each latency, from the start to the end of the
/// axis.
fn cumulative_share(series: &Series<'_>, (start, end): (f64, f64)) -> Vec<(f64, f64)> {
    let (latencies, loops) = (series.latencies(), series.loops() as f64);
    let mut at = latencies.partition_point(|&latency| latency <= start);
    let mut curve = vec![(start, at as f64 / loops)];
    while at < latencies.len() {
        let here = latencies[at];
        curve.push((here, at as f64 / loops));
        at = latencies.partition_point(|&latency| latency <= here);
        curve.push((here, at as f64 / loops));
    }
    curve.push((end, at as f64 / loops));
    curve
}
