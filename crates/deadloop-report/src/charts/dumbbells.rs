//! Base and new side by side: recall and wrong alarms of each model, joined by a line.

use super::{ChartEntry, Drawing, Sheet};
use crate::data::{ALL_MODELS, ComparedResults, Difference, ReportData};
use crate::draw::{
    Anchor, Axis, Canvas, Dot, DrawError, Ink, Key, Label, Legend, Mark, Place, Rows,
};
use crate::numbers::{Estimate, writer};
use crate::points::Rows as Data;
use deadloop_score::measure::RECALL;
use deadloop_score::{Change, Metric, TableCell};
use std::cmp::Reverse;
use std::collections::BTreeMap;

pub(super) static ENTRY: ChartEntry = ChartEntry {
    name: "dumbbells",
    title: "Base and new",
    reading: "A row per model, those of which most transcripts flipped first: the disc is the base, the star the new result; to the right is better for recall, to \
              the left for wrong alarms. Intervals of the differences stand in the table.",
    columns: &[
        ("model", "the model, * for all together"),
        ("metric", "recall or fa_per_mchar"),
        ("base", "its value before"),
        ("new", "its value after"),
        ("difference", "new less base"),
        ("difference_lo", "lower end of its 95 % interval"),
        ("difference_hi", "upper end of it"),
    ],
    draw,
};

/// How many models are drawn; the table has them all.
const MODELS: usize = 20;
const BASE: (Mark, Ink) = (Mark::Disc, Ink::Current);
const NEW: (Mark, Ink) = (Mark::Star, Ink::Chosen);

/// Where the rows stand on their sheet.
struct Frame<'m> {
    models: Vec<&'m str>,
    top: f64,
    bottom: f64,
    /// The height of a row, and how much of it the model's name takes from above.
    row: (f64, f64),
    /// Left ends of the two panels.
    left: [f64; 2],
    /// Right ends of them.
    right: [f64; 2],
    narrow: bool,
}

impl<'m> Frame<'m> {
    fn new(models: Vec<&'m str>, top: f64, sheet: &Sheet<'_>) -> Self {
        let (row, start, split) = if sheet.narrow() {
            ((52.0, 20.0), 16.0, 0.58)
        } else {
            ((34.0, 0.0), 250.0, 0.66)
        };
        let middle = sheet.width * split;
        Self {
            bottom: top + models.len() as f64 * row.0,
            models,
            top,
            row,
            left: [start, middle + 20.0],
            right: [middle - 20.0, sheet.width - 14.0],
            narrow: sheet.narrow(),
        }
    }

    fn place(&self, panel: usize) -> Place {
        Place {
            left: self.left[panel],
            top: self.top,
            right: self.right[panel],
            bottom: self.bottom,
        }
    }

    fn name(&self, canvas: &Canvas, model: &str, middle: f64) -> Result<(), DrawError> {
        let name = if model == ALL_MODELS {
            "all models"
        } else {
            model
        };
        let (x, y, room) = if self.narrow {
            (
                10.0,
                middle - self.row.0 / 2.0 + 11.0,
                canvas.width() - 28.0,
            )
        } else {
            (4.0, middle, 238.0)
        };
        canvas.text_within((x, y), name, room, Label::new(Ink::Text, Anchor::Start))
    }
}

fn draw(data: &ReportData, sheet: Sheet<'_>) -> Result<Drawing, DrawError> {
    let Some(comparison) = data
        .comparison
        .as_ref()
        .filter(|one| !models(one).is_empty())
    else {
        return Ok(Drawing::Absent);
    };
    let keys = [(&comparison.base.name, BASE), (&comparison.new.name, NEW)];
    let key = |(name, look): (&String, (Mark, Ink))| Key {
        name: name.clone(),
        pen: None,
        mark: Some(look),
    };
    let legend = Legend::new(keys.map(key).to_vec(), sheet.width - 8.0, 300.0);
    let frame = Frame::new(models(comparison), legend.height() + 34.0, &sheet);
    let canvas = sheet.canvas(frame.bottom + 48.0);
    legend.draw(&canvas, 4.0, 4.0)?;
    let (parts, fa_name) = if sheet.narrow() {
        (2, data.run.wrong_name(true))
    } else {
        (5, data.run.wrong_name(false))
    };
    let count = frame.models.len();
    let recall = Rows::new(&canvas, frame.place(0), Axis::share(parts), count, "recall")?;
    let rates = Axis::symlog(1.0, most(data, comparison) * 1.2);
    let fa = Rows::new(&canvas, frame.place(1), rates, count, fa_name)?;
    for (n, model) in frame.models.iter().enumerate() {
        recall.dumbbell(n, &pair(comparison, model, &RECALL), frame.row.1)?;
        fa.dumbbell(n, &pair(comparison, model, data.run.wrong()), frame.row.1)?;
        frame.name(&canvas, model, recall.middle(n))?;
    }
    Ok(Drawing::Shown(
        canvas.finish()?,
        numbers(data, comparison, &frame.models),
    ))
}

/// The highest rate of wrong alarms, 1 at least.
fn most(data: &ReportData, comparison: &ComparedResults) -> f64 {
    let rows = comparison
        .rows
        .iter()
        .filter(|row| row.metric == data.run.wrong().name);
    let rates = rows.flat_map(|row| [row.base, row.new]).flatten();
    rates.fold(1.0, f64::max)
}

/// All models together, then those of which most transcripts flipped.
fn models(comparison: &ComparedResults) -> Vec<&str> {
    let mut flips: BTreeMap<&str, usize> = BTreeMap::new();
    for flip in comparison
        .flips
        .iter()
        .filter(|flip| flip.change == Change::Flip)
    {
        *flips.entry(&flip.model).or_default() += 1;
    }
    let rows = comparison
        .rows
        .iter()
        .filter(|row| row.metric == RECALL.name);
    let mut models: Vec<&str> = rows.map(|row| row.model.as_str()).collect();
    models.sort_by_key(|model| (*model != ALL_MODELS, Reverse(flips.get(model).copied())));
    models.truncate(MODELS);
    models
}

fn row<'c>(comparison: &'c ComparedResults, model: &str, metric: Metric) -> Option<&'c Difference> {
    let mut rows = comparison.rows.iter();
    rows.find(|row| row.model == model && row.metric == metric.name)
}

fn numbers(data: &ReportData, comparison: &ComparedResults, models: &[&str]) -> Data {
    let line = |(model, metric): (&str, Metric)| {
        let row = row(comparison, model, metric)?;
        let figures = [row.base, row.new, row.difference, row.lo, row.hi];
        let names = [model, metric.name].map(TableCell::text).into_iter();
        Some(names.chain(figures.map(TableCell::Float)).collect())
    };
    let pairs = models.iter();
    pairs
        .flat_map(|model| [&RECALL, data.run.wrong()].map(|metric| (*model, metric)))
        .filter_map(line)
        .collect()
}

fn pair(comparison: &ComparedResults, model: &str, metric: Metric) -> [Dot; 2] {
    let (row, write) = (row(comparison, model, metric), writer(metric));
    let dot = |name: &str, value: Option<f64>, (mark, ink): (Mark, Ink)| Dot {
        title: format!("{name}: {}", write(value)),
        at: Estimate {
            value,
            ..Estimate::default()
        },
        mark,
        ink,
    };
    [
        dot(&comparison.base.name, row.and_then(|row| row.base), BASE),
        dot(&comparison.new.name, row.and_then(|row| row.new), NEW),
    ]
}
