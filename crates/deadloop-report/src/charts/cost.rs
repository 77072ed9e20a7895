//! Utility against lambda: what a cut healthy transcript costs decides which setting is the best one.

use super::{Drawing, Entry, Sheet};
use crate::data::{ReportData, Role, Score};
use crate::draw::{
    Anchor, Axis, Canvas, Dash, DrawError, Ink, Key, Label, Legend, Mark, Panel, Pen, Place,
    SERIES, names_beside,
};
use crate::look::Look;
use crate::numbers::decimal;
use crate::points::{Rows, setting};
use deadloop_score::Cell;

pub(super) static ENTRY: Entry = Entry {
    name: "cost",
    title: "What each setting is worth, by what a false alarm costs",
    reading: "Lambda is the cost of one cut healthy transcript in looping ones saved whole (interactive use 10, batch \
              3, test runs 1). 100 is an alarm at every onset and no other; below 0 it is better to have no detector. For \
              each mark of the axis, and this run's lambda, the setting of all replayed that is worth most there has a \
              line: the highest line at your lambda is the setting to take, whatever limit the run was given. In-sample \
              figures.",
    columns: &[
        ("setting", "its id, as in scores.csv"),
        (
            "name",
            "what it is called, by what it changes where it has no name",
        ),
        ("lambda", "what a cut healthy transcript costs"),
        (
            "utility",
            "0 no detector, 100 an alarm at every onset; a straight line in lambda",
        ),
    ],
    draw,
};

/// How many settings get a line because of who they are.
const NAMED: usize = 7;
const LAMBDAS: (f64, f64) = (0.1, 100.0);
const MARKED: [f64; 7] = [0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0];
/// Below this it does not matter any more how bad it is.
const WORST: f64 = -100.0;

/// A setting whose utility falls with lambda in a straight line.
struct Line {
    setting: usize,
    name: String,
    /// The name on a phone.
    brief: String,
    look: Look,
    worth: Worth,
}

/// Utility as a straight line in lambda.
#[derive(Clone, Copy)]
struct Worth {
    at_zero: f64,
    slope: f64,
}

impl Worth {
    fn at(self, lambda: f64) -> f64 {
        self.at_zero + self.slope * lambda
    }

    /// Where it falls below what is drawn, if it does.
    fn leaves(self) -> Option<f64> {
        (self.at(LAMBDAS.1) < WORST).then(|| ((WORST - self.at_zero) / self.slope).max(LAMBDAS.0))
    }
}

fn draw(data: &ReportData, sheet: Sheet<'_>) -> Result<Drawing, DrawError> {
    let lines = lines(data);
    if lines.is_empty() {
        return Ok(Drawing::Absent(
            "it needs the utility of settings, that is labelled loops and labelled clean text, and this folder lacks one of them",
        ));
    }
    let keys = lines.iter().map(|line| key(line, sheet.narrow()));
    let widest = if sheet.narrow() { 330.0 } else { 700.0 };
    let legend = Legend::new(keys.collect(), sheet.width - 8.0, widest);
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
    below(data, (&canvas, &panel), &lines)?;
    Ok(Drawing::Shown(canvas.finish()?, rows(data, &lines)))
}

/// Each line at the marks of the axis and where the run stands.
fn rows(data: &ReportData, lines: &[Line]) -> Rows {
    let lambdas = lambdas(data);
    let row = |line: &Line, lambda: f64| {
        let [id, _] = setting(data, line.setting);
        let figures = [lambda, line.worth.at(lambda)].map(|figure| Cell::Float(Some(figure)));
        let name = Cell::text(data.describe(line.setting));
        [id, name].into_iter().chain(figures).collect()
    };
    let lines = lines.iter();
    lines
        .flat_map(|line| lambdas.iter().map(move |lambda| row(line, *lambda)))
        .collect()
}

fn at(line: &Line, lambda: f64) -> String {
    decimal(Some(line.worth.at(lambda)))
}

