//! Base and new side by side: recall and false alarms of each model, joined by a line.

use super::{Drawing, Entry, NOT_ASKED, Sheet};
use crate::data::{ALL_MODELS, Comparison, ReportData};
use crate::draw::{Anchor, Axis, Dot, DrawError, Ink, Key, Label, Legend, Mark, Place, Rows};
use crate::numbers::{Interval, decimal, percent};

pub(super) static ENTRY: Entry = Entry {
    name: "dumbbells",
    title: "Base and new",
    reading: "A row per model: the disc is the base, the star the new result; to the right is better for recall, to \
              the left for false alarms. Intervals of the differences stand in the table below.",
    draw,
};

/// How many models are drawn; the table has them all.
const MODELS: usize = 20;
const BASE: (Mark, Ink) = (Mark::Disc, Ink::Current);
const NEW: (Mark, Ink) = (Mark::Star, Ink::Chosen);

fn draw(data: &ReportData, sheet: Sheet<'_>) -> Result<Drawing, DrawError> {
    let Some(comparison) = data
        .comparison
        .as_ref()
        .filter(|one| !models(one).is_empty())
    else {
        return Ok(Drawing::Absent(NOT_ASKED));
    };
    let models = models(comparison);
    let keys = [(&comparison.base.name, BASE), (&comparison.new.name, NEW)];
    let key = |(name, look): (&String, (Mark, Ink))| Key {
        name: name.clone(),
        pen: None,
        mark: Some(look),
    };
    let legend = Legend::new(keys.map(key).to_vec(), sheet.width - 8.0, 300.0);
    let top = legend.height() + 34.0;
    let per_row = if sheet.narrow() { 52.0 } else { 34.0 };
    let bottom = top + models.len() as f64 * per_row;
    let canvas = sheet.canvas(bottom + 48.0);
    legend.draw(&canvas, 4.0, 4.0)?;
    let (start, split, lead) = match sheet.narrow() {
        true => (16.0, 0.58, 20.0),
        false => (250.0, 0.66, 0.0),
    };
    let middle = sheet.width * split;
    let place = |left: f64, right: f64| Place {
        left,
        top,
        right,
        bottom,
    };
    let parts = if sheet.narrow() { 2 } else { 5 };
    let fa_name = if sheet.narrow() {
        "false alarms / Mchar"
    } else {
        "false alarms per million clean chars"
    };
    let most = comparison
        .rows
        .iter()
        .filter(|row| row.metric == "fa_per_mchar");
    let most = most
        .flat_map(|row| [row.base, row.new])
        .flatten()
        .fold(1.0, f64::max);
    let recall = Rows::new(
        &canvas,
        place(start, middle - 20.0),
        Axis::share(parts),
        models.len(),
        "recall",
    )?;
    let fa = Rows::new(
        &canvas,
        place(middle + 20.0, sheet.width - 14.0),
        Axis::symlog(1.0, most * 1.2),
        models.len(),
        fa_name,
    )?;
    for (n, model) in models.iter().enumerate() {
        recall.dumbbell(n, &pair(comparison, model, "recall", percent), lead)?;
        fa.dumbbell(n, &pair(comparison, model, "fa_per_mchar", decimal), lead)?;
        let name = if *model == ALL_MODELS {
            "all models"
        } else {
            model
        };
        let (x, y, room) = match sheet.narrow() {
            true => (
                10.0,
                recall.middle(n) - per_row / 2.0 + 11.0,
                sheet.width - 28.0,
            ),
            false => (4.0, recall.middle(n), 238.0),
        };
        canvas.text_within((x, y), name, x + room, Label::new(Ink::Text, Anchor::Start))?;
    }
    Ok(Drawing::Svg(canvas.finish()?))
}

/// The models in the order of the comparison.
fn models(comparison: &Comparison) -> Vec<&str> {
    let rows = comparison.rows.iter().filter(|row| row.metric == "recall");
    rows.map(|row| row.model.as_str()).take(MODELS).collect()
}

fn pair(
    comparison: &Comparison,
    model: &str,
    metric: &str,
    write: fn(Option<f64>) -> String,
) -> [Dot; 2] {
    let row = comparison
        .rows
        .iter()
        .find(|row| row.model == model && row.metric == metric);
    let dot = |name: &str, value: Option<f64>, (mark, ink): (Mark, Ink)| Dot {
        title: format!("{name}: {}", write(value)),
        at: Interval {
            value,
            ..Interval::default()
        },
        mark,
        ink,
    };
    [
        dot(&comparison.base.name, row.and_then(|row| row.base), BASE),
        dot(&comparison.new.name, row.and_then(|row| row.new), NEW),
    ]
}
