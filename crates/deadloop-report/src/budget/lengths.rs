//! What limits of 10, 25, 50 and 100 turns would have cut, run by run: each step of a line is a run.

use super::data::Strip;
use crate::draw::{
    Anchor, Axis, Canvas, Dash, DrawError, Ink, Key, Label, Legend, Panel, Pen, Picture, Place,
    SERIES,
};
use crate::numbers::percent;

/// The limits that are marked.
pub(super) const LIMITS: [u64; 4] = [10, 25, 50, 100];
/// Sources that have an ink and a dash of their own.
const MOST: usize = 16;

/// Draws the runs of each source.
pub(super) fn draw(strips: &[Strip], (width, name): (f64, &str)) -> Result<Picture, DrawError> {
    let shown = || strips.iter().take(MOST).enumerate();
    let keys = shown().map(|(at, strip)| Key {
        name: strip.source.clone(),
        pen: Some(pen(at)),
        mark: None,
    });
    let legend = Legend::new(keys.collect(), width - 8.0, width - 60.0);
    let top = legend.height() + 44.0;
    let tall = if width < 600.0 { 240.0 } else { 320.0 };
    let title = "What a limit would have cut";
    let canvas = Canvas::new(name, title, width, top + tall + 46.0);
    legend.draw(&canvas, 4.0, 4.0)?;
    let place = Place {
        left: 62.0,
        top,
        right: width - 22.0,
        bottom: top + tall,
    };
    let last = strips.iter().filter_map(|strip| strip.runs.last());
    let longest = last.map(|(turns, _)| *turns).max();
    let high = longest.unwrap_or(1).max(120) as f64;
    let ticks = [
        1.0, 3.0, 10.0, 25.0, 50.0, 100.0, 200.0, 500.0, 1000.0, 3000.0,
    ];
    let panel = Panel::new(&canvas, place, Axis::log(1.0, high, &ticks), Axis::share(4));
    panel.axes("turns", "runs that go on beyond")?;
    limits(&panel, &canvas)?;
    for (at, strip) in shown() {
        steps(&panel, strip, pen(at))?;
    }
    canvas.finish()
}

/// The pen of a source.
fn pen(at: usize) -> Pen {
    Pen {
        ink: SERIES[at % SERIES.len()],
        width: 2.0,
        dash: Dash::nth(at),
    }
}

/// An upright line at each limit, with its number above.
fn limits(panel: &Panel<'_>, canvas: &Canvas) -> Result<(), DrawError> {
    let pen = Pen::dashed(Ink::Limit, 1.2, Dash::Dotted);
    for limit in LIMITS {
        let at = limit as f64;
        panel.line(&[(at, 0.0), (at, 1.0)], pen)?;
        let place = panel.at(at, 1.0);
        let label = Label::new(Ink::Limit, Anchor::Middle).size(12.0);
        canvas.text((place.0, place.1 - 8.0), &limit.to_string(), label)?;
    }
    Ok(())
}

/// The share of a source's runs that go on beyond each number of turns.
fn steps(panel: &Panel<'_>, strip: &Strip, pen: Pen) -> Result<(), DrawError> {
    let all = strip.runs.len().max(1) as f64;
    let beyond = |turns: u64| strip.runs.iter().filter(|(own, _)| *own > turns).count() as f64;
    let mut turns: Vec<u64> = strip.runs.iter().map(|(turns, _)| *turns).collect();
    turns.dedup();
    let later = turns.into_iter().filter(|n| *n > 1);
    let points: Vec<(f64, f64)> = std::iter::once(1)
        .chain(later)
        .map(|n| (n as f64, beyond(n) / all))
        .collect();
    let cut = LIMITS.map(|limit| format!("{limit}: {}", percent(Some(beyond(limit) / all))));
    let title = format!("{}: {}", strip.source, cut.join(", "));
    panel.title(title).steps(&points, pen)
}
