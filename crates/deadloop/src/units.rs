//! In what a command counts: chars, calls or turns, by what was asked for and what the labels speak of.

use std::path::Path;

use deadloop_detect::{Channel, Unit};
use deadloop_score::{Case, JudgeOptions, LabelRow, units};

use crate::args::Judge;
use crate::corpus::open;
use crate::exit::{Code, Failure, Outcome};

/// Transcripts that are looked at for the unit of their labels.
const PEEKED: usize = 1000;

/// The unit that the first labels of a corpus speak of; chars where they name no channel. It is for what has to be
/// known before all of it is read, and checked when it is.
pub(crate) fn first_unit(path: &Path) -> Outcome<Unit> {
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
pub(crate) fn of_choice_first(cases: &[Case], unit: Unit) -> Vec<Unit> {
    let others = units(cases).into_iter().filter(|other| *other != unit);
    std::iter::once(unit).chain(others).collect()
}

/// The grids were made for another unit: the first labels spoke of that one alone.
pub(crate) fn other_unit(unit: Unit) -> Failure {
    Code::Usage.error(format!("labels count in {unit}; say so with --unit {unit}"))
}

impl Judge {
    /// How alarms are judged on a corpus: in the unit that its labels speak of.
    ///
    /// # Errors
    /// They speak of several, and none was asked for.
    pub(crate) fn options_for(&self, cases: &[Case]) -> Outcome<JudgeOptions> {
        let found = units(cases);
        let unit = match (self.unit, found.as_slice()) {
            (Some(unit), _) => unit.unit(),
            (None, [only]) => *only,
            (None, several) => {
                let names: Vec<&str> = several.iter().map(|unit| unit.name()).collect();
                let what = format!(
                    "labels count in {}, and nothing is added up across units; say which with --unit {}",
                    names.join(" and in "),
                    names.join("|")
                );
                return Err(Code::Usage.error(what));
            }
        };
        Ok(JudgeOptions {
            unit,
            ..self.options()
        })
    }
}
