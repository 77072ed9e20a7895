//! A row per setting: how often it is right where a floor is, and how far beyond chance.

use super::{ChartEntry, Drawing, Sheet};
use crate::data::{BesideFloor, ReportData};
use crate::draw::{
    Anchor, Axis, Canvas, Dot, DrawError, Ink, Key, Label, Legend, Mark, Place, Rows,
};
use crate::numbers::{Estimate, decimal, percent, range, wilson};
use crate::points::{Rows as Data, ends, setting};
use deadloop_score::TableCell;

pub(super) static ENTRY: ChartEntry = ChartEntry {
    name: "agreement",
    title: "Agreement with floors",
    reading: "How often a setting is right (hit, quiet) on the very transcripts on which a floor is, or wrong where it \
              is wrong: never alarms nowhere, first-checkpoint alarms on everything, random as often as the setting \
              in use, anywhere. The share is high by itself where most transcripts are clean; kappa takes out what \
              chance gives: near 1 it is as good as the floor and no better, near 0 it has nothing to do with it, \
              below 0 it is right where the floor is wrong.",
    columns: &[
        ("setting", "its id, as in scores.csv"),
        ("name", "what it is called"),
        ("floor", "never, first-checkpoint or random"),
        (
            "transcripts",
            "loops and clean ones that both were scored on",
        ),
        ("both_right", "both are right"),
        ("only_setting", "only the setting is"),
        ("only_floor", "only the floor is"),
        ("both_wrong", "both are wrong"),
        ("agreement", "(both_right + both_wrong) / transcripts"),
        ("agreement_lo", "lower end of its 95 % Wilson interval"),
        ("agreement_hi", "upper end of it"),
        (
            "expected",
            "what chance gives two that are right as often as these",
        ),
        ("kappa", "(agreement - expected) / (1 - expected)"),
    ],
    draw,
};

/// How many settings are drawn.
const SETTINGS: usize = 24;
/// The floors and their looks, as in the operating chart.
const FLOORS: [(&str, Mark, Ink); 3] = [
    ("never", Mark::TriangleDown, Ink::Current),
    ("first-checkpoint", Mark::Ring, Ink::Third),
    ("random", Mark::Cross, Ink::Fourth),
];

/// A setting and what it has to do with each floor.
struct Row<'d> {
    setting: usize,
    floors: Vec<&'d BesideFloor>,
}

fn draw(data: &ReportData, sheet: Sheet<'_>) -> Result<Drawing, DrawError> {
    let rows = rows(data);
    if rows.is_empty() {
        return Ok(Drawing::Absent);
    }
    let keys = FLOORS.map(|(name, mark, ink)| Key {
        name: name.to_owned(),
        pen: None,
        mark: Some((mark, ink)),
    });
    let legend = Legend::new(keys.to_vec(), sheet.width - 8.0, 300.0);
    // Between the two stand the last number of one axis and the first of the other.
    let (height, start, split, gap, lead) = if sheet.narrow() {
        (62.0, 16.0, 0.5, 18.0, 20.0)
    } else {
        (36.0, 250.0, 0.63, 30.0, 0.0)
    };
    let top = legend.height() + 34.0;
    let bottom = top + rows.len() as f64 * height;
    let canvas = sheet.canvas(bottom + 48.0);
    legend.draw(&canvas, 4.0, 4.0)?;
    let middle = sheet.width * split;
    let place = |left: f64, right: f64| Place {
        left,
        top,
        right,
        bottom,
    };
    let (left, right) = (
        place(start, middle - gap),
        place(middle + gap, sheet.width - 16.0),
    );
    let parts = if sheet.narrow() { 2 } else { 4 };
    let shares = Rows::new(&canvas, left, Axis::share(parts), rows.len(), "agreement")?;
    let kappas = Rows::new(&canvas, right, kappas(&rows, parts), rows.len(), "kappa")?;
    for (n, row) in rows.iter().enumerate() {
        shares.dots(n, &dots(row, share, percent), lead)?;
        kappas.dots(n, &dots(row, kappa, decimal), lead)?;
        let up = if sheet.narrow() {
            height / 2.0 - 11.0
        } else {
            0.0
        };
        name(&canvas, &called(data, row.setting), shares.middle(n) - up)?;
    }
    let numbers = rows.iter().flat_map(|row| numbers(data, row));
    Ok(Drawing::Shown(canvas.finish()?, numbers.collect()))
}

