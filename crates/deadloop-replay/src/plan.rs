//! [`Plan`]: all settings of a run, grouped so that each text is measured once.

use std::collections::{BTreeMap, HashSet};

use deadloop_detect::harness::Member;
use deadloop_detect::{ModelTask, Setting, Settings, Value};

use crate::block::{Block, Override, threshold_axes};
use crate::grid::Grid;
use crate::plan_meters::PlanMeters;
use crate::structures::{MAX_BYTES, Structures};

/// The settings of a run, grouped in blocks.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    blocks: Vec<Block>,
    /// The refused cells, by parameter and by reason without its digits.
    refused: BTreeMap<(&'static str, String), RefusedCells>,
    readings: PlanMeters,
}

/// The position of a setting in a plan: its block, and its value on each axis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cell {
    /// The index of the block.
    pub block: usize,
    /// The index of the value along each axis.
    pub at: Vec<u16>,
}

/// Cells that were left out because their parameters are impossible together or can never raise an alarm.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedCells {
    /// The parameter to change.
    pub param: &'static str,
    /// The reason, with the values of the first refused cell. Reasons that differ only in numbers are counted together.
    pub reason: String,
    /// The number of cells left out for this reason.
    pub cells: usize,
}

/// The maximum number of cells of a grid.
const MAX_CELLS: usize = 50_000_000;

impl Plan {
    /// Adds the combinations of a grid's values and returns the range of their cell numbers. Impossible cells are left
    /// out, see [`refused_cells`](Self::refused_cells).
    ///
    /// # Errors
    /// Returns an error if the grid has more than 50 million cells, more structures than fit in a gigabyte, or no
    /// possible cell.
    pub fn add_grid(&mut self, grid: &Grid) -> Result<std::ops::Range<usize>, PlanError> {
        let first = self.cells();
        let values = grid.members.iter().flat_map(|m| &m.values);
        let cells = values.fold(1_u128, |n, (_, values)| {
            n.saturating_mul(values.len() as u128)
        });
        let total = usize::try_from(cells).unwrap_or(usize::MAX);
        if total > MAX_CELLS {
            return Err(PlanError::TooLarge { cells });
        }
        let structures = Structures::new(&grid.members);
        structures.check_memory()?;
        for nth in 0..structures.count {
            self.add_block(structures.nth(nth), grid);
        }
        if self.cells() == first {
            return Err(PlanError::NothingPossible {
                cells: total,
                refused: self.refused_cells().into_iter().cloned().collect(),
            });
        }
        Ok(first..self.cells())
    }

    /// Adds a setting, unless the plan already contains it. Returns the number of the setting's cell.
    pub fn add_setting(&mut self, setting: &Setting) -> usize {
        self.add_settings(&Settings::from_guard(setting.clone()))
    }

    /// Adds a settings file as one setting, which watches each transcript with the guard of its model. Returns the
    /// number of its cell, also if the plan already has the file.
    ///
    /// If some guards of the file stop a stream and others warn or observe, only the former are added. Warnings do not end
    /// a stream, so they form a separate setting, see [`Settings::levels`].
    pub fn add_settings(&mut self, settings: &Settings) -> usize {
        let mut levels = settings.levels().into_iter();
        match levels.next() {
            Some((_, hardest)) => self.add_level(&hardest),
            None => self.add_level(settings),
        }
    }

    fn add_level(&mut self, settings: &Settings) -> usize {
        let id = settings.id();
        let known = self
            .blocks
            .iter()
            .find(|b| b.axes.is_empty() && b.id(&[]) == id);
        if let Some(block) = known {
            return block.first;
        }
        let first = self.cells();
        let guard = settings.guard();
        let overrides = settings.overrides().map(|(_, guard)| Override {
            guard: guard.clone(),
            sources: self.readings.add_sources(guard, guard),
        });
        let overrides: Vec<Override> = overrides.collect();
        let id = (!overrides.is_empty()).then_some(id);
        let sources = self.readings.add_sources(guard, guard);
        self.blocks.push(Block {
            base: guard.clone(),
            first,
            sources,
            models: settings.models().clone(),
            overrides,
            id,
            ..Block::default()
        });
        first
    }

    /// Returns the blocks of the plan, in order.
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// Returns the reasons for which cells were left out, each with its number of cells. The most frequent reason comes
    /// first.
    pub fn refused_cells(&self) -> Vec<&RefusedCells> {
        let mut all: Vec<&RefusedCells> = self.refused.values().collect();
        all.sort_by_key(|refused| std::cmp::Reverse(refused.cells));
        all
    }

