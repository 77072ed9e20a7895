//! The operating curve: recall against false alarms per million clean chars, a line per model.

use super::{Drawing, Entry, Sheet};
use crate::data::{ALL_MODELS, ReportData, Role, Score};
use crate::draw::{
    Anchor, Axis, Canvas, Dash, DrawError, Ink, Key, Label, Legend, Mark, Panel, Pen, Place,
};
use crate::look::Look;
use crate::numbers::{decimal, percent};

pub(super) static ENTRY: Entry = Entry {
    name: "operating",
    title: "Recall against false alarms",
    reading: "Up and left is better: each step of a line is the highest recall (share of loops found) that any setting \
              reaches with at most that many false alarms per million clean characters. Large marks are all models \
              together; small ones, in a line's colour, that model's current (disc) and chosen (star) setting.",
    draw,
};

/// How many models get a line of their own.
const MODELS: usize = 7;
/// Inks of the models; the first two of the series belong to current and chosen.
const INKS: [Ink; 6] = [
    Ink::Third,
    Ink::Fourth,
    Ink::Fifth,
    Ink::Sixth,
    Ink::Seventh,
    Ink::Eighth,
];

/// One line: a model and its best recall at each rate of false alarms.
struct Curve<'d> {
    model: &'d str,
    pen: Pen,
    points: Vec<(f64, f64)>,
}

/// A setting that is marked.
struct Point {
    name: String,
    at: (f64, f64),
    mark: Mark,
    ink: Ink,
    radius: f64,
}

fn draw(data: &ReportData, sheet: Sheet<'_>) -> Result<Drawing, DrawError> {
    let points = points(data);
    if points.is_empty() && data.together().all(|score| place(score).is_none()) {
        return Ok(Drawing::Absent(
            "it needs labelled loops and labelled clean text, and this folder lacks one of them",
        ));
    }
    let curves = curves(data);
    let legend = Legend::new(keys(&curves, &points), sheet.width - 8.0, 300.0);
    let top = legend.height() + 40.0;
    let plot = if sheet.narrow() { 290.0 } else { 400.0 };
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
        x_axis(data, &curves, &points),
        Axis::share(5),
    );
    panel.axes("false alarms per million clean chars", "recall")?;
    limit(data, &canvas, &panel)?;
    for curve in curves.iter().rev() {
        panel.title(curve.model).steps(&curve.points, curve.pen)?;
    }
    curves
        .iter()
        .try_for_each(|curve| own_points(data, &panel, curve))?;
    for point in points.iter().rev() {
        panel
            .title(format!("{}: {}", point.name, told(point.at)))
            .mark(point.at, point.mark, point.radius, point.ink)?;
    }
    Ok(Drawing::Svg(canvas.finish()?))
}

/// Small marks on a model's line: its current and its chosen setting, in the shapes of the large ones.
fn own_points(data: &ReportData, panel: &Panel<'_>, curve: &Curve<'_>) -> Result<(), DrawError> {
    let settings = [
        ("current", data.current(), Mark::Disc, 3.2),
        ("chosen", data.chosen_for(curve.model), Mark::Star, 4.4),
    ];
    for (name, setting, mark, radius) in settings {
        let score = setting
            .filter(|_| curve.model != ALL_MODELS)
            .and_then(|at| data.score(at, curve.model));
        if let Some(at) = score.and_then(place) {
            let title = format!("{}, {name}: {}", curve.model, told(at));
            panel.title(title).mark(at, mark, radius, curve.pen.ink)?;
        }
    }
    Ok(())
}

fn told((fa, recall): (f64, f64)) -> String {
    format!(
        "recall {}, {} false alarms per million clean chars",
        percent(Some(recall)),
        decimal(Some(fa))
    )
}

/// Where a score stands, if both figures are defined.
fn place(score: &Score) -> Option<(f64, f64)> {
    Some((score.fa.value?, score.recall.value?))
}

/// All models together first, then those with the most loops; only where the cells of a grid make a line.
fn curves(data: &ReportData) -> Vec<Curve<'_>> {
    if !data
        .settings
        .iter()
        .any(|setting| setting.role == Role::Cell)
    {
        return Vec::new();
    }
    let mut models: Vec<(&str, u64)> = Vec::new();
    for score in data.scores.iter().filter(|score| score.model != ALL_MODELS) {
        match models.iter_mut().find(|model| model.0 == score.model) {
            Some(model) => model.1 = model.1.max(score.loops),
            None => models.push((&score.model, score.loops)),
        }
    }
    models.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
    let pen = |n: usize| Pen::dashed(INKS[n % INKS.len()], 1.8, Dash::nth(n + n / INKS.len()));
    let own = models
        .into_iter()
        .take(MODELS)
        .enumerate()
        .map(|(n, (model, _))| (model, pen(n)));
    std::iter::once((ALL_MODELS, Pen::solid(Ink::Text, 2.8)))
        .chain(own)
        .map(|(model, pen)| Curve {
            model,
            pen,
            points: envelope(data, model),
        })
        .filter(|curve| curve.points.len() > 1)
        .collect()
}

