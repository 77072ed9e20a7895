//! The operating curve: recall against wrong alarms per million clean chars, a line per model.

mod own;

use super::{ChartEntry, Drawing, LEFT_OUT, Sheet, left_out};
use crate::data::{ALL_MODELS, ReportData, Role, Score};
use crate::draw::{
    Anchor, Axis, Canvas, Dash, DrawError, Ink, Key, Label, Legend, Mark, Panel, Pen, Place,
    names_beside,
};
use crate::look::Look;
use crate::numbers::{decimal, percent};
use crate::points::{Rows, setting};
use deadloop_score::TableCell;
use deadloop_score::measure::RECALL;
use own::{Own, models, own_marks, own_points};

pub(super) static ENTRY: ChartEntry = ChartEntry {
    name: "operating",
    title: "Recall against wrong alarms",
    reading: "Up and left is better: each step of a line is the highest recall (share of loops found) that any setting \
              reaches with at most that many wrong alarms per million clean chars. Large marks are all models \
              together; small ones, in the colour and shape of a model's line, the setting in use (hollow) and what settings.toml holds (filled). \
              All of them are in-sample, the star too: held-out figures stand at the top of the page \
              and in the table of what each model gets.",
    columns: &[
        (
            "mark",
            "best: a step of the model's line; else what the setting is",
        ),
        ("model", "the model, * for all together"),
        (
            "setting",
            "its id, as in scores.csv; none where the line begins",
        ),
        ("name", "what it is called"),
        ("recall", "share of the loops that are found"),
        ("fa_per_mchar", "wrong alarms per million clean chars"),
    ],
    draw,
};

/// How many models get a line of their own; the file has the marks of all.
const MODELS: usize = 7;
/// Their shapes: with the ink no two models look alike.
const SHAPES: [Mark; MODELS] = [
    Mark::Square,
    Mark::Triangle,
    Mark::Diamond,
    Mark::TriangleDown,
    Mark::Pentagon,
    Mark::Disc,
    Mark::Star,
];
/// Inks of the models; the first two of the series belong to current and chosen.
const INKS: [Ink; 6] = [
    Ink::Third,
    Ink::Fourth,
    Ink::Fifth,
    Ink::Sixth,
    Ink::Seventh,
    Ink::Eighth,
];

/// One line: a model and its best recall at each rate of wrong alarms.
struct Curve<'d> {
    model: &'d str,
    pen: Pen,
    /// The shape of its marks; `None` for the curve of all models together.
    shape: Option<Mark>,
    points: Vec<(f64, f64)>,
    /// The setting of each point; `None` for the point at which the line begins.
    settings: Vec<Option<usize>>,
}

/// A setting that is marked.
struct Point {
    /// What it is: `chosen`, `best in-sample`, `in use`, `named`, `never`.
    role: &'static str,
    setting: usize,
    name: String,
    at: (f64, f64),
    mark: Mark,
    ink: Ink,
    radius: f64,
    /// Whether its name stands beside it: there are more settings than shapes that a legend can tell apart.
    beside: bool,
}