    /// Returns the number of cells in all blocks.
    pub fn cells(&self) -> usize {
        self.blocks.last().map_or(0, |b| b.first + b.len())
    }

    /// Returns the block and values of cell number `index`, or of the last cell if `index` is too large.
    pub fn cell(&self, index: usize) -> Cell {
        let block = self
            .blocks
            .partition_point(|b| b.first <= index)
            .saturating_sub(1);
        let at = self
            .blocks
            .get(block)
            .map_or(Vec::new(), |b| b.at(index - b.first));
        Cell { block, at }
    }

    /// Returns the setting of cell number `index`.
    pub fn setting(&self, index: usize) -> Setting {
        let cell = self.cell(index);
        self.blocks
            .get(cell.block)
            .map_or_else(Setting::default, |b| b.setting(&cell.at))
    }

    /// Returns the guard of cell number `index` for a model, optionally at a task. A settings file may have several
    /// guards.
    pub fn guard<'a>(&self, index: usize, work: impl Into<ModelTask<'a>>) -> Setting {
        let block = self.blocks.get(self.cell(index).block);
        let file = block.filter(|block| block.axes().is_empty());
        file.map_or_else(|| self.setting(index), |file| file.guard(work).clone())
    }

    /// Returns the name of cell number `index`: that of its setting or settings file.
    pub fn id(&self, index: usize) -> String {
        let cell = self.cell(index);
        self.blocks
            .get(cell.block)
            .map_or_else(String::new, |b| b.id(&cell.at))
    }

    /// Returns a text that differs between different plans. A resumed run must have the same text.
    pub fn fingerprint(&self) -> String {
        let block = |b: &Block| {
            let axes: Vec<String> = b
                .axes
                .iter()
                .map(|a| format!("{}.{}={}", a.member, a.param, Value::List(a.values.clone())))
                .collect();
            let id = b.id.clone().unwrap_or_else(|| b.base.id());
            format!("{id} {} {}", b.len(), axes.join(" "))
        };
        self.blocks.iter().map(block).collect::<Vec<_>>().join("\n")
    }

    /// Returns the indices of the programs that some setting runs for a model at a task.
    pub(crate) fn programs_for(&self, work: ModelTask<'_>) -> HashSet<usize> {
        let programs = |block: &Block| {
            let (_, sources) = block.guard_for(work);
            sources.programs.iter().map(|(_, p)| *p).collect::<Vec<_>>()
        };
        self.blocks.iter().flat_map(programs).collect()
    }

    /// Returns the meters and programs from which all settings get their facts.
    pub(crate) fn sources(&self) -> &PlanMeters {
        &self.readings
    }

    fn add_block(&mut self, base: Setting, grid: &Grid) {
        let axes = threshold_axes(&base, grid);
        let shape: Vec<usize> = axes.iter().map(|a| a.values.len()).collect();
        let cells: usize = shape.iter().product();
        let mut block = Block {
            base,
            axes,
            first: self.cells(),
            ..Block::default()
        };
        let possible: Vec<usize> = (0..cells)
            .filter(|dense| self.is_possible(&block, *dense))
            .collect();
        if possible.is_empty() {
            return;
        }
        if possible.len() < cells {
            block.possible = Some(possible);
        }
        let ends = (block.loosest_setting(), block.strictest_setting());
        block.sources = self.readings.add_sources(&ends.0, &ends.1);
        self.blocks.push(block);
    }

    fn is_possible(&mut self, block: &Block, dense: usize) -> bool {
        let setting = block.setting(&block.value_indices(dense));
        let check = |m: &Member| (m.detector.check)(&m.params);
        let Err(refusal) = setting.members.iter().try_for_each(check) else {
            return true;
        };
        let words = refusal.reason.replace(|c: char| c.is_ascii_digit(), "");
        let refused = self.refused.entry((refusal.param, words));
        let first = || RefusedCells {
            param: refusal.param,
            reason: refusal.reason,
            cells: 0,
        };
        refused.or_insert_with(first).cells += 1;
        false
    }
}

