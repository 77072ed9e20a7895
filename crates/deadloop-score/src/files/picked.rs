//! [`Rows`]: rows of scores.parquet, picked from tables of what is different among them.

use deadloop_replay::Block;
use deadloop_replay::detect::Unit;

use super::scores::{self, BlockParams, ParamColumns};
use super::slices::Slice;
use super::store::{FileError, TableWriter};
use crate::scores::Scores;
use deadloop_tables::{Columns, Table, TableCell};

/// Rows of a block that are held back as numbers of rows.
const MOST_PICKED: usize = 1 << 16;

/// The rows of a block, picked from tables of what is different: many cells have one tally, a setting has a row
/// for each slice, and an axis decides its own column.
pub(super) struct Rows {
    settings: Table,
    slices: Table,
    params: BlockParams,
    scores: Table,
    /// The columns of `scores`.
    columns: Columns<Scores>,
    /// Of each row the setting, the slice and the scores.
    picks: [Vec<u32>; 3],
    /// Of each row the value along each axis.
    along: Vec<Vec<u32>>,
}

impl Rows {
    /// None yet.
    pub(super) fn new(params: &ParamColumns, block: &Block, slices: &[Slice], unit: Unit) -> Self {
        let [settings, whose, _, scores] = scores::parts(params).map(|s| Table::new(&s));
        let mut rows = Self {
            settings,
            slices: whose,
            params: BlockParams::of(params, block),
            scores,
            columns: scores::columns(unit),
            picks: Default::default(),
            along: vec![Vec::new(); block.axes().len()],
        };
        for (name, _) in slices {
            rows.slices.push(scores::whose(name, unit));
        }
        rows
    }

    /// Adds scores; where they are.
    pub(super) fn scores(&mut self, scores: &Scores) -> u32 {
        self.scores.push(self.columns.cells(scores));
        last(&self.scores)
    }

    /// Begins the rows of a setting.
    pub(super) fn setting(&mut self, id: String) {
        self.settings.push(vec![TableCell::text(id)]);
    }

    /// Adds a row of the last setting, which has these value indices.
    pub(super) fn row(&mut self, at: &[u16], slice: usize, scores: u32) {
        let picked = [last(&self.settings), narrow(slice), scores];
        for (picks, row) in self.picks.iter_mut().zip(picked) {
            picks.push(row);
        }
        for (along, value) in self.along.iter_mut().zip(at) {
            along.push(u32::from(*value));
        }
    }

    /// Writes them once they are many.
    pub(super) fn write_many(&mut self, writer: &mut TableWriter) -> Result<(), FileError> {
        if self.picks[0].len() >= MOST_PICKED {
            self.write(writer)
        } else {
            Ok(())
        }
    }

    /// Writes those that are not written yet.
    pub(super) fn write(&mut self, writer: &mut TableWriter) -> Result<(), FileError> {
        let [settings, slices, scores] = &self.picks;
        let only = vec![0; settings.len()];
        let params = self.params.tables().iter().map(|(axis, table)| {
            let picks = axis.and_then(|axis| self.along.get(axis));
            (table, picks.unwrap_or(&only).as_slice())
        });
        let names: [(&Table, &[u32]); 2] = [(&self.settings, settings), (&self.slices, slices)];
        let scored: (&Table, &[u32]) = (&self.scores, scores);
        let parts: Vec<_> = names.into_iter().chain(params).chain([scored]).collect();
        writer.pick(&parts)?;
        self.picks.iter_mut().for_each(Vec::clear);
        self.along.iter_mut().for_each(Vec::clear);
        Ok(())
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
