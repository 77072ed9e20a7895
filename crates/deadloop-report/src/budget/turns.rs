//! One run's tokens over its turns: with the setting and without a guard, the window, and where something was done.

use super::data::Trace;
use crate::draw::{
    Axis, Canvas, Dash, DrawError, Ink, Key, Legend, Mark, Panel, Pen, Picture, Place,
};
use crate::numbers::count;

/// The lines of the picture, by place: the prompt as it is sent, and without a guard; three levels.
const SENT: usize = 0;
const FREE: usize = 1;
const LEVELS: usize = 2;

fn pens() -> [(&'static str, Pen); 5] {
    let dashed = Pen::dashed;
    [
        ("sent", Pen::solid(Ink::Current, 2.0)),
        ("without a guard", dashed(Ink::Muted, 1.6, Dash::Dashed)),
        ("window", Pen::solid(Ink::Limit, 1.6)),
        (
            "less the reserve: beyond it the run dies",
            dashed(Ink::Limit, 1.4, Dash::Dotted),
        ),
        ("threshold", dashed(Ink::Chosen, 1.4, Dash::Alternating)),
    ]
}

/// Draws a run.
pub(super) fn draw(trace: &Trace, (width, name): (f64, &str)) -> Result<Picture, DrawError> {
    let legend = legend(width);
    let top = legend.height() + 40.0;
    let tall = if width < 600.0 { 240.0 } else { 330.0 };
    let title = "One run's tokens over its turns";
    let canvas = Canvas::new(name, title, width, top + tall + 46.0);
    legend.draw(&canvas, 4.0, 4.0)?;
    let place = Place {
        left: 76.0,
        top,
        right: width - 22.0,
        bottom: top + tall,
    };
    let turns = trace.free.len().max(2) as f64 - 1.0;
    // What goes on without a guard far above the window is not the picture.
    let high = trace.window as f64 * 1.6;
    let (across, up) = (Axis::nice(0.0, turns, 6), Axis::nice(0.0, high, 5));
    let panel = Panel::new(&canvas, place, across, up);
    panel.axes("turn", "tokens of the prompt")?;
    levels(&panel, trace, turns)?;
    lines(&panel, trace, high)?;
    marks(&panel, trace)?;
    canvas.finish()
}

fn legend(width: f64) -> Legend {
    let lines = pens().map(|(name, pen)| Key {
        name: name.into(),
        pen: Some(pen),
        mark: None,
    });
    let marks = [
        ("summary", Mark::Disc, Ink::Chosen),
        ("overflow", Mark::Cross, Ink::Limit),
    ];
    let marks = marks.map(|(name, mark, ink)| Key {
        name: name.into(),
        pen: None,
        mark: Some((mark, ink)),
    });
    let keys = lines.into_iter().chain(marks).collect();
    Legend::new(keys, width - 8.0, width - 60.0)
}

/// The window, the window less the reserve, and the threshold.
fn levels(panel: &Panel<'_>, trace: &Trace, turns: f64) -> Result<(), DrawError> {
    let levels = [trace.window as f64, trace.most, trace.threshold];
    for ((name, pen), level) in pens().into_iter().skip(LEVELS).zip(levels) {
        let title = format!("{name}: {}", count(level as u64));
        let ends = [(0.0, level), (turns, level)];
        panel.title(title).line(&ends, pen)?;
    }
    Ok(())
}

/// The prompt without a guard, as far as it is shown, and the prompt that is sent.
fn lines(panel: &Panel<'_>, trace: &Trace, high: f64) -> Result<(), DrawError> {
    let pens = pens();
    let free = trace.free.iter().map(|tokens| *tokens as f64).enumerate();
    let free = free.take_while(|(_, tokens)| *tokens <= high);
    let free: Vec<(f64, f64)> = free.map(|(turn, tokens)| (turn as f64, tokens)).collect();
    panel.line(&free, pens[FREE].1)?;
    let mut sent: Vec<(f64, f64)> = Vec::new();
    for (turn, (wanted, after, done, _)) in trace.steps.iter().enumerate() {
        if *done {
            sent.push((turn as f64, *wanted as f64));
        }
        sent.push((turn as f64, *after as f64));
    }
    panel.line(&sent, pens[SENT].1)
}

/// Where something was done, and where the run died.
fn marks(panel: &Panel<'_>, trace: &Trace) -> Result<(), DrawError> {
    for (turn, (wanted, after, done, overflow)) in trace.steps.iter().enumerate() {
        let at = (turn as f64, *after as f64);
        let (wanted, after) = (count(*wanted), count(*after));
        if *done {
            let title = format!("turn {turn}: {wanted} tokens become {after}");
            panel.title(title).mark(at, Mark::Disc, 4.0, Ink::Chosen)?;
        }
        if *overflow {
            let title = format!("turn {turn}: {after} tokens, the run dies");
            panel.title(title).mark(at, Mark::Cross, 6.0, Ink::Limit)?;
        }
    }
    Ok(())
}