/// The chosen setting first, then the leading settings.
fn rows(data: &ReportData) -> Vec<Row<'_>> {
    let of = |setting: usize| Row {
        setting,
        floors: FLOORS
            .iter()
            .filter_map(|(name, ..)| {
                let mut all = data.beside_floors.iter();
                all.find(|one| {
                    one.setting == setting && one.floor == *name && one.counts.scored() > 0
                })
            })
            .collect(),
    };
    let mut settings: Vec<usize> = data.chosen().into_iter().collect();
    let others = data
        .leading()
        .iter()
        .filter(|at| data.chosen() != Some(**at));
    settings.extend(others);
    let rows = settings
        .into_iter()
        .map(of)
        .filter(|row| !row.floors.is_empty());
    rows.take(SETTINGS).collect()
}

fn called(data: &ReportData, setting: usize) -> String {
    if data.chosen() == Some(setting) {
        "chosen".to_owned()
    } else {
        data.describe(setting)
    }
}

fn name(canvas: &Canvas, name: &str, y: f64) -> Result<(), DrawError> {
    let narrow = canvas.width() < 600.0;
    let (x, room) = if narrow {
        (10.0, canvas.width() - 28.0)
    } else {
        (4.0, 238.0)
    };
    canvas.text_within((x, y), name, room, Label::new(Ink::Text, Anchor::Start))
}

fn share(one: &BesideFloor) -> Estimate {
    wilson(one.counts.agreed(), one.counts.scored())
}

fn kappa(one: &BesideFloor) -> Estimate {
    Estimate {
        value: one.counts.kappa(),
        ..Estimate::default()
    }
}

fn dots(
    row: &Row<'_>,
    of: fn(&BesideFloor) -> Estimate,
    write: fn(Option<f64>) -> String,
) -> Vec<Dot> {
    let dot = |one: &&BesideFloor| {
        let (_, mark, ink) = FLOORS.into_iter().find(|floor| floor.0 == one.floor)?;
        let at = of(one);
        let ends = at
            .low
            .map_or_else(String::new, |_| format!(" ({})", range(at, write)));
        Some(Dot {
            title: format!("{}: {}{ends}", one.floor, write(at.value)),
            at,
            mark,
            ink,
        })
    };
    row.floors.iter().filter_map(dot).collect()
}

/// From the lowest kappa, 0 at most, to 1.
fn kappas(rows: &[Row<'_>], parts: u32) -> Axis {
    let all = rows.iter().flat_map(|row| &row.floors);
    let lowest = all.filter_map(|one| one.counts.kappa()).fold(0.0, f64::min);
    Axis::nice(lowest, 1.0, parts as usize)
}

fn numbers(data: &ReportData, row: &Row<'_>) -> Data {
    let line = |one: &&BesideFloor| {
        let [id, _] = setting(data, row.setting);
        let counts = &one.counts;
        let whole = [
            counts.scored(),
            counts.both_right,
            counts.only_one,
            counts.only_other,
            counts.both_wrong,
        ];
        let names = [
            id,
            TableCell::text(called(data, row.setting)),
            TableCell::text(one.floor.as_str()),
        ];
        let last = [counts.expected(), counts.kappa()].map(TableCell::Float);
        let counted = names.into_iter().chain(whole.map(TableCell::count));
        counted.chain(ends(share(one))).chain(last).collect()
    };
    row.floors.iter().map(line).collect()
}
