//! The cells of the grids in families: those with the same parameters, each with its axes and its settings file.

use super::column;
use crate::data::{Board, ReportData, SettingRow, member};
use serde::Serialize;
use std::collections::BTreeMap;

#[derive(Serialize)]
pub(super) struct Param<'d> {
    pub(super) name: &'d str,
    pub(super) values: Vec<&'d str>,
    /// Whether its values are words, which a settings file has in quotes.
    pub(super) text: bool,
}

/// Cells that have the same parameters.
#[derive(Serialize)]
pub(super) struct Family {
    pub(super) name: String,
    /// Its cells, packed.
    pub(super) cells: String,
    /// The parameters that differ among them, and the place of each cell's value, packed.
    pub(super) axes: Vec<(usize, String)>,
    /// A settings file with one of them, the number of the parameter between two \u{1} in the place of what differs.
    pub(super) toml: Option<String>,
}

/// The cells of the grids, by which parameters they have.
pub(super) fn families<'d>(
    data: &'d ReportData,
    board: &Board,
    params: &mut [Param<'d>],
) -> std::io::Result<Vec<Family>> {
    let settings = &data.settings;
    let mut groups: BTreeMap<Vec<usize>, Vec<usize>> = BTreeMap::new();
    let mut order: Vec<Vec<usize>> = Vec::new();
    for (cell, (_, at)) in board.cells.iter().take(board.grid).enumerate() {
        let there: Vec<usize> = settings[*at]
            .params
            .iter()
            .enumerate()
            .filter_map(|(param, value)| value.is_some().then_some(param))
            .collect();
        if !groups.contains_key(&there) {
            order.push(there.clone());
        }
        groups.entry(there).or_default().push(cell);
    }
    let family = |there: &Vec<usize>| {
        let cells = &groups[there];
        let mut axes = Vec::new();
        for param in there {
            if let Some(axis) = axis(board, settings, cells, *param, &mut params[*param]) {
                axes.push((*param, column(axis)?));
            }
        }
        Ok(Family {
            toml: cells.first().and_then(|cell| {
                let differs = |param: usize| axes.iter().any(|axis| axis.0 == param);
                data.template(board.cells[*cell].1, differs)
            }),
            name: family_name(there, params),
            cells: column(cells.iter().copied())?,
            axes,
        })
    };
    order.iter().map(family).collect()
}

/// The place of each cell's value among those of a parameter; `None` where all are alike.
fn axis<'d>(
    board: &Board,
    settings: &'d [SettingRow],
    cells: &[usize],
    param: usize,
    list: &mut Param<'d>,
) -> Option<Vec<usize>> {
    let value = |cell: &usize| settings[board.cells[*cell].1].params[param].as_deref();
    let mut values: Vec<&'d str> = Vec::new();
    let mut last = None;
    for found in cells.iter().filter_map(value) {
        if last != Some(found) && !values.contains(&found) {
            values.push(found);
        }
        last = Some(found);
    }
    if values.len() < 2 {
        return None;
    }
    let number = |text: &&str| text.parse::<f64>().ok();
    if values.iter().all(|text| number(text).is_some()) {
        values.sort_by(|a, b| {
            number(a)
                .unwrap_or(0.0)
                .total_cmp(&number(b).unwrap_or(0.0))
        });
    }
    values.retain(|value| !list.values.contains(value));
    list.values.extend(values);
    let places: BTreeMap<&str, usize> = list
        .values
        .iter()
        .enumerate()
        .map(|(at, value)| (*value, at))
        .collect();
    let mut last: Option<(&str, usize)> = None;
    let place = |cell: &usize| {
        let value = value(cell)?;
        let same = last.filter(|(before, _)| *before == value);
        let place = same.map_or_else(|| places[value], |(_, place)| place);
        last = Some((value, place));
        Some(place)
    };
    let each = cells.iter().map(place);
    Some(each.map(|place| place.unwrap_or(0)).collect())
}

/// The members of the guard.
fn family_name(there: &[usize], params: &[Param<'_>]) -> String {
    let mut members: Vec<&str> = Vec::new();
    for param in there {
        let member = member(params[*param].name);
        if !members.contains(&member) {
            members.push(member);
        }
    }
    members.join(" + ")
}
