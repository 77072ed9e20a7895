//! The Pareto front of recall, wrong alarms and delay: two of them are the axes, the third is the tint.

use super::{ChartEntry, Drawing, Sheet};
use crate::data::{ReportData, Role, Score};
use crate::draw::{Axis, DrawError, Ink, Key, Legend, Mark, Panel, Place, SEQUENCE};
use crate::numbers::{chars, decimal, percent};
use crate::points::{Rows, setting};
use crate::tables::front;
use deadloop_score::TableCell;
use deadloop_score::measure::{DELAY, RECALL};

pub(super) static ENTRY: ChartEntry = ChartEntry {
    name: "pareto",
    title: "The settings that no other one beats",
    reading: "Each point is a setting of the grid such that no other has a higher recall, fewer wrong alarms and a \
              shorter delay at once; the darker it is, the longer the delay (on dark paper, the lighter). What stands \
              below and right of another point is there for its shorter delay. The axis of recall shows no more than the \
              range that there is.",
    columns: &[
        ("setting", "its id, as in scores.csv"),
        ("name", "what it is called"),
        ("recall", "share of the loops that are found"),
        ("fa_per_mchar", "wrong alarms per million clean chars"),
        (
            "delay",
            "mean chars of a loop before it is cut, a miss costing all of it",
        ),
        (
            "chosen",
            "1 for the setting that the file holds for all models",
        ),
    ],
    draw,
};

/// Tints of the delay, from short to long: the palest would hardly be seen.
const TINTS: [Ink; 4] = [SEQUENCE[2], SEQUENCE[3], SEQUENCE[5], SEQUENCE[6]];

fn draw(data: &ReportData, sheet: Sheet<'_>) -> Result<Drawing, DrawError> {
    let cells = data
        .settings
        .iter()
        .filter(|setting| setting.role == Role::Cell);
    let front = front(data);
    if cells.count() < 2 || front.len() < 2 {
        return Ok(Drawing::Absent);
    }
    let points: Vec<Point> = front.iter().filter_map(|s| point(data, s)).collect();
    let bounds = bounds(points.iter().map(|point| point.2).collect());
    let tint = |delay: f64| TINTS[bounds.iter().filter(|bound| delay > **bound).count()];
    let is_chosen = |at: usize| data.chosen() == Some(at);
    let has_chosen = points.iter().any(|point| is_chosen(point.3));
    let legend = Legend::new(
        keys(&bounds, has_chosen.then_some("chosen")),
        sheet.width - 8.0,
        300.0,
    );
    let top = legend.height() + 40.0;
    let plot = if sheet.narrow() { 270.0 } else { 360.0 };
    let canvas = sheet.canvas(top + plot + 50.0);
    legend.draw(&canvas, 4.0, 4.0)?;
    let place = Place {
        left: 50.0,
        top,
        right: sheet.width - 16.0,
        bottom: top + plot,
    };
    let panel = Panel::new(
        &canvas,
        place,
        Axis::rates(points.iter().map(|point| point.0)),
        Axis::shares_of(points.iter().map(|point| point.1), 5),
    );
    panel.axes(data.run.wrong_name(false), "recall")?;
    let others = points.iter().rev().filter(|point| !is_chosen(point.3));
    let chosen = points.iter().filter(|point| is_chosen(point.3));
    for (fa, recall, delay, setting) in others.chain(chosen) {
        let title = format!(
            "{}: recall {}, {} {}, delay {}",
            data.describe(*setting),
            percent(Some(*recall)),
            decimal(Some(*fa)),
            data.run.wrong_name(false),
            chars(Some(*delay))
        );
        let (mark, radius, ink) = if is_chosen(*setting) {
            (Mark::Star, 8.0, Ink::Chosen)
        } else {
            (Mark::Disc, 4.6, tint(*delay))
        };
        panel.title(title).mark((*fa, *recall), mark, radius, ink)?;
    }
    Ok(Drawing::Shown(canvas.finish()?, rows(data, &points)))
}

/// The rate of wrong alarms, the recall, the delay, and whose they are.
type Point = (f64, f64, f64, usize);

fn point(data: &ReportData, score: &Score) -> Option<Point> {
    let [fa, recall, delay] = [data.run.wrong(), &RECALL, &DELAY].map(|m| score.value(m));
    Some((fa?, recall?, delay?, score.setting))
}

fn rows(data: &ReportData, points: &[Point]) -> Rows {
    let row = |(fa, recall, delay, at): &Point| {
        let figures = [*recall, *fa, *delay].map(|figure| TableCell::Float(Some(figure)));
        let chosen = TableCell::count(u64::from(data.chosen() == Some(*at)));
        setting(data, *at)
            .into_iter()
            .chain(figures)
            .chain([chosen])
            .collect()
    };
    points.iter().map(row).collect()
}

/// Where one tint ends and the next begins: as many points in each.
fn bounds(mut delays: Vec<f64>) -> Vec<f64> {
    delays.sort_by(f64::total_cmp);
    let at = |n: usize| delays.get(n * delays.len().saturating_sub(1) / TINTS.len());
    (1..TINTS.len()).filter_map(|n| at(n).copied()).collect()
}

/// The tints, and the chosen setting where it is among the points.
fn keys(bounds: &[f64], chosen: Option<&str>) -> Vec<Key> {
    let chars = |bound: f64| chars(Some(bound));
    let name = |n: usize| match (n, bounds.get(n)) {
        (0, Some(to)) => format!("delay to {}", chars(*to)),
        (_, Some(to)) => format!("to {}", chars(*to)),
        (_, None) => "longer".to_owned(),
    };
    let key = |name: String, mark| Key {
        name,
        pen: None,
        mark: Some(mark),
    };
    let tints = TINTS.iter().enumerate();
    let chosen = chosen.map(|name| key(name.into(), (Mark::Star, Ink::Chosen)));
    tints
        .map(|(n, ink)| key(name(n), (Mark::Disc, *ink)))
        .chain(chosen)
        .collect()
}