fn draw(data: &ReportData, sheet: Sheet<'_>) -> Result<Drawing, DrawError> {
    let points = points(data);
    if points.is_empty() && data.together().all(|score| place(data, score).is_none()) {
        return Ok(Drawing::Absent);
    }
    let curves = curves(data);
    let legend = Legend::new(keys(&curves, &points), sheet.width - 8.0, 300.0);
    let top = legend.height() + 40.0;
    let plot = if sheet.narrow() { 290.0 } else { 400.0 };
    let canvas = sheet.canvas(top + plot + 50.0 + LEFT_OUT);
    legend.draw(&canvas, 4.0, 4.0)?;
    let place = Place {
        left: 50.0,
        top,
        right: sheet.width - 16.0,
        bottom: top + plot,
    };
    let x = x_axis(data, &curves, &points);
    let panel = Panel::new(&canvas, place, x, Axis::share(5));
    panel.axes(data.run.wrong_name(false), "recall")?;
    limit(data, &canvas, &panel)?;
    for curve in curves.iter().rev() {
        panel.title(curve.model).steps(&curve.points, curve.pen)?;
    }
    own_marks(data, (&canvas, &panel), &curves)?;
    for point in points.iter().rev() {
        panel
            .title(format!("{}: {}", point.name, told(data, point.at)))
            .mark(point.at, point.mark, point.radius, point.ink)?;
    }
    let named: Vec<_> = points
        .iter()
        .map(|point| {
            let name = point.beside.then_some(point.name.as_str());
            (panel.at(point.at.0, point.at.1), name)
        })
        .collect();
    let limit = data.run.limit.map(|limit| panel.at(limit, 0.0).0);
    names_beside(&canvas, &named, limit)?;
    let models = models(data);
    let drawn = curves.iter().filter(|curve| curve.shape.is_some()).count();
    if drawn > 0 {
        let counts = (drawn, models.len(), data.run.models_left_out);
        // A model without clean text has no rate of wrong alarms, however many loops it has.
        let which = "of those with most loops and clean text";
        let told = (which, "operating.csv");
        left_out(&canvas, top + plot + 58.0, counts, told)?;
    }
    let own: Vec<Own<'_>> = models
        .into_iter()
        .filter(|_| drawn > 0)
        .flat_map(|model| own_points(data, model))
        .collect();
    Ok(Drawing::Shown(
        canvas.finish()?,
        rows(data, (&curves, &own, &points)),
    ))
}

fn rows(data: &ReportData, (curves, own, points): (&[Curve<'_>], &[Own<'_>], &[Point])) -> Rows {
    let row = |mark: &str, model: &str, at: Option<usize>, (fa, recall): (f64, f64)| {
        let which = at.map_or([TableCell::Text(None), TableCell::Text(None)], |at| {
            setting(data, at)
        });
        let names = [mark, model].map(TableCell::text).into_iter().chain(which);
        names
            .chain([recall, fa].map(|figure| TableCell::Float(Some(figure))))
            .collect()
    };
    let steps = curves.iter().flat_map(|curve| {
        let steps = curve.points.iter().zip(&curve.settings);
        steps.map(move |(at, setting)| row("best", curve.model, *setting, *at))
    });
    let own = own
        .iter()
        .map(|one| row(one.role, one.model, Some(one.setting), one.at));
    let marks = points
        .iter()
        .map(|point| row(point.role, ALL_MODELS, Some(point.setting), point.at));
    marks.chain(own).chain(steps).collect()
}

fn told(data: &ReportData, (fa, recall): (f64, f64)) -> String {
    format!(
        "recall {}, {} {}",
        percent(Some(recall)),
        decimal(Some(fa)),
        data.run.wrong_name(false)
    )
}

/// Where a score stands, if both figures are defined.
fn place(data: &ReportData, score: &Score) -> Option<(f64, f64)> {
    Some((score.value(data.run.wrong())?, score.value(&RECALL)?))
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
    let pen = |n: usize| Pen::dashed(INKS[n % INKS.len()], 1.8, Dash::nth(n + n / INKS.len()));
    let own = models(data)
        .into_iter()
        .zip(SHAPES)
        .enumerate()
        .map(|(n, (model, shape))| (model, pen(n), Some(shape)));
    std::iter::once((ALL_MODELS, Pen::solid(Ink::Text, 2.8), None))
        .chain(own)
        .map(|(model, pen, shape)| {
            let (points, settings) = envelope(data, model).into_iter().unzip();
            Curve {
                model,
                pen,
                shape,
                points,
                settings,
            }
        })
        .filter(|curve| curve.points.len() > 1)
        .collect()
}

