//! The unit of a command (chars, calls or turns), from options or labels.

use std::path::Path;

use deadloop_detect::{Channel, Unit};
use deadloop_score::{CaseSet, LabelRow, units};

use crate::corpus::survey::open;
use crate::failure::RunResult;

/// The maximum number of transcripts read to find the unit of their labels.
const MAX_PEEKED: usize = 1000;

/// Returns the unit of the first labels of a corpus, or chars if they name no channel. The unit is needed before the
/// whole corpus is read, and is checked afterwards.
pub fn first_unit(path: &Path) -> RunResult<Unit> {
    let corpus = open(path)?;
    let channels = |rows: Vec<LabelRow>| rows.into_iter().find_map(|row| row.channel);
    let found = match corpus.labels_csv() {
        // Errors of the file are reported when all of it is read.
        Some(file) => LabelRow::read(file).ok().and_then(channels),
        None => {
            let entries = corpus.entries().take(MAX_PEEKED).filter_map(Result::ok);
            let rows = entries.filter_map(|entry| LabelRow::inside(&entry).ok());
            rows.filter_map(channels).next()
        }
    };
    Ok(found.map_or(Unit::Chars, Channel::unit))
}

/// Returns the units of the labels, with `unit` first.
pub(crate) fn chosen_unit_first(cases: &impl CaseSet, unit: Unit) -> Vec<Unit> {
    let others = units(cases).into_iter().filter(|other| *other != unit);
    std::iter::once(unit).chain(others).collect()
}
