//! A window's settings: the threshold against the cost, and against the runs that overflow, presets marked.

use std::collections::BTreeMap;

use super::data::{BudgetPoint, World};
use crate::draw::{
    Anchor, Axis, Canvas, Dash, DrawError, Ink, Key, Label, Legend, Mark, Panel, Pen, Picture,
    Place, SERIES,
};
use crate::numbers::{decimal, percent, plain};

/// Series that are drawn: with more, no ink is left.
const SERIES_SHOWN: usize = 8;

/// A line: what stays the same along it, and its points by threshold.
struct Line<'w> {
    name: String,
    pen: Pen,
    points: Vec<&'w BudgetPoint>,
}

/// Draws a world.
pub(super) fn draw(world: &World, (width, name): (f64, &str)) -> Result<Picture, DrawError> {
    let lines = lines(world);
    let keys = lines.iter().map(|line| Key {
        name: line.name.clone(),
        pen: Some(line.pen),
        mark: None,
    });
    let keys: Vec<Key> = keys.chain(marks()).collect();
    let legend = Legend::new(keys, width - 8.0, width - 60.0);
    let (tall, low) = (250.0, 110.0);
    let top = legend.height() + 40.0;
    let height = top + tall + 56.0 + low + 46.0;
    let caption = "Threshold against cost and overflow";
    let canvas = Canvas::new(name, caption, width, height);
    legend.draw(&canvas, 4.0, 4.0)?;
    let place = |top: f64, height: f64| Place {
        left: 62.0,
        top,
        right: width - 22.0,
        bottom: top + height,
    };
    let panel = Panel::new(&canvas, place(top, tall), thresholds(world), costs(world));
    panel.axes("", "cost against no guard")?;
    let (from, to) = (thresholds(world).low(), thresholds(world).high());
    panel.line(
        &[(from, 1.0), (to, 1.0)],
        Pen::dashed(Ink::Axis, 1.4, Dash::Dashed),
    )?;
    let safe = 1.0 - world.reserve;
    panel.line(
        &[(safe, costs(world).low()), (safe, costs(world).high())],
        Pen::dashed(Ink::Limit, 1.4, Dash::Dotted),
    )?;
    draw_lines(&panel, &lines, |point| point.cost)?;
    draw_marks(&panel, world, |point| point.cost)?;
    let at = panel.at(safe, costs(world).high());
    let label = Label::new(Ink::Limit, Anchor::End).size(12.0);
    canvas.text((at.0 - 5.0, at.1 + 9.0), "unsafe beyond", label)?;
    let below = Panel::new(
        &canvas,
        place(top + tall + 56.0, low),
        thresholds(world),
        Axis::share(4),
    );
    below.axes("threshold, share of the window", "runs that overflow")?;
    let share =
        |point: &BudgetPoint| (world.runs > 0).then(|| point.overflow as f64 / world.runs as f64);
    draw_lines(&below, &lines, share)?;
    draw_marks(&below, world, share)?;
    canvas.finish()
}

fn thresholds(world: &World) -> Axis {
    let low = world.points.iter().map(|p| p.threshold).fold(0.5, f64::min);
    Axis::nice((low - 0.02).max(0.0), 1.0, 6)
}

fn costs(world: &World) -> Axis {
    let costs = world.points.iter().filter_map(|p| p.cost);
    let (low, high) = costs.fold((1.0_f64, 1.0_f64), |(low, high), c| {
        (low.min(c), high.max(c))
    });
    Axis::nice((low - 0.05).max(0.0), (high + 0.05).min(3.0), 5)
}

/// Settings that differ in the threshold alone; those of presets and the grid.
fn lines(world: &World) -> Vec<Line<'_>> {
    let mut by: BTreeMap<(String, u64), Vec<&BudgetPoint>> = BTreeMap::new();
    for point in &world.points {
        let keep = (point.keep * 1e6).round() as u64;
        by.entry((point.policy.clone(), keep))
            .or_default()
            .push(point);
    }
    let several = by.into_iter().filter(|(_, points)| points.len() > 1);
    let mut lines: Vec<Line<'_>> = several
        .take(SERIES_SHOWN)
        .enumerate()
        .map(|(at, ((policy, _), mut points))| {
            points.sort_by(|a, b| a.threshold.total_cmp(&b.threshold));
            // Settings that differ in something else too, as the size of the summary: the first of each threshold.
            points.dedup_by(|b, a| a.threshold == b.threshold);
            let keep = points.first().map_or(0.0, |point| point.keep);
            Line {
                name: match policy.as_str() {
                    "clear-results" => policy,
                    _ => format!("{policy}, keep {}", plain(keep, 3)),
                },
                pen: Pen {
                    ink: SERIES[at],
                    width: 2.0,
                    dash: Dash::nth(at / 2),
                },
                points,
            }
        })
        .collect();
    lines.retain(|line| line.points.len() > 1);
    lines
}

fn marks() -> [Key; 3] {
    [
        ("in use", Mark::Square, Ink::Current),
        ("candidate", Mark::Star, Ink::Chosen),
        ("preset", Mark::Ring, Ink::Text),
    ]
    .map(|(name, mark, ink)| Key {
        name: name.into(),
        pen: None,
        mark: Some((mark, ink)),
    })
}

fn draw_lines(
    panel: &Panel<'_>,
    lines: &[Line<'_>],
    of: impl Fn(&BudgetPoint) -> Option<f64>,
) -> Result<(), DrawError> {
    for line in lines {
        let points = line
            .points
            .iter()
            .filter_map(|point| Some((point.threshold, of(point)?)));
        panel
            .title(line.name.clone())
            .line(&points.collect::<Vec<_>>(), line.pen)?;
    }
    Ok(())
}

fn draw_marks(
    panel: &Panel<'_>,
    world: &World,
    of: impl Fn(&BudgetPoint) -> Option<f64>,
) -> Result<(), DrawError> {
    for point in &world.points {
        let Some(value) = of(point) else { continue };
        let (mark, ink) = match point {
            BudgetPoint { in_use: true, .. } => (Mark::Square, Ink::Current),
            BudgetPoint {
                candidate: true, ..
            } => (Mark::Star, Ink::Chosen),
            BudgetPoint {
                preset: Some(_), ..
            } => (Mark::Ring, Ink::Text),
            _ => continue,
        };
        let title = format!(
            "{}: threshold {}, keep {}: cost {}, {} of {} runs overflow ({})",
            point.names,
            plain(point.threshold, 3),
            plain(point.keep, 3),
            decimal(point.cost),
            point.overflow,
            world.runs,
            percent((world.runs > 0).then(|| point.overflow as f64 / world.runs as f64)),
        );
        panel
            .title(title)
            .mark((point.threshold, value), mark, 5.5, ink)?;
    }
    Ok(())
}