/// The highest recall at each rate of false alarms, rising; it starts at (0, 0), where `never` stands.
fn envelope(data: &ReportData, model: &str) -> Vec<(f64, f64)> {
    let usable = |score: &&Score| {
        score.model == model
            && data
                .settings
                .get(score.setting)
                .is_some_and(|setting| setting.role != Role::Floor)
    };
    let mut all: Vec<(f64, f64)> = data
        .scores
        .iter()
        .filter(usable)
        .filter_map(place)
        .collect();
    all.sort_by(|a, b| a.0.total_cmp(&b.0).then(b.1.total_cmp(&a.1)));
    if all.is_empty() {
        return Vec::new();
    }
    let mut best = vec![(0.0, 0.0)];
    for point in all {
        if best.last().is_some_and(|last| point.1 > last.1) {
            best.push(point);
        }
    }
    best
}

/// Current, chosen, other named settings and floors, of all models together.
fn points(data: &ReportData) -> Vec<Point> {
    let pooled = data.pooled();
    let mut points: Vec<Point> = Vec::new();
    for score in data.together() {
        let (Some(at), Some(setting)) = (place(score), data.settings.get(score.setting)) else {
            continue;
        };
        if pooled == Some(score.setting) {
            points.push(Point {
                name: "chosen".into(),
                at,
                mark: Mark::Star,
                ink: Ink::Chosen,
                radius: 7.0,
            });
        }
        match setting.role {
            Role::Floor => {
                let mark = floor_mark(&setting.id);
                points.push(Point {
                    name: format!("floor: {}", setting.id),
                    at,
                    mark,
                    ink: Ink::Muted,
                    radius: 5.0,
                });
            }
            Role::Current | Role::Named => {
                let look = Look::of(data, score.setting);
                points.push(Point {
                    name: data.describe(score.setting),
                    at,
                    mark: look.mark,
                    ink: look.ink(),
                    radius: 5.8,
                });
            }
            Role::Cell => {}
        }
    }
    points.sort_by_key(|point| {
        (
            point.name != "chosen",
            point.ink != Ink::Current,
            point.ink == Ink::Muted,
        )
    });
    points
}

fn floor_mark(id: &str) -> Mark {
    match id {
        "never" => Mark::TriangleDown,
        "random" => Mark::Cross,
        _ => Mark::Ring,
    }
}

fn keys(curves: &[Curve<'_>], points: &[Point]) -> Vec<Key> {
    let name = |model: &str| {
        if model == ALL_MODELS {
            "all models".to_owned()
        } else {
            model.to_owned()
        }
    };
    let lines = curves.iter().map(|curve| Key {
        name: name(curve.model),
        pen: Some(curve.pen),
        mark: None,
    });
    let marks = points.iter().map(|point| Key {
        name: point.name.clone(),
        pen: None,
        mark: Some((point.mark, point.ink)),
    });
    marks.chain(lines).collect()
}

fn limit(data: &ReportData, canvas: &Canvas, panel: &Panel<'_>) -> Result<(), DrawError> {
    let Some(limit) = data.run.limit else {
        return Ok(());
    };
    let (top, bottom) = (panel.at(limit, 1.0), panel.at(limit, 0.0));
    canvas.line(&[top, bottom], Pen::dashed(Ink::Limit, 1.6, Dash::Dashed))?;
    let text = format!("limit: {limit}");
    let at = top.0.clamp(110.0, canvas.width() - 40.0);
    canvas.text(
        (at, top.1 - 11.0),
        &text,
        Label::new(Ink::Limit, Anchor::Middle).size(12.0),
    )
}

/// From 0 past everything that is drawn; the even part ends at the power of ten below the smallest rate.
fn x_axis(data: &ReportData, curves: &[Curve<'_>], points: &[Point]) -> Axis {
    let rates = curves
        .iter()
        .flat_map(|curve| &curve.points)
        .chain(points.iter().map(|point| &point.at));
    let positive: Vec<f64> = rates.map(|at| at.0).filter(|&rate| rate > 0.0).collect();
    let least = positive.iter().copied().fold(1.0, f64::min);
    let most = positive
        .iter()
        .copied()
        .chain(data.run.limit)
        .fold(1.0, f64::max);
    Axis::symlog(
        10f64.powf(least.log10().floor()).clamp(0.1, 1.0),
        most * 1.3,
    )
}