/// The reasons why a grid cannot be planned.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// The grid has more cells than memory allows.
    #[error("the grid has {cells} cells, and at most {MAX_CELLS} are allowed; name fewer values")]
    TooLarge {
        /// The number of cells.
        cells: u128,
    },
    /// The grid has more structures than fit in memory.
    #[error(
        "the grid has {structures} combinations of structural values, each measured by itself: to plan them takes about {megabytes} MB, and at most {most} are allowed; name fewer values of {params}",
        most = MAX_BYTES >> 20
    )]
    TooManyStructures {
        /// The number of structures.
        structures: usize,
        /// The estimated memory of the structures, in megabytes.
        megabytes: usize,
        /// The parameters that span the structures.
        params: String,
    },
    /// No cell is possible.
    #[error("none of the grid's {cells} cells can ever fire: {}", list_reasons(.refused))]
    NothingPossible {
        /// The number of cells.
        cells: usize,
        /// The reasons, each with its number of cells.
        refused: Vec<RefusedCells>,
    },
}

fn list_reasons(refused: &[RefusedCells]) -> String {
    let reason = |r: &RefusedCells| format!("{}: {} ({} cells)", r.param, r.reason, r.cells);
    refused
        .iter()
        .take(3)
        .map(reason)
        .collect::<Vec<_>>()
        .join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that a grid is refused before its parts are made, since none of these grids would fit in memory.
    #[test]
    fn what_is_too_large_is_refused_with_its_figure() {
        let grid = |n: usize| {
            let window = format!("{{ from = 2000, to = {}, step = 1 }}", 1999 + n);
            format!("[[guard]]\ndetector = \"novelty\"\n[guard.params]\nwindow = {window}\n")
                .repeat(2)
        };
        let told = |n| {
            let refused = Plan::default().add_grid(&Grid::parse(&grid(n)).unwrap());
            refused.map(|cells| cells.len()).map_err(|e| e.to_string())
        };
        assert_eq!(told(30), Ok(900));
        let said = told(1000).unwrap_err();
        assert!(said.contains("1000000 combinations"), "{said}");
        assert!(said.contains(" MB, "), "{said}");
        let fewer = "name fewer values of window, window";
        assert!(said.ends_with(fewer), "{said}");
        let many = told(10_000).unwrap_err();
        assert!(many.contains("the grid has 100000000 cells"), "{many}");
    }

    /// Covers every level of the file, and repeated names.
    #[test]
    fn the_guard_of_a_model_is_that_of_its_settings() {
        let model = |i: usize| {
            format!(
                "[[model]]\nmatch = \"m-{i}*\"\n[[model.guard]]\ndetector = \"periodic\"\nresponse = \"warn\"\n\
                 [model.guard.params]\nmin_copies = {}\n[[model.guard]]\ndetector = \"checkpoint\"\n",
                i + 3
            )
        };
        let text: String = (0..40).rev().map(model).collect();
        let text = format!("[[guard]]\ndetector = \"novelty\"\n{text}");
        let settings = Settings::parse(&text).unwrap();
        let levels = settings.levels();
        assert_eq!(levels.len(), 2);
        for (_, part) in levels {
            let mut plan = Plan::default();
            plan.add_settings(&part);
            let names = (0..60).map(|i| format!("m-{i}-x")).chain(["other".into()]);
            for name in names.cycle().take(150) {
                let own = part.overrides().find(|(glob, _)| glob.is_match(&name));
                let expected = own.map_or(part.guard(), |(_, guard)| guard);
                assert_eq!(plan.blocks()[0].guard(&name).id(), expected.id(), "{name}");
                assert_eq!(part.for_model(&name).id(), expected.id(), "{name}");
            }
        }
    }

    #[test]
    fn refused_cells_are_counted_by_rule_most_first() {
        // Each rule counts once, whatever its numbers: min_unit above max_unit, or a window too small for the copies.
        let grid = "[[guard]]\ndetector = \"checkpoint\"\n[guard.params]\ncheckpoints = [[2000]]\n\
                    min_unit = { from = 2, to = 60, step = 1 }\nmax_unit = { from = 1, to = 60, step = 1 }\n";
        let mut plan = Plan::default();
        let cells = plan.add_grid(&Grid::parse(grid).unwrap()).unwrap();
        let refused = plan.refused_cells();
        let all: usize = refused.iter().map(|r| r.cells).sum();
        assert_eq!(all + cells.len(), 59 * 60);
        assert!((1..=3).contains(&refused.len()), "{refused:?}");
        assert!(refused.is_sorted_by_key(|r| std::cmp::Reverse(r.cells)));
        let reason = "1 is below min_unit 2: no unit is allowed";
        assert_eq!(refused[0].reason, reason);
    }
}