/// The marks of the axis, and where the run stands.
fn lambdas(data: &ReportData) -> Vec<f64> {
    let mut lambdas = MARKED.to_vec();
    lambdas.extend(data.run.worth.map(|(_, lambda)| lambda));
    lambdas.sort_by(f64::total_cmp);
    lambdas.dedup();
    lambdas
}

/// A line that leaves the plot before the run's lambda: what it is worth there, where it leaves.
fn below(
    data: &ReportData,
    (canvas, panel): (&Canvas, &Panel<'_>),
    lines: &[Line],
) -> Result<(), DrawError> {
    let Some((_, lambda)) = data.run.worth else {
        return Ok(());
    };
    let mut named = Vec::new();
    for line in lines {
        let Some(leaves) = line.worth.leaves().filter(|leaves| *leaves < lambda) else {
            continue;
        };
        let told = format!("{} at {lambda}", at(line, lambda));
        panel.title(format!("{}: {told}", line.name)).mark(
            (leaves, WORST),
            Mark::TriangleDown,
            4.6,
            line.look.ink(),
        )?;
        let (x, y) = panel.at(leaves, WORST);
        named.push(((x, y - 8.0), told));
    }
    let named: Vec<_> = named
        .iter()
        .map(|(at, told)| (*at, Some(told.as_str())))
        .collect();
    names_beside(canvas, &named, Some(panel.at(lambda, 0.0).0))
}

/// The line as far as it is not worse than the worst that is drawn.
fn curve(line: &Line) -> Vec<(f64, f64)> {
    let steps = 120;
    let ratio = LAMBDAS.1 / LAMBDAS.0;
    let point = |n: i32| {
        let lambda = LAMBDAS.0 * ratio.powf(f64::from(n) / f64::from(steps));
        (lambda, line.worth.at(lambda))
    };
    (0..=steps)
        .map(point)
        .take_while(|point| point.1 >= WORST)
        .collect()
}

/// Chosen and current settings, the named ones that are worth most where the run stands, and what is best somewhere.
fn lines(data: &ReportData) -> Vec<Line> {
    let all: Vec<(&Score, Worth)> = data
        .together()
        .filter(|score| data.settings[score.setting].role != Role::Floor)
        .filter_map(|score| Some((score, straight(data, score)?)))
        .collect();
    let mut list: Vec<(u8, f64, Line)> = all
        .iter()
        .filter_map(|(score, worth)| {
            let setting = &data.settings[score.setting];
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
            let line = Line {
                setting: score.setting,
                brief: name.clone(),
                name,
                look,
                worth: *worth,
            };
            Some((rank, -score.utility?, line))
        })
        .collect();
    list.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let mut lines: Vec<Line> = Vec::new();
    for (_, _, mut line) in list.into_iter().take(NAMED) {
        if lines
            .iter()
            .any(|other| looks_like(&other.look, &line.look))
        {
            line.look = unused(&lines);
        }
        lines.push(line);
    }
    for (setting, worth, from, to) in best(data, &all) {
        if lines.iter().any(|line| line.setting == setting) {
            continue;
        }
        let at = match from < to {
            true => format!("{from} to {to}"),
            false => from.to_string(),
        };
        lines.push(Line {
            setting,
            name: format!("best at lambda {at}: {}", called(data, setting)),
            brief: format!("best at lambda {at}: {}", id(data, setting)),
            look: unused(&lines),
            worth,
        });
    }
    lines
}

/// The id of a setting, and its name where that is another.
fn called(data: &ReportData, setting: usize) -> String {
    let id = id(data, setting);
    match data.describe(setting) {
        name if name == id => name,
        name => format!("{id}, {name}"),
    }
}

fn id(data: &ReportData, setting: usize) -> &str {
    data.settings.get(setting).map_or("", |one| &one.id)
}

fn looks_like(a: &Look, b: &Look) -> bool {
    a.ink() == b.ink() && a.pen.dash == b.pen.dash
}

/// A look whose ink no line has yet, as long as there is one; then one whose ink and dashes no line has together.
fn unused(lines: &[Line]) -> Look {
    let inks = SERIES.len() - 2;
    let look = |n: usize| {
        let mut look = Look::other(n);
        // Ink and dashes come round together; a step further they make other pairs.
        look.pen.dash = Dash::nth(1 + n + n / (2 * inks));
        look
    };
    let mut all = (0..4 * inks).map(look);
    let is_new = |look: &Look| lines.iter().all(|line| !looks_like(&line.look, look));
    let is_free = |look: &Look| lines.iter().all(|line| line.look.ink() != look.ink());
    let free = all.clone().find(is_free).or_else(|| all.find(is_new));
    free.unwrap_or_else(|| Look::other(lines.len()))
}

/// The setting that is worth most at each of the lambdas, and from which to which; none where no detector is better.
fn best(data: &ReportData, all: &[(&Score, Worth)]) -> Vec<(usize, Worth, f64, f64)> {
    let mut list: Vec<(usize, Worth, f64, f64)> = Vec::new();
    for lambda in lambdas(data) {
        let most = all.iter().reduce(|a, b| {
            if b.1.at(lambda) > a.1.at(lambda) {
                b
            } else {
                a
            }
        });
        let Some((score, worth)) = most.filter(|most| most.1.at(lambda) > 0.0) else {
            continue;
        };
        match list.last_mut().filter(|last| last.0 == score.setting) {
            Some(last) => last.3 = lambda,
            None => list.push((score.setting, *worth, lambda, lambda)),
        }
    }
    list
}

/// Utility as a straight line in lambda: its value at 0 and its slope (scoring.md: only what is cut wrongly costs).
fn straight(data: &ReportData, score: &Score) -> Option<Worth> {
    let (pi, lambda) = data.run.worth?;
    let share = |part: u64, whole: u64| (whole > 0).then(|| part as f64 / whole as f64);
    let cut = share(score.premature + score.stale, score.loops)?;
    let fpr = share(score.false_alarm, score.clean)?;
    let slope = -100.0 * (cut + (1.0 - pi) / pi * fpr);
    Some(Worth {
        at_zero: score.utility? - slope * lambda,
        slope,
    })
}

fn key(line: &Line, narrow: bool) -> Key {
    let name = if narrow { &line.brief } else { &line.name };
    Key {
        name: name.clone(),
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
        let worth = straight(&data, &score).unwrap();
        assert!((worth.at(1.0) - 35.5).abs() < 1e-9);
    }

    #[test]
    fn no_two_lines_look_alike() {
        let mut lines: Vec<Line> = Vec::new();
        for setting in 0..15 {
            let look = unused(&lines);
            assert!(lines.iter().all(|line| !looks_like(&line.look, &look)));
            let worth = Worth {
                at_zero: 0.0,
                slope: 0.0,
            };
            lines.push(Line {
                setting,
                name: String::new(),
                brief: String::new(),
                look,
                worth,
            });
        }
    }

    #[test]
    fn the_highest_line_at_every_mark_is_drawn() {
        let cell = |setting, false_alarm, utility| Score {
            setting,
            model: crate::data::ALL_MODELS.into(),
            loops: 10,
            clean: 100,
            false_alarm,
            utility: Some(utility),
            ..Score::default()
        };
        let setting = |id: &str| crate::data::Setting {
            id: id.into(),
            label: None,
            role: Role::Cell,
            params: Vec::new(),
        };
        let data = ReportData {
            run: Run {
                worth: Some((0.5, 1.0)),
                ..Run::default()
            },
            settings: ["careful", "eager", "worse"].map(setting).to_vec(),
            // At lambda 1; the second loses 10 for each lambda and the third is below it everywhere.
            scores: vec![cell(0, 0, 40.0), cell(1, 10, 60.0), cell(2, 10, 50.0)],
            ..ReportData::default()
        };
        let names: Vec<String> = lines(&data).into_iter().map(|line| line.name).collect();
        assert_eq!(
            names,
            [
                "best at lambda 0.1 to 1: eager",
                "best at lambda 3 to 100: careful"
            ]
        );
    }
}
