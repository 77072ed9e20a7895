//! Utility against lambda: what a cut healthy transcript costs decides which setting is the best one.

use super::{Drawing, Entry, Sheet};
use crate::data::{ReportData, Role, Score};
use crate::draw::{Anchor, Axis, Dash, DrawError, Ink, Key, Label, Legend, Panel, Pen, Place};
use crate::look::Look;
use crate::numbers::decimal;
use crate::points::{Rows, setting};
use deadloop_score::Cell;

pub(super) static ENTRY: Entry = Entry {
    name: "cost",
    title: "What each setting is worth, by what a false alarm costs",
    reading: "Lambda is the cost of one cut healthy transcript in looping ones saved whole (interactive use 10, batch \
              3, test runs 1). 100 is an alarm at every onset and no other; below 0 it is better to have no detector. \
              The highest line at your lambda is the setting to take.",
    columns: &[
        ("setting", "its id, as in scores.csv"),
        ("name", "what it is called"),
        ("lambda", "what a cut healthy transcript costs"),
        (
            "utility",
            "0 no detector, 100 an alarm at every onset; a straight line in lambda",
        ),
    ],
    draw,
};

/// How many settings get a line.
const LINES: usize = 7;
const LAMBDAS: (f64, f64) = (0.1, 100.0);
const MARKED: [f64; 7] = [0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0];
/// Below this it does not matter any more how bad it is.
const WORST: f64 = -100.0;

/// A setting whose utility falls with lambda in a straight line.
struct Line {
    setting: usize,
    name: String,
    look: Look,
    at_zero: f64,
    slope: f64,
}

fn draw(data: &ReportData, sheet: Sheet<'_>) -> Result<Drawing, DrawError> {
    let lines = lines(data);
    if lines.is_empty() {
        return Ok(Drawing::Absent(
            "it needs the utility of settings, that is labelled loops and labelled clean text, and this folder lacks one of them",
        ));
    }
    let legend = Legend::new(lines.iter().map(key).collect(), sheet.width - 8.0, 300.0);
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
    let x = Axis::log(LAMBDAS.0, LAMBDAS.1, &MARKED);
    let panel = Panel::new(&canvas, place, x, Axis::nice(WORST, 100.0, 8));
    panel.axes("lambda", "utility")?;
    panel.line(
        &[(LAMBDAS.0, 0.0), (LAMBDAS.1, 0.0)],
        Pen::solid(Ink::Axis, 1.4),
    )?;
    if let Some((_, lambda)) = data.run.worth {
        let pen = Pen::dashed(Ink::Muted, 1.4, Dash::Dashed);
        panel.line(&[(lambda, WORST), (lambda, 100.0)], pen)?;
        let at = panel.at(lambda, 100.0);
        let label = Label::new(Ink::Muted, Anchor::Middle).size(12.0);
        canvas.text((at.0, at.1 - 10.0), "this run", label)?;
    }
    for line in lines.iter().rev() {
        let title = format!(
            "{}: {} at lambda 1, {} at 10",
            line.name,
            at(line, 1.0),
            at(line, 10.0)
        );
        panel.title(title).line(&curve(line), line.look.pen)?;
    }
    Ok(Drawing::Shown(canvas.finish()?, rows(data, &lines)))
}

/// Each line at the marks of the axis and where the run stands.
fn rows(data: &ReportData, lines: &[Line]) -> Rows {
    let mut lambdas = MARKED.to_vec();
    lambdas.extend(data.run.worth.map(|(_, lambda)| lambda));
    lambdas.sort_by(f64::total_cmp);
    lambdas.dedup();
    let row = |line: &Line, lambda: f64| {
        let [id, _] = setting(data, line.setting);
        let utility = line.at_zero + line.slope * lambda;
        let figures = [lambda, utility].map(|figure| Cell::Float(Some(figure)));
        let name = Cell::text(line.name.as_str());
        [id, name].into_iter().chain(figures).collect()
    };
    let lines = lines.iter();
    lines
        .flat_map(|line| lambdas.iter().map(move |lambda| row(line, *lambda)))
        .collect()
}

fn at(line: &Line, lambda: f64) -> String {
    decimal(Some(line.at_zero + line.slope * lambda))
}

/// The line as far as it is not worse than the worst that is drawn.
fn curve(line: &Line) -> Vec<(f64, f64)> {
    let steps = 120;
    let ratio = LAMBDAS.1 / LAMBDAS.0;
    let point = |n: i32| {
        let lambda = LAMBDAS.0 * ratio.powf(f64::from(n) / f64::from(steps));
        (lambda, line.at_zero + line.slope * lambda)
    };
    (0..=steps)
        .map(point)
        .take_while(|point| point.1 >= WORST)
        .collect()
}

/// Chosen and current settings, then the named ones that are worth most where the run stands.
fn lines(data: &ReportData) -> Vec<Line> {
    let mut list: Vec<(u8, f64, Line)> = data
        .together()
        .filter_map(|score| {
            let setting = data.settings.get(score.setting)?;
            let chosen = data.pooled() == Some(score.setting);
            let rank = match setting.role {
                _ if chosen => 0,
                Role::Current => 1,
                Role::Named => 2,
                Role::Floor | Role::Cell => return None,
            };
            let (name, look) = match chosen {
                true => ("chosen".to_owned(), Look::CHOSEN),
                false => (data.describe(score.setting), Look::of(data, score.setting)),
            };
            let (at_zero, slope) = straight(data, score)?;
            let line = Line {
                setting: score.setting,
                name,
                look,
                at_zero,
                slope,
            };
            Some((rank, -score.utility?, line))
        })
        .collect();
    list.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
    list.into_iter()
        .map(|(_, _, line)| line)
        .take(LINES)
        .collect()
}

/// Utility as a straight line in lambda: its value at 0 and its slope (scoring.md: only what is cut wrongly costs).
fn straight(data: &ReportData, score: &Score) -> Option<(f64, f64)> {
    let (pi, lambda) = data.run.worth?;
    let share = |part: u64, whole: u64| (whole > 0).then(|| part as f64 / whole as f64);
    let cut = share(score.premature + score.stale, score.loops)?;
    let fpr = share(score.false_alarm, score.clean)?;
    let slope = -100.0 * (cut + (1.0 - pi) / pi * fpr);
    Some((score.utility? - slope * lambda, slope))
}

fn key(line: &Line) -> Key {
    Key {
        name: line.name.clone(),
        pen: Some(line.look.pen),
        mark: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Run;

    #[test]
    fn utility_is_taken_apart_as_scoring_md_puts_it_together() {
        // The example of deadloop-score: -99.5 at lambda 10, 35.5 at lambda 1, pi = 0.5.
        let score = Score {
            loops: 10,
            clean: 20,
            premature: 1,
            false_alarm: 1,
            utility: Some(-99.5),
            ..Score::default()
        };
        let run = Run {
            worth: Some((0.5, 10.0)),
            ..Run::default()
        };
        let data = ReportData {
            run,
            ..ReportData::default()
        };
        let (at_zero, slope) = straight(&data, &score).unwrap();
        assert!((at_zero + slope - 35.5).abs() < 1e-9, "{at_zero} {slope}");
    }
}
