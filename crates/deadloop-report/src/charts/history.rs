//! The same measures of several runs, in their order.

use super::{ChartEntry, Drawing, Sheet};
use crate::data::{History, ReportData};
use crate::draw::{
    Anchor, Axis, Canvas, Dash, DrawError, Ink, Key, Label, Legend, Mark, Panel, Pen, Place,
    SERIES, elide, measure,
};
use crate::numbers::writer;
use crate::points::{Rows, ends};
use deadloop_score::measure::MeasureUnit;
use deadloop_score::{Metric, TableCell};

pub(super) static ENTRY: ChartEntry = ChartEntry {
    name: "history",
    title: "Runs over time",
    reading: "Runs from left to right, in the order in which they were named: shares above, where higher is better, then \
              wrong alarms and delay, where lower is better. A gap is a run in which a measure is n/a.",
    columns: &[
        ("run", "the folder of the run"),
        ("made", "when it was made"),
        ("measure", "as in scores.csv"),
        ("value", "of all models together"),
        ("lo", "lower end of the 95 % interval"),
        ("hi", "upper end"),
    ],
    draw,
};

/// The heights of a panel of shares and of one of another measure.
const HEIGHTS: (f64, f64) = (240.0, 120.0);
/// Between two panels, where the name of the lower one is.
const GAP: f64 = 46.0;
/// What each share is drawn with; another dash each, for who sees no colours.
const DASHES: [Dash; 3] = [Dash::Solid, Dash::Dashed, Dash::Dotted];
const MARKS: [Mark; 3] = [Mark::Disc, Mark::Square, Mark::Diamond];

fn draw(data: &ReportData, sheet: Sheet<'_>) -> Result<Drawing, DrawError> {
    let Some(history) = data.history.as_ref().filter(|one| !one.runs.is_empty()) else {
        return Ok(Drawing::Absent);
    };
    let is_share = |at: &usize| history.measures[*at].unit == MeasureUnit::Share;
    let (shares, others): (Vec<usize>, Vec<usize>) =
        (0..history.measures.len()).partition(is_share);
    let keys = shares.iter().enumerate().map(|(n, at)| Key {
        name: history.measures[*at].title_in(history.unit).into_owned(),
        pen: Some(pen(n)),
        mark: Some((MARKS[n % MARKS.len()], pen(n).ink)),
    });
    let legend = Legend::new(keys.collect(), sheet.width - 8.0, 240.0);
    let top = legend.height() + 36.0;
    let height = top + HEIGHTS.0 + others.len() as f64 * (GAP + HEIGHTS.1) + 40.0;
    let canvas = sheet.canvas(height);
    legend.draw(&canvas, 4.0, 4.0)?;
    let place = |top: f64, height: f64| Place {
        left: 56.0,
        top,
        right: sheet.width - 16.0,
        bottom: top + height,
    };
    let slots = || Axis::slots(history.runs.len());
    let panel = Panel::new(&canvas, place(top, HEIGHTS.0), slots(), Axis::share(5));
    panel.axes("", "share")?;
    for (n, at) in shares.iter().enumerate() {
        line(&panel, history, *at, n)?;
    }
    let mut bottom = top + HEIGHTS.0;
    for at in others {
        let measure = history.measures[at];
        let most = values(history, at)
            .map(|(_, value)| value)
            .fold(0.0, f64::max);
        let axis = Axis::nice(0.0, most, 4);
        let lower = Panel::new(&canvas, place(bottom + GAP, HEIGHTS.1), slots(), axis);
        lower.axes("", &measure.title_in(history.unit))?;
        line(&lower, history, at, 0)?;
        bottom += GAP + HEIGHTS.1;
    }
    names(&canvas, &panel, history, bottom)?;
    Ok(Drawing::Shown(canvas.finish()?, rows(history)))
}

fn pen(n: usize) -> Pen {
    Pen::dashed(SERIES[n % SERIES.len()], 2.0, DASHES[n % DASHES.len()])
}

/// The runs in which a measure has a value, by their number.
fn values(history: &History, at: usize) -> impl Iterator<Item = (usize, f64)> {
    let runs = history.runs.iter().enumerate();
    runs.filter_map(move |(n, run)| Some((n, run.figures.get(at)?.value?)))
}

fn line(panel: &Panel<'_>, history: &History, at: usize, n: usize) -> Result<(), DrawError> {
    let measure: Metric = history.measures[at];
    let points: Vec<(usize, f64)> = values(history, at).collect();
    for part in points.chunk_by(|a, b| b.0 == a.0 + 1) {
        let part: Vec<(f64, f64)> = part.iter().map(|(n, value)| (*n as f64, *value)).collect();
        if part.len() > 1 {
            panel.line(&part, pen(n))?;
        }
    }
    let write = writer(measure);
    for (run, value) in points {
        let name = &history.runs[run].name;
        let title = format!(
            "{name}: {} {}",
            measure.title_in(history.unit),
            write(Some(value))
        );
        let mark = MARKS[n % MARKS.len()];
        panel
            .title(title)
            .mark((run as f64, value), mark, 4.5, pen(n).ink)?;
    }
    Ok(())
}

/// The names of the runs below the last panel; of many every second, third, … one.
fn names(
    canvas: &Canvas,
    panel: &Panel<'_>,
    history: &History,
    bottom: f64,
) -> Result<(), DrawError> {
    const LEAST: f64 = 64.0;
    let x = |n: usize| panel.at(n as f64, 0.0).0;
    let slot = x(1) - x(0);
    let step = (LEAST / slot).ceil().max(1.0);
    let room = (slot * step - 8.0).min(180.0);
    let label = Label::new(Ink::Muted, Anchor::Middle).size(12.0);
    for (n, run) in history.runs.iter().enumerate().step_by(step as usize) {
        let name = elide(&run.name, room, 12.0);
        let half = measure(&name, 12.0) / 2.0;
        let at = x(n).clamp(half + 2.0, canvas.width() - half - 2.0);
        canvas.title(run.name.as_str());
        canvas.text((at, bottom + 16.0), &name, label)?;
    }
    Ok(())
}

fn rows(history: &History) -> Rows {
    let of_run = |run: &crate::data::PastRun| {
        let figures = run.figures.iter().zip(&history.measures);
        let row = |(at, measure): (&crate::numbers::Estimate, &Metric)| {
            let names = [run.name.as_str(), run.when.as_str(), measure.name];
            let names = names.into_iter().map(TableCell::text);
            names.chain(ends(*at)).collect::<Vec<_>>()
        };
        figures.map(row).collect::<Vec<_>>()
    };
    history.runs.iter().flat_map(of_run).collect()
}