/// The highest recall at each rate of wrong alarms, rising, each with its setting; it starts at (0, 0), where `never`
/// stands.
fn envelope(data: &ReportData, model: &str) -> Vec<((f64, f64), Option<usize>)> {
    let usable = |score: &&Score| {
        score.model == model
            && data
                .settings
                .get(score.setting)
                .is_some_and(|setting| setting.role != Role::Never)
    };
    let scores = data.scores.iter().filter(usable);
    let mut all: Vec<((f64, f64), Option<usize>)> = scores
        .filter_map(|score| Some((place(data, score)?, Some(score.setting))))
        .collect();
    all.sort_by(|(a, _), (b, _)| a.0.total_cmp(&b.0).then(b.1.total_cmp(&a.1)));
    if all.is_empty() {
        return Vec::new();
    }
    let mut best = vec![((0.0, 0.0), None)];
    for (point, setting) in all {
        if best.last().is_some_and(|(last, _)| point.1 > last.1) {
            best.push((point, setting));
        }
    }
    best
}

/// Current, chosen, other named settings and `never`, of all models together. Those that are more than a legend can tell
/// apart are small and have their names beside them.
fn points(data: &ReportData) -> Vec<Point> {
    let mut points: Vec<Point> = data
        .together()
        .filter_map(|score| Some((score.setting, place(data, score)?)))
        .flat_map(|(setting, at)| marks(data, setting, at))
        .collect();
    let rank = |point: &Point| {
        let leading = data.leading().iter().position(|at| *at == point.setting);
        (!is_star(point), point.role == "never", leading)
    };
    points.sort_by_key(rank);
    for point in &mut points {
        if !is_star(point) && rank(point).2 >= Some(Look::DISTINCT) {
            (point.mark, point.ink, point.radius) = (Mark::Disc, Ink::Axis, 4.0);
            point.beside = true;
        }
    }
    points
}

/// The chosen setting, or the best of a search.
fn is_star(point: &Point) -> bool {
    matches!(point.role, "chosen" | "best in-sample")
}

/// The marks of a setting: one as the chosen one, one as itself.
fn marks(data: &ReportData, setting: usize, at: (f64, f64)) -> Vec<Point> {
    let point = |role, name: String, mark, ink, radius| Point {
        role,
        setting,
        name,
        at,
        mark,
        ink,
        radius,
        beside: false,
    };
    let mut marks = Vec::new();
    if data.chosen() == Some(setting) {
        marks.push(point(
            "chosen",
            "chosen".into(),
            Mark::Star,
            Ink::Chosen,
            7.0,
        ));
    }
    if data.best() == Some(setting) {
        let name = "best in-sample".into();
        marks.push(point("best in-sample", name, Mark::Star, Ink::Chosen, 7.0));
    }
    let Some(this) = data.settings.get(setting) else {
        return marks;
    };
    let look = || Look::of(data, setting);
    let itself = match this.role {
        Role::Cell => return marks,
        Role::Never => {
            let name = format!("{}: no guard at all", this.id);
            point("never", name, Mark::TriangleDown, Ink::Muted, 5.0)
        }
        Role::InUse => point(
            "in use",
            data.describe(setting),
            look().mark,
            look().ink(),
            5.8,
        ),
        Role::Named => point(
            "named",
            data.describe(setting),
            look().mark,
            look().ink(),
            5.8,
        ),
    };
    marks.push(itself);
    marks
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
        mark: curve.shape.map(|shape| (shape, curve.pen.ink)),
    });
    let marks = points
        .iter()
        .filter(|point| !point.beside)
        .map(|point| Key {
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

/// From 0 past everything that is drawn.
fn x_axis(data: &ReportData, curves: &[Curve<'_>], points: &[Point]) -> Axis {
    let rates = curves
        .iter()
        .flat_map(|curve| &curve.points)
        .chain(points.iter().map(|point| &point.at));
    Axis::rates(rates.map(|at| at.0).chain(data.run.limit))
}
