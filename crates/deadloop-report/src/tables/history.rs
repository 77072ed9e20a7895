//! Runs over time: a row a run, and what flipped between neighbours.

use super::{Cell, Column, Row, Table, number, words};
use crate::data::{History, PastRun, Since};
use crate::numbers::{count, writer};
use deadloop_score::{Direction, Flip};

/// The most flips of two neighbours that are shown before the rest is folded away.
const SHOWN: usize = 20;

/// A row a run, in the order in which they were named.
pub(crate) fn runs(history: &History) -> Option<Table> {
    let mut columns = vec![
        words("run"),
        words("made"),
        words("setting"),
        number("loops"),
    ];
    let titles = history.measures.iter();
    columns.extend(titles.map(|measure| number(measure.title_in(history.unit))));
    columns.push(words("since the run before"));
    let rows = history.runs.iter().map(|run| row(history, run)).collect();
    let note = "The figures are of all models together, over all transcripts of the run; those of a choice or a best setting \
                are in-sample.";
    Table::new("The same measures over time", note, columns, rows)
}

fn row(history: &History, run: &PastRun) -> Row {
    let day = run.when.split('T').next().unwrap_or_default();
    let mut cells = vec![
        Cell::name(&run.name).with(run.of.as_str()),
        Cell::text(day),
        Cell::text(run.setting.as_str()),
        Cell::count(run.loops).with(format!("of {}", count(run.transcripts))),
    ];
    let figures = run.figures.iter().zip(&history.measures);
    cells.extend(figures.map(|(at, measure)| Cell::interval(*at, writer(measure))));
    let (since, small) = match &run.since {
        None => ("–".to_owned(), String::new()),
        Some(Since::Unknown(why)) => ("not comparable".to_owned(), why.clone()),
        Some(Since::Flips(flips)) => (counted(flips), String::new()),
    };
    cells.push(Cell::text(since).with(small));
    Row { cells, role: "" }
}

/// How many verdicts are better, worse or neither.
fn counted(flips: &[Flip]) -> String {
    let of = |direction| {
        flips
            .iter()
            .filter(|flip| flip.direction == direction)
            .count() as u64
    };
    match flips.len() {
        0 => "no verdict changed".to_owned(),
        _ => format!(
            "{} better, {} worse, {} neither",
            count(of(Direction::Better)),
            count(of(Direction::Worse)),
            count(of(Direction::Neutral))
        ),
    }
}

/// The transcripts that flipped between neighbours: a table for each pair that has some.
pub(crate) fn since(history: &History) -> Vec<Table> {
    let pairs = history.runs.windows(2);
    pairs
        .filter_map(|pair| flipped(&pair[0], &pair[1]))
        .collect()
}

fn flipped(before: &PastRun, now: &PastRun) -> Option<Table> {
    let Some(Since::Flips(flips)) = &now.since else {
        return None;
    };
    let mut flips: Vec<&Flip> = flips.iter().collect();
    flips.sort_by_key(|flip| flip.direction);
    let row = |flip: &&Flip| Row {
        cells: vec![
            Cell::text(flip.transcript.as_str()),
            Cell::name(&flip.model),
            Cell::text(flip.class.as_deref().unwrap_or("–")),
            Cell::text(flip.base.verdict.name()),
            Cell::text(flip.new.verdict.name()),
            Cell::text(match flip.direction {
                Direction::Neutral => "neither",
                other => other.name(),
            }),
        ],
        role: match flip.direction {
            Direction::Better => "better",
            Direction::Worse => "worse",
            Direction::Neutral => "",
        },
    };
    let columns: Vec<Column> = vec![
        words("transcript"),
        words("model"),
        words("label"),
        words(before.name.clone()),
        words(now.name.clone()),
        words("is"),
    ];
    let title = format!("Flips from {} to {}", before.name, now.name);
    let rows = flips.iter().map(row).collect();
    let table = Table::new(&title, "The worse ones first.", columns, rows)?;
    Some(table.cut(
        SHOWN,
        "outcomes.parquet of both; of a sweep in regions.jsonl.zst",
    ))
}
