//! What the sliders move over, from `regions.jsonl.zst` and the rows of `scores.parquet`.

use super::LoadError;
use super::rows::Rows;
use super::thin::{Thinned, thinned};
use crate::data::{ALL_MODELS, Board, COUNTED, Column, Counted, Setting};
use deadloop_score::{Regions, ScoresFile};
use std::collections::BTreeMap;

/// Rows of single models that are embedded at most.
const MOST_ROWS: usize = 1_000_000;
/// Models that are embedded at most.
const MOST_MODELS: usize = 40;
/// Cells of grids that are embedded at most.
const MOST_CELLS: usize = 100_000;
/// Utility is kept in millionths.
const MILLIONTHS: f64 = 1e6;
/// What stands for a utility of nothing: a number that scripts hold exactly.
const NO_UTILITY: i64 = -(1 << 50);
/// What stands for a latency that is never reached, and for one of nothing.
const NEVER: (i64, i64) = (-1, -2);

/// What the board is made from.
pub(super) struct Source<'r> {
    /// The rows.
    pub(super) scores: &'r ScoresFile,
    /// Models, those with the most loops first.
    pub(super) models: &'r [String],
    /// Settings by id.
    pub(super) index: &'r BTreeMap<String, usize>,
    /// The settings with their values.
    pub(super) settings: &'r [Setting],
    /// The names of those values.
    pub(super) parameters: &'r [String],
    /// Settings whose values must stay.
    pub(super) marked: &'r [usize],
}

impl Source<'_> {
    /// Reads it; none where no grid was searched.
    pub(super) fn board(&self, regions: Regions) -> Result<Option<Board>, LoadError> {
        let grid = regions.head.grid_cells;
        if grid < 2 {
            return Ok(None);
        }
        let plan = self.plan()?;
        self.matches(&regions, &plan)?;
        let Thinned { kept, left_out } = thinned(
            &plan[..grid.min(plan.len())],
            self.settings,
            self.marked,
            MOST_CELLS,
        );
        let is_kept = |number: usize| kept.get(number).is_none_or(|kept| *kept);
        let cells: Vec<(usize, usize)> = plan
            .iter()
            .copied()
            .enumerate()
            .filter(|(number, _)| is_kept(*number))
            .collect();
        let room = (MOST_ROWS / cells.len().max(1)).clamp(1, MOST_MODELS);
        let few = &self.models[..room.min(self.models.len())];
        Ok(Some(Board {
            grid: cells.iter().filter(|(number, _)| *number < grid).count(),
            models: self.counted(few, is_kept)?,
            left_out: self.models.len() - few.len(),
            thinned: left_out
                .into_iter()
                .map(|(param, values)| (self.parameters[param].clone(), values))
                .collect(),
            cells,
            regions,
        }))
    }

    /// The setting of each cell of the plan: the rows of all models together stand in its order, the floors after it.
    fn plan(&self) -> Result<Vec<usize>, LoadError> {
        let mut plan = Vec::new();
        self.scores.each(&["setting", "model"], |part| {
            let rows = Rows::new(&part);
            for row in 0..part.rows() {
                if rows.text("model", row) == Some(ALL_MODELS)
                    && let Some(at) = self.cell(&rows, row)
                {
                    plan.push(at);
                }
            }
        })?;
        Ok(plan)
    }

    /// The setting of a row, unless it is a floor.
    fn cell(&self, rows: &Rows<'_>, row: usize) -> Option<usize> {
        let at = *self.index.get(rows.text("setting", row)?)?;
        let floor = self.settings.get(at)?.role == crate::data::Role::Floor;
        (!floor).then_some(at)
    }

    /// The regions must be those of the rows.
    fn matches(&self, regions: &Regions, plan: &[usize]) -> Result<(), LoadError> {
        let parted = regions.blocks.iter().position(|block| {
            let at = plan.get(block.first).and_then(|at| self.settings.get(*at));
            at.is_none_or(|setting| setting.id != block.setting)
        });
        match parted {
            None => Ok(()),
            Some(block) => Err(LoadError::Row {
                file: "regions.jsonl.zst",
                row: block + 2,
                what: "its block is not where scores.parquet has it; expected the files of one run"
                    .into(),
            }),
        }
    }

    fn counted(
        &self,
        models: &[String],
        is_kept: impl Fn(usize) -> bool,
    ) -> Result<Vec<Counted>, LoadError> {
        let names = std::iter::once(ALL_MODELS).chain(models.iter().map(String::as_str));
        let mut all: Vec<Counted> = names
            .map(|model| Counted {
                model: model.into(),
                columns: vec![Column::default(); COUNTED.len()],
                ..Counted::default()
            })
            .collect();
        let places: BTreeMap<String, usize> = all
            .iter()
            .enumerate()
            .map(|(at, counted)| (counted.model.clone(), at))
            .collect();
        let mut numbers = vec![0; all.len()];
        let columns: Vec<&str> = ["setting", "model", "loops"]
            .into_iter()
            .chain(COUNTED)
            .collect();
        self.scores.each(&columns, |part| {
            let rows = Rows::new(&part);
            for row in 0..part.rows() {
                let place = rows.text("model", row).and_then(|model| places.get(model));
                let (Some(at), Some(_)) = (place, self.cell(&rows, row)) else {
                    continue;
                };
                let number = numbers[*at];
                numbers[*at] += 1;
                if is_kept(number) {
                    count(&mut all[*at], &rows, row);
                }
            }
        })?;
        Ok(all)
    }
}

/// Adds a row to the counts of its model.
fn count(counted: &mut Counted, rows: &Rows<'_>, row: usize) {
    for (name, column) in COUNTED.iter().zip(&mut counted.columns) {
        let value = rows.number(name, row);
        column.push(match *name {
            "latency_p50" | "latency_p90" => match value {
                None => NEVER.1,
                Some(value) if value.is_infinite() => NEVER.0,
                Some(value) => value as i64,
            },
            "within_1000" => {
                let loops = rows.number("loops", row).unwrap_or(0.0);
                (value.unwrap_or(0.0) * loops).round() as i64
            }
            "utility" => value.map_or(NO_UTILITY, |value| (value * MILLIONTHS).round() as i64),
            _ => value.unwrap_or(0.0) as i64,
        });
    }
    let wrong = ["false_alarm", "premature", "stale"].map(|name| rows.count(name, row));
    counted.wrong.insert(wrong.iter().sum());
}
