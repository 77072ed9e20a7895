//! What the sliders move over, from `regions.jsonl.zst` and the rows of `scores.parquet`.

use super::LoadError;
use super::rows::Turns;
use super::thin::{Thinned, thinned};
use crate::data::{ALL_MODELS, Board, Counted, PackedColumn, SettingRow, embedded_counts};
use deadloop_score::measure::Certainty;
use deadloop_score::replay::detect::Unit;
use deadloop_score::{Count, Metric, Regions, ScoreRows, ScoresFile, Tally, measures, withins};
use std::collections::HashMap;

/// Rows of single models that are embedded at most.
const MOST_ROWS: usize = 1_000_000;
/// Models that are embedded at most.
const MOST_MODELS: usize = 40;
/// Cells of grids that are embedded at most.
const MOST_CELLS: usize = 100_000;
/// What the board is made from.
pub(super) struct Source<'r> {
    /// In what things are counted.
    pub(super) unit: Unit,
    /// The rows.
    pub(super) scores: &'r ScoresFile,
    /// Models, those with the most loops first.
    pub(super) models: &'r [String],
    /// Settings by id.
    pub(super) index: &'r HashMap<String, usize>,
    /// The setting of each cell of the plan.
    pub(super) plan: &'r [usize],
    /// The settings with their values.
    pub(super) settings: &'r [SettingRow],
    /// The names of those values.
    pub(super) parameters: &'r [String],
    /// Settings whose values must stay.
    pub(super) marked: &'r [usize],
}

impl Source<'_> {
    /// Reads it; `None` where no grid was searched.
    pub(super) fn board(&self, regions: Regions) -> Result<Option<Board>, LoadError> {
        let grid = regions.head.grid_cells;
        if grid < 2 {
            return Ok(None);
        }
        let plan = self.plan;
        self.matches(&regions, plan)?;
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
                .map(|(param, values)| {
                    let values = values.iter().map(ToString::to_string).collect();
                    (self.parameters[param].clone(), values)
                })
                .collect(),
            cells,
            regions,
        }))
    }

    /// Whether a setting is one of the plan.
    fn is_cell(&self, id: &str) -> bool {
        let setting = self.index.get(id).and_then(|at| self.settings.get(*at));
        setting.is_some_and(|setting| setting.role != crate::data::Role::Never)
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
        let counts = embedded_counts();
        let names = std::iter::once(ALL_MODELS).chain(models.iter().map(String::as_str));
        let mut all: Vec<Counted> = names
            .clone()
            .map(|model| Counted {
                model: model.into(),
                columns: vec![PackedColumn::default(); counts.len()],
                ..Counted::default()
            })
            .collect();
        let (mut met, mut places): (Turns, Vec<Option<usize>>) = Default::default();
        let by_name: HashMap<&str, usize> = names.zip(0..).collect();
        let mut numbers = vec![0; all.len()];
        let columns = ["setting", "model"].into_iter().chain(columns(&counts));
        let columns: Vec<&str> = columns.collect();
        let rates = rates(self.unit);
        self.scores.each(&columns, |part| {
            let rows = ScoreRows::new(&part);
            // The rows of a setting follow each other.
            let mut last: Option<(&str, bool)> = None;
            for row in 0..part.rows() {
                let Some(id) = rows.setting(row) else {
                    continue;
                };
                let same = last.filter(|(of, _)| *of == id);
                let (_, is_cell) = same.unwrap_or_else(|| (id, self.is_cell(id)));
                last = Some((id, is_cell));
                let Some(model) = rows.model(row).filter(|_| is_cell) else {
                    continue;
                };
                let whose = met.of(model);
                if whose == places.len() {
                    places.push(by_name.get(model).copied());
                }
                let Some(at) = places[whose] else {
                    continue;
                };
                let number = numbers[at];
                numbers[at] += 1;
                if is_kept(number) {
                    all[at].add(&rows.tally(row), &counts, &rates);
                }
            }
        })?;
        Ok(all)
    }
}

/// The columns that hold some counts. Bins have no columns of their own and are read from the shares.
fn columns(counts: &[Count]) -> impl Iterator<Item = &'static str> {
    let names = counts.iter().map(|count| count.name());
    // The shares are of loops, whose counts are always among them.
    let shares = [Unit::Chars, Unit::Calls].into_iter().flat_map(withins);
    names.chain(shares.map(|measure| measure.name))
}

/// The rates on the board.
fn rates(unit: Unit) -> Vec<Metric> {
    let is_shown = |measure: &Metric| measure.shown.tables || measure.shown.choice;
    let is_rate = |measure: &Metric| is_shown(measure) && measure.certainty == Certainty::Rate;
    measures(unit).filter(is_rate).collect()
}

impl Counted {
    /// Adds a cell.
    fn add(&mut self, tally: &Tally, counts: &[Count], rates: &[Metric]) {
        for (count, column) in counts.iter().zip(&mut self.columns) {
            column.push(tally[*count]);
        }
        let events = rates.iter().filter_map(|rate| rate.counts(tally));
        self.events.extend(events.map(|(events, _)| events));
    }
}
