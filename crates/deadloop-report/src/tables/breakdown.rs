//! Recall by onset, kind and channel, a column for each setting.

use super::{Cell, Column, Row, Table, number, words};
use crate::data::ReportData;
use crate::numbers::{count, percent};
use crate::series::{Breakdown, Series, series};

/// How many settings are side by side.
const SETTINGS: usize = 5;

/// A table for onsets, one for kinds and one for channels; none without labelled loops.
pub(super) fn tables(data: &ReportData) -> Vec<Table> {
    let list: Vec<Series<'_>> = series(data, SETTINGS)
        .into_iter()
        .filter(|series| series.loops() > 0)
        .collect();
    let parts = [
        (Breakdown::by_onset(data), "Recall by onset"),
        (Breakdown::by_kind(data), "Recall by kind"),
        (Breakdown::by_channel(data), "Recall by channel"),
    ];
    parts
        .iter()
        .filter_map(|(part, title)| table(part, title, &list))
        .collect()
}

fn table(part: &Breakdown, title: &str, list: &[Series<'_>]) -> Option<Table> {
    let rows = list
        .iter()
        .flat_map(|series| (0..part.parts.len()).map(move |at| row(part, at, series)));
    let columns: Vec<Column> = vec![
        words(part.title),
        words("setting"),
        number("loops"),
        number("found"),
        number("recall"),
    ];
    Table::new(
        title,
        "With 95 % Wilson intervals.",
        columns,
        rows.collect(),
    )
}

fn row(part: &Breakdown, at: usize, series: &Series<'_>) -> Row {
    let found = part.recall(series, at);
    let order = Cell {
        sort: Some(at as f64),
        ..Cell::text(part.parts[at].as_str())
    };
    let cells = vec![
        order,
        Cell::text(series.name.as_str()),
        Cell::count(found.of),
        Cell {
            text: count(found.hits),
            sort: Some(found.hits as f64),
            ..Cell::default()
        },
        Cell::interval(found.share(), percent),
    ];
    Row {
        cells,
        role: if series.chosen { "chosen" } else { "" },
    }
}
