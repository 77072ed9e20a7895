//! In what a command counts: chars, calls or turns, by what was asked for and what the labels speak of.

use std::path::Path;

use deadloop_detect::{Channel, Unit};
use deadloop_score::{Cases, LabelRow, units};

use crate::failure::{Code, Failure, RunResult};
use crate::survey::open;

/// Transcripts that are looked at for the unit of their labels.
const PEEKED: usize = 1000;

/// The unit that the first labels of a corpus speak of; chars where they name no channel. It is for what has to be
/// known before all of it is read, and checked when it is.
pub fn first_unit(path: &Path) -> RunResult<Unit> {
    let corpus = open(path)?;
    let channels = |rows: Vec<LabelRow>| rows.into_iter().find_map(|row| row.channel);
    let found = match corpus.labels_csv() {
        // What is wrong with it is told by whoever reads all.
        Some(file) => LabelRow::read(file).ok().and_then(channels),
        None => {
            let entries = corpus.entries().take(PEEKED).filter_map(Result::ok);
            let rows = entries.filter_map(|entry| LabelRow::inside(&entry).ok());
            rows.filter_map(channels).next()
        }
    };
    Ok(found.map_or(Unit::Chars, Channel::unit))
}

/// The units in which labels speak, that of choice before the others.
pub(crate) fn of_choice_first(cases: &impl Cases, unit: Unit) -> Vec<Unit> {
    let others = units(cases).into_iter().filter(|other| *other != unit);
    std::iter::once(unit).chain(others).collect()
}

/// The grids were made for another unit: the first labels spoke of that one alone.
pub(crate) fn other_unit(unit: Unit) -> Failure {
    Code::Usage.error(format!("labels count in {unit}; say so with `unit` {unit}"))
}
