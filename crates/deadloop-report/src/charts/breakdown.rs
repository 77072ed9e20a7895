//! Recall by where the loop starts and by what kind it is.

use super::{ChartEntry, Drawing, Sheet};
use crate::data::ReportData;
use crate::draw::{
    Anchor, Axis, Canvas, Dot, DrawError, Ink, Key, Label, Legend, Place, Rows, measure,
};
use crate::numbers::{count, percent, range};
use crate::points::{Rows as Data, ends};
use crate::series::{Breakdown, Series, series};
use deadloop_score::TableCell;

pub(super) static ENTRY: ChartEntry = ChartEntry {
    name: "breakdown",
    title: "Recall by onset and by kind",
    reading: "A dot is the share of loops found, its line the 95 % Wilson interval; n is how many loops there are, for the first and the second \
              setting where they differ. A \
              detector that stops looking somewhere shows here as a recall of 0 from that onset on.",
    columns: &[
        ("by", "onset or kind"),
        (
            "value",
            "where the loop begins, in chars (of a run: in calls or turns), or its kind",
        ),
        ("name", "the setting, or the choice of each model"),
        ("loops", "loops with that value"),
        ("hit", "of which found"),
        ("recall", "hit / loops"),
        ("recall_lo", "lower end of the 95 % Wilson interval"),
        ("recall_hi", "upper end of it"),
    ],
    draw,
};

/// How many settings stand in a row.
const SETTINGS: usize = 2;
const HEAD: f64 = 26.0;
/// The width of the names and counts.
const LABELS: f64 = 208.0;

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
    let parts = [Breakdown::by_onset(data), Breakdown::by_kind(data)];
    let row = 16.0 + 13.0 * list.len() as f64;
    let heights: Vec<f64> = parts
        .iter()
        .map(|part| part.parts.len() as f64 * row + HEAD + 60.0)
        .collect();
    let body = if sheet.narrow() {
        heights.iter().sum()
    } else {
        heights.iter().copied().fold(0.0, f64::max)
    };
    let canvas = sheet.canvas(legend.height() + 14.0 + body);
    legend.draw(&canvas, 4.0, 4.0)?;
    let (mut left, mut top) = (0.0, legend.height() + 14.0);
    let width = if sheet.narrow() {
        sheet.width
    } else {
        sheet.width / 2.0
    };
    for (part, height) in parts.iter().zip(&heights) {
        let place = Place {
            left: left + LABELS,
            top: top + HEAD,
            right: left + width - 24.0,
            bottom: top + height - 50.0,
        };
        panel(&canvas, place, part, &list)?;
        if sheet.narrow() {
            top += height
        } else {
            left += width
        }
    }
    let rows = parts.iter().flat_map(|part| rows(part, &list));
    Ok(Drawing::Shown(canvas.finish()?, rows.collect()))
}

fn rows(part: &Breakdown, list: &[Series<'_>]) -> Data {
    let row = |(at, series): (usize, &Series<'_>)| {
        let found = part.recall(series, at);
        let names = [part.title, &part.parts[at], &series.name].map(TableCell::text);
        let counts = [found.of, found.hits].map(TableCell::count);
        let names = names.into_iter().chain(counts);
        names.chain(ends(found.share())).collect()
    };
    (0..part.parts.len())
        .flat_map(|at| list.iter().map(move |series| (at, series)))
        .map(row)
        .collect()
}

fn panel(
    canvas: &Canvas,
    place: Place,
    part: &Breakdown,
    list: &[Series<'_>],
) -> Result<(), DrawError> {
    let edge = place.left - LABELS + 4.0;
    let title = Label::new(Ink::Text, Anchor::Start).bold();
    canvas.text(
        (edge, place.top - 13.0),
        &format!("by {}", part.title),
        title,
    )?;
    let rows = Rows::new(
        canvas,
        place,
        Axis::share(if canvas.width() < 600.0 { 2 } else { 5 }),
        part.parts.len(),
        "recall",
    )?;
    for (row, name) in part.parts.iter().enumerate() {
        let y = rows.middle(row);
        let n = loops(part, row, list);
        let room = place.left - 20.0 - edge - measure(&n, 12.0);
        canvas.text_within((edge, y), name, room, Label::new(Ink::Text, Anchor::Start))?;
        canvas.text(
            (place.left - 8.0, y),
            &n,
            Label::new(Ink::Muted, Anchor::End).size(12.0),
        )?;
        let dots: Vec<Dot> = list.iter().map(|series| dot(part, row, series)).collect();
        rows.dots(row, &dots, 0.0)?;
    }
    Ok(())
}

/// How many loops there are, for each setting where they differ: `n = 79 / 77`.
fn loops(part: &Breakdown, row: usize, list: &[Series<'_>]) -> String {
    let mut counts: Vec<u64> = list
        .iter()
        .map(|series| part.recall(series, row).of)
        .collect();
    counts.dedup();
    let counts: Vec<String> = counts.into_iter().map(count).collect();
    format!("n = {}", counts.join(" / "))
}

fn dot(part: &Breakdown, row: usize, series: &Series<'_>) -> Dot {
    let found = part.recall(series, row);
    let at = found.share();
    let title = format!(
        "{}, {}: {} of {} found, {} ({})",
        series.name,
        part.parts[row],
        found.hits,
        found.of,
        percent(at.value),
        range(at, percent)
    );
    Dot {
        title,
        at,
        mark: series.look.mark,
        ink: series.look.ink(),
    }
}

fn key(series: &Series<'_>) -> Key {
    Key {
        name: series.name.clone(),
        pen: None,
        mark: Some((series.look.mark, series.look.ink())),
    }
}
