//! What each setting spares, by how often production loops: where a line crosses 0, the guard pays for itself.

use super::{ChartEntry, Drawing, Sheet};
use crate::data::{ALL_MODELS, ReportData, Score};
use crate::draw::{
    Anchor, Axis, Canvas, Dash, DrawError, Ink, Key, Label, Legend, Mark, Panel, Pen, Place,
    measure,
};
use crate::look::Look;
use crate::numbers::{chars, count, percent};
use crate::points::{Rows, setting};
use deadloop_score::TableCell;
use deadloop_score::measure::BREAK_EVEN;

pub(super) static ENTRY: ChartEntry = ChartEntry {
    name: "cost",
    title: "What each setting spares, by how often production loops",
    reading: "Along the bottom the share of your responses that loop, up the side the chars that the setting spares in 1,000 of them: \
              the loops that it ends, less what a wrong alarm throws away and makes generate again. A ring where a line \
              crosses 0: from that share on the guard pays for itself; below it, running without one is cheaper. \
              The highest line at your share spares most. In-sample figures.",
    columns: &[
        ("setting", "its id, as in scores.csv"),
        ("name", "what it is called"),
        ("share", "of the responses that loop"),
        ("spared", "chars that are spared in 1,000 responses"),
        (
            "break_even",
            "the share from which on it pays; none: at no share, or at every one",
        ),
    ],
    draw,
};

/// Presets that have a line, besides what is in use, the chosen one and the recommended guard.
const PRESETS: usize = 3;
/// The shares that are drawn.
const SHARES: (f64, f64) = (0.0001, 0.3);
const MARKED: [f64; 8] = [0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3];
/// Points of a line between its ends.
const STEPS: i32 = 160;

/// A setting: what it spares is a straight line in the share.
struct Line<'d> {
    score: &'d Score,
    name: String,
    look: Look,
    /// Where it crosses 0 among the shares that are drawn.
    crosses: Option<f64>,
}

fn draw(data: &ReportData, sheet: Sheet<'_>) -> Result<Drawing, DrawError> {
    let lines = lines(data);
    if lines.is_empty() {
        return Ok(Drawing::Absent);
    }
    let y = heights(&lines);
    let keys = lines.iter().map(|line| key(line, y.low())).collect();
    let widest = if sheet.narrow() { 330.0 } else { 460.0 };
    let legend = Legend::new(keys, sheet.width - 8.0, widest);
    let top = legend.height() + 56.0;
    let plot = if sheet.narrow() { 260.0 } else { 340.0 };
    let canvas = sheet.canvas(top + plot + 50.0);
    legend.draw(&canvas, 4.0, 4.0)?;
    let place = Place {
        left: beside(&y),
        top,
        right: sheet.width - 26.0,
        bottom: top + plot,
    };
    let (low, high) = (y.low(), y.high());
    let x = Axis::log_shares(SHARES.0, SHARES.1, &MARKED);
    let panel = Panel::new(&canvas, place, x, y);
    panel.axes(
        "share of the responses that loop",
        &data.run.told(ENTRY.columns[3].1),
    )?;
    panel.line(
        &[(SHARES.0, 0.0), (SHARES.1, 0.0)],
        Pen::solid(Ink::Axis, 1.4),
    )?;
    if let Some(rate) = data.run.worth.loop_rate {
        this_run(&canvas, &panel, rate, (low, high))?;
    }
    for line in lines.iter().rev() {
        spared(&panel, data, line, (low, high))?;
    }
    Ok(Drawing::Shown(canvas.finish()?, rows(data, &lines)))
}

/// Marks the share that was given, where the axis has it.
fn this_run(
    canvas: &Canvas,
    panel: &Panel<'_>,
    pi: f64,
    (low, high): (f64, f64),
) -> Result<(), DrawError> {
    if !(SHARES.0..=SHARES.1).contains(&pi) {
        return Ok(());
    }
    let pen = Pen::dashed(Ink::Muted, 1.4, Dash::Dashed);
    panel.line(&[(pi, low), (pi, high)], pen)?;
    // Below, beside its line: above stands what the axis counts.
    let at = panel.at(pi, low);
    let label = Label::new(Ink::Muted, Anchor::Start).size(12.0);
    let told = format!("this run: {}", percent(Some(pi)));
    canvas.text((at.0 + 5.0, at.1 - 10.0), &told, label)
}

/// Draws the line of a setting, and a ring where it crosses 0.
fn spared(
    panel: &Panel<'_>,
    data: &ReportData,
    line: &Line<'_>,
    (low, high): (f64, f64),
) -> Result<(), DrawError> {
    let given = data.run.worth.loop_rate.map_or(String::new(), |rate| {
        let spared = chars(line.score.spared(rate));
        format!(
            ": {spared} {} where {} loop",
            data.run.unit,
            percent(Some(rate))
        )
    });
    let title = format!("{}{given}", line.name);
    let points: Vec<(f64, f64)> = shares()
        .filter_map(|share| Some((share, line.score.spared(share)?)))
        .filter(|(_, net)| (low..=high).contains(net))
        .collect();
    panel.title(title).line(&points, line.look.pen)?;
    if let Some(share) = line.crosses {
        let title = format!("{}: {}", line.name, pays(share));
        panel
            .title(title)
            .mark((share, 0.0), Mark::Ring, 5.0, line.look.ink())?;
    }
    Ok(())
}

