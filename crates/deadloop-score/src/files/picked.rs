//! [`Rows`]: rows of scores.parquet, picked from tables of what is different among them.

use deadloop_replay::detect::Unit;

use super::scores::{self, ParamColumns};
use super::store::{FileError, TableWriter};
use super::subjects::Subject;
use super::table::{Table, TableCell};
use crate::scores::Scores;

/// Rows of a block that are held back as numbers of rows.
const MOST_PICKED: usize = 1 << 16;

/// The rows of a block, picked from tables of what is different: many cells have one tally, and a setting has a row
/// for each subject.
pub(super) struct Rows {
    settings: Table,
    subjects: Table,
    params: Table,
    scores: Table,
    /// In what they are counted.
    unit: Unit,
    /// Of each row the setting, the subject and the scores.
    picks: [Vec<u32>; 3],
}

impl Rows {
    /// None yet.
    pub(super) fn new(columns: &ParamColumns, subjects: &[Subject], unit: Unit) -> Self {
        let [settings, whose, params, scores] = scores::parts(columns).map(|s| Table::new(&s));
        let mut rows = Self {
            settings,
            subjects: whose,
            params,
            scores,
            unit,
            picks: Default::default(),
        };
        for (name, _) in subjects {
            rows.subjects.push(scores::whose(name, unit));
        }
        rows
    }

    /// Adds scores; where they are.
    pub(super) fn scores(&mut self, scores: &Scores) -> u32 {
        self.scores.push(scores::cells(scores, self.unit));
        last(&self.scores)
    }

    /// Begins the rows of a setting.
    pub(super) fn setting(&mut self, id: String, params: Vec<TableCell>) {
        self.settings.push(vec![TableCell::text(id)]);
        self.params.push(params);
    }

    /// Adds a row of the last setting.
    pub(super) fn row(&mut self, subject: usize, scores: u32) {
        let picked = [last(&self.settings), narrow(subject), scores];
        for (picks, row) in self.picks.iter_mut().zip(picked) {
            picks.push(row);
        }
    }

    /// Writes them once they are many.
    pub(super) fn write_many(&mut self, writer: &mut TableWriter) -> Result<(), FileError> {
        match self.picks[0].len() >= MOST_PICKED {
            true => self.write(writer),
            false => Ok(()),
        }
    }

    /// Writes those that are not written yet.
    pub(super) fn write(&mut self, writer: &mut TableWriter) -> Result<(), FileError> {
        let [settings, subjects, scores] = std::mem::take(&mut self.picks);
        writer.pick(&[
            (&self.settings, &settings),
            (&self.subjects, &subjects),
            (&self.params, &settings),
            (&self.scores, &scores),
        ])
    }
}

/// The number of a table's last row.
fn last(table: &Table) -> u32 {
    narrow(table.rows().saturating_sub(1))
}

/// A row's number as a `u32`. A plan with more cells than that is refused long before.
fn narrow(row: usize) -> u32 {
    u32::try_from(row).unwrap_or(u32::MAX)
}