/// The room for what stands beside the axis: tokens are in the millions.
fn beside(axis: &Axis) -> f64 {
    let widths = axis.ticks().iter().map(|(_, text)| measure(text, 12.0));
    widths.fold(64.0, f64::max) + 12.0
}

/// Each line at the marks of the axis and at the share that was given.
fn rows(data: &ReportData, lines: &[Line<'_>]) -> Rows {
    let mut shares = MARKED.to_vec();
    shares.extend(data.run.worth.loop_rate);
    shares.sort_by(f64::total_cmp);
    shares.dedup();
    let row = |line: &Line<'_>, share: f64| {
        let [id, _] = setting(data, line.score.setting);
        let even = line.score.value(&BREAK_EVEN).filter(|share| *share > 0.0);
        let figures = [Some(share), line.score.spared(share), even].map(TableCell::Float);
        let named = [id, TableCell::text(line.name.as_str())].into_iter();
        named.chain(figures).collect()
    };
    let all = lines.iter();
    all.flat_map(|line| shares.iter().map(move |share| row(line, *share)))
        .collect()
}

fn shares() -> impl Iterator<Item = f64> {
    let ratio = SHARES.1 / SHARES.0;
    (0..=STEPS).map(move |n| SHARES.0 * ratio.powf(f64::from(n) / f64::from(STEPS)))
}

/// `pays from 1 in 240 on`.
fn pays(share: f64) -> String {
    format!("pays from 1 in {} on", count((1.0 / share).round() as u64))
}

/// What it is called, and from where on it pays; it may lie below all that is drawn.
fn key(line: &Line<'_>, low: f64) -> Key {
    let pays = match (line.score.value(&BREAK_EVEN), line.crosses) {
        _ if line.score.spared(SHARES.1) < Some(low) => " · below all of this".to_owned(),
        (_, Some(share)) => format!(" · {}", pays(share)),
        (Some(0.0), _) => " · no wrong alarm here".to_owned(),
        (Some(share), None) if share < SHARES.0 => format!(" · {}", pays(share)),
        (None, _) if line.score.spared(SHARES.1) < Some(0.0) => " · never pays".to_owned(),
        _ => String::new(),
    };
    Key {
        name: format!("{}{pays}", line.name),
        pen: Some(line.look.pen),
        mark: None,
    }
}

/// From the lowest to the highest.
fn heights(lines: &[Line<'_>]) -> Axis {
    let ends = lines.iter().flat_map(|line| {
        let at = [SHARES.0, SHARES.1].map(|share| line.score.spared(share));
        at.into_iter().flatten()
    });
    let (low, high) = ends.fold((0.0, 0.0), |(low, high): (f64, f64), at| {
        (low.min(at), high.max(at))
    });
    Axis::signed(low, high)
}

/// What is in use, the chosen one, the recommended guard, and a few presets. Without a guard nothing is spared: that is the
/// line of 0.
fn lines(data: &ReportData) -> Vec<Line<'_>> {
    let (chosen, in_use) = (data.chosen().or(data.best()), data.in_use());
    let is_recommended = |at: &usize| {
        let label = data.settings[*at].label.as_deref().unwrap_or_default();
        label
            .split(", ")
            .any(|name| name.starts_with("recommended"))
    };
    let mut shown: Vec<usize> = in_use.into_iter().chain(chosen).collect();
    let named = data.leading().iter().copied();
    shown.extend(named.clone().filter(is_recommended));
    shown.extend(
        named
            .filter(|at| !is_recommended(at) && in_use != Some(*at))
            .take(PRESETS),
    );
    let mut seen = std::collections::BTreeSet::new();
    shown.retain(|at| seen.insert(*at));
    shown
        .into_iter()
        .filter_map(|at| line(data, at, chosen))
        .collect()
}

fn line(data: &ReportData, at: usize, chosen: Option<usize>) -> Option<Line<'_>> {
    let score = data.score(at, ALL_MODELS)?;
    score.spared(SHARES.0)?;
    let (name, look) = match chosen == Some(at) {
        true if data.chosen() == Some(at) => ("chosen".to_owned(), Look::CHOSEN),
        true => ("best in-sample".to_owned(), Look::CHOSEN),
        false => (data.describe(at), Look::of(data, at)),
    };
    let even = score.value(&BREAK_EVEN);
    Some(Line {
        score,
        name,
        look,
        crosses: even.filter(|share| (SHARES.0..=SHARES.1).contains(share)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use deadloop_score::{Count, Tally, Worth};

    /// S = 420 chars a loop, W = 350 a clean transcript.
    #[test]
    fn a_line_crosses_0_at_its_break_even() {
        let mut tally = Tally::default();
        for (count, n) in [
            (Count::Hit, 6),
            (Count::Earlier, 1),
            (Count::Premature, 1),
            (Count::Miss, 2),
            (Count::FalseAlarm, 1),
            (Count::Quiet, 19),
            (Count::Saved, 10_100),
            (Count::CutAt, 900),
            (Count::FalseAt, 2000),
        ] {
            tally[count] = n;
        }
        let score = Score {
            tally,
            worth: Worth {
                response: 5000.0,
                ..Worth::default()
            },
            ..Score::default()
        };
        let even = score.value(&BREAK_EVEN).unwrap();
        assert!((even - 350.0 / 770.0).abs() < 1e-12);
        assert!(score.spared(even).unwrap().abs() < 1e-6);
    }
}
