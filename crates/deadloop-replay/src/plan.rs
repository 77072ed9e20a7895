//! [`Plan`]: every setting that is to be replayed, grouped so that each text is measured once.
//!
//! Settings that share all structural parameters form a [`Block`]; inside it, thresholds span axes,
//! and a cell is one point of them. Cells have numbers: block after block, and inside a block in
//! the order of a nested loop with the last axis innermost. The order depends on the grid alone.

use std::collections::HashMap;

use deadloop_detect::{Channel, Member, Recipe, Setting, Settings, Side, Threshold, Value};

use crate::grid::{Grid, GridMember};

/// Every setting that is to be replayed.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    blocks: Vec<Block>,
    refused: Vec<Refused>,
    meters: Vec<Measure>,
    /// Where in `meters` the meter of a structure and channel is.
    known: HashMap<(String, Channel), usize>,
}

/// One reading of a channel, shared by every member that agrees in what it measures.
#[derive(Clone, Debug)]
pub(crate) struct Measure {
    pub(crate) channel: Channel,
    pub(crate) recipe: Recipe,
    /// The loosest of the members that share it: no fact is left out that one of them accepts.
    loosest: Member,
}

/// The settings that share all structural parameters.
#[derive(Clone, Debug)]
pub struct Block {
    base: Setting,
    axes: Vec<Axis>,
    first: usize,
    /// Dense indices of the possible cells; `None`: all of them.
    possible: Option<Vec<usize>>,
    sources: Vec<Source>,
    /// Guards of particular models, which stand in for `base`: a settings file as one setting.
    overrides: Vec<Override>,
    /// Its name, where that is not its setting's own.
    id: Option<String>,
}

/// The guard of some models.
#[derive(Clone, Debug)]
struct Override {
    glob: globset::GlobMatcher,
    guard: Setting,
    sources: Vec<Source>,
}

/// A threshold with several values.
#[derive(Clone, Debug)]
pub struct Axis {
    /// Which member of the guard, counted from 0.
    pub member: usize,
    /// The parameter.
    pub param: &'static str,
    /// How it decides.
    pub threshold: Threshold,
    /// Its place among the member's thresholds, and so among a fact's bounds.
    pub bound: usize,
    /// Its values, from the loosest end of its numbers to the other: rising.
    pub values: Vec<Value>,
    /// What each of them is compared as.
    numbers: Vec<i64>,
}

/// Where a member of a block takes its facts from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Source {
    pub(crate) member: usize,
    pub(crate) channel: Channel,
    /// Index into the plan's meters.
    pub(crate) meter: usize,
}

/// A cell: which block, and which value along each of its axes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cell {
    /// Index of the block.
    pub block: usize,
    /// Index of the value along each axis.
    pub at: Vec<u16>,
}

/// Cells that were left out because their parameters are impossible together or can never fire.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The parameter to change.
    pub param: &'static str,
    /// The reason, with the values of the first such cell.
    pub reason: String,
    /// How many cells it holds for.
    pub cells: usize,
}

/// How many cells a grid may have.
const MAX_CELLS: usize = 50_000_000;

impl Axis {
    /// The values that accept a fact with this bound: a run from one end.
    pub(crate) fn accepting(&self, bound: i64) -> std::ops::Range<u16> {
        let accepts = |n: &i64| self.threshold.accepts(*n, bound);
        let n = self.numbers.len();
        let (from, to) = match self.threshold.side {
            Side::AtMost => (0, self.numbers.partition_point(accepts)),
            Side::AtLeast => (self.numbers.partition_point(|v| !accepts(v)), n),
        };
        narrow(from)..narrow(to)
    }

    /// The value that is compared as exactly this number, if there is one.
    pub(crate) fn exactly(&self, number: i64) -> std::ops::Range<u16> {
        match self.numbers.binary_search(&number) {
            Ok(i) => narrow(i)..narrow(i + 1),
            Err(i) => narrow(i)..narrow(i),
        }
    }

    /// What each value is compared as; rising.
    pub(crate) fn numbers(&self) -> &[i64] {
        &self.numbers
    }

    /// How many values there are.
    pub(crate) fn len(&self) -> u16 {
        narrow(self.values.len())
    }
}

/// A grid refuses more values than fit.
pub(crate) fn narrow(index: usize) -> u16 {
    u16::try_from(index).unwrap_or(u16::MAX)
}

impl Plan {
    /// Adds the product of a grid's values; gives back the range of its cells' numbers. Cells that
    /// are impossible are left out and counted in [`refused`](Self::refused).
    ///
    /// # Errors
    /// The grid has more than 50 million cells, or not one that is possible.
    pub fn add_grid(&mut self, grid: &Grid) -> Result<std::ops::Range<usize>, PlanError> {
        let first = self.cells();
        let total = grid
            .members
            .iter()
            .flat_map(|m| &m.values)
            .try_fold(1_usize, |n, (_, values)| n.checked_mul(values.len()))
            .filter(|n| *n <= MAX_CELLS)
            .ok_or(PlanError::TooLarge)?;
        for base in structures(&grid.members) {
            self.add_block(base, grid);
        }
        if self.cells() == first {
            return Err(PlanError::NothingPossible {
                cells: total,
                refused: self.refused.clone(),
            });
        }
        Ok(first..self.cells())
    }

    /// Adds one setting, or finds it if it was added before; gives back its cell's number.
    pub fn add_setting(&mut self, setting: &Setting) -> usize {
        self.add_settings(&Settings::of(setting.clone()))
    }

    /// Adds a settings file as one setting: each transcript is watched by the guard of its model.
    /// Finds it if it was added before; gives back its cell's number.
    pub fn add_settings(&mut self, settings: &Settings) -> usize {
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
        let overrides = settings.overrides().map(|(glob, guard)| Override {
            glob: glob.clone(),
            guard: guard.clone(),
            sources: self.sources(guard),
        });
        let overrides: Vec<Override> = overrides.collect();
        let id = (!overrides.is_empty()).then_some(id);
        let sources = self.sources(guard);
        let base = guard.clone();
        let axes = Vec::new();
        self.blocks.push(Block {
            base,
            axes,
            first,
            possible: None,
            sources,
            overrides,
            id,
        });
        first
    }

    /// The blocks.
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// The cells that were left out, by reason, most first.
    pub fn refused(&self) -> &[Refused] {
        &self.refused
    }

    /// How many cells there are in all blocks.
    pub fn cells(&self) -> usize {
        self.blocks.last().map_or(0, |b| b.first + b.len())
    }

    /// Where cell number `index` is; the last cell for a number past it.
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

    /// The setting of cell number `index`.
    pub fn setting(&self, index: usize) -> Setting {
        let cell = self.cell(index);
        self.blocks
            .get(cell.block)
            .map_or_else(Setting::default, |b| b.setting(&cell.at))
    }

    /// The name of cell number `index`: its setting's, or its settings file's.
    pub fn id(&self, index: usize) -> String {
        let cell = self.cell(index);
        self.blocks
            .get(cell.block)
            .map_or_else(String::new, |b| b.id(&cell.at))
    }

    /// A text that tells this plan from another: what a resumed sweep must have in common.
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

    /// The distinct meters: each reads each transcript once.
    pub(crate) fn meters(&self) -> &[Measure] {
        &self.meters
    }

    fn add_block(&mut self, base: Setting, grid: &Grid) {
        let axes = axes(&base, grid);
        let shape: Vec<usize> = axes.iter().map(|a| a.values.len()).collect();
        let cells: usize = shape.iter().product();
        let mut block = Block {
            base,
            axes,
            first: self.cells(),
            possible: None,
            sources: Vec::new(),
            overrides: Vec::new(),
            id: None,
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
        block.sources = self.sources(&block.loosest());
        self.blocks.push(block);
    }

    fn is_possible(&mut self, block: &Block, dense: usize) -> bool {
        let setting = block.setting(&block.position(dense));
        let check = |m: &Member| (m.detector.check)(&m.params);
        let Err(refusal) = setting.members.iter().try_for_each(check) else {
            return true;
        };
        let known = |r: &&mut Refused| r.param == refusal.param && r.reason == refusal.reason;
        match self.refused.iter_mut().find(known) {
            Some(refused) => refused.cells += 1,
            None => {
                let (param, reason) = (refusal.param, refusal.reason);
                self.refused.push(Refused {
                    param,
                    reason,
                    cells: 1,
                });
            }
        }
        false
    }

    /// A meter for each member and channel; those that another block has already are shared.
    fn sources(&mut self, setting: &Setting) -> Vec<Source> {
        let mut sources = Vec::new();
        for (member, m) in setting.members.iter().enumerate() {
            let structure = m.structure();
            for channel in Channel::TEXT.into_iter().filter(|c| m.watches(*c)) {
                let meter = self.meter((structure.clone(), channel), m);
                sources.push(Source {
                    member,
                    channel,
                    meter,
                });
            }
        }
        sources
    }

    fn meter(&mut self, key: (String, Channel), member: &Member) -> usize {
        let channel = key.1;
        let next = self.meters.len();
        let index = *self.known.entry(key).or_insert(next);
        match self.meters.get_mut(index) {
            Some(shared) => {
                if shared.loosest.loosen(member) {
                    shared.recipe = shared.loosest.recipe();
                }
            }
            None => self.meters.push(Measure {
                channel,
                recipe: member.recipe(),
                loosest: member.clone(),
            }),
        }
        index
    }
}

impl Block {
    /// The thresholds that vary, outermost first.
    pub fn axes(&self) -> &[Axis] {
        &self.axes
    }

    /// How many values each axis has.
    pub fn shape(&self) -> Vec<usize> {
        self.axes.iter().map(|a| a.values.len()).collect()
    }

    /// The number of its first cell.
    pub fn first(&self) -> usize {
        self.first
    }

    /// How many possible cells it has; never 0.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.possible
            .as_ref()
            .map_or_else(|| self.shape().iter().product(), Vec::len)
    }

    /// Whether a member reads `channel`, of the guard of any model.
    pub fn watches(&self, channel: Channel) -> bool {
        let guards = self.overrides.iter().map(|o| &o.guard);
        guards
            .chain([&self.base])
            .any(|guard| guard.watches(channel))
    }

    /// The guard that watches a model, with the first value of every axis.
    pub fn guard(&self, model: &str) -> &Setting {
        self.watching(model).0
    }

    /// The name of the setting with these value indices.
    pub fn id(&self, at: &[u16]) -> String {
        self.id.clone().unwrap_or_else(|| self.setting(at).id())
    }

    /// The place of the `nth` possible cell in the dense array over all axes, last axis innermost.
    pub fn dense(&self, nth: usize) -> usize {
        self.possible
            .as_ref()
            .map_or(nth, |p| p.get(nth).copied().unwrap_or(0))
    }

    /// The value indices of the `nth` possible cell.
    pub fn at(&self, nth: usize) -> Vec<u16> {
        self.position(self.dense(nth))
    }

    /// The setting with these value indices.
    pub fn setting(&self, at: &[u16]) -> Setting {
        let mut setting = self.base.clone();
        for (axis, i) in self.axes.iter().zip(at) {
            if let Some(value) = axis.values.get(usize::from(*i)) {
                setting.members[axis.member]
                    .params
                    .set(axis.param, value.clone());
            }
        }
        setting
    }

    /// The setting with the loosest value along every axis.
    fn loosest(&self) -> Setting {
        let end = |axis: &Axis| match axis.threshold.side {
            Side::AtMost => 0,
            Side::AtLeast => axis.len().saturating_sub(1),
        };
        self.setting(&self.axes.iter().map(end).collect::<Vec<u16>>())
    }

    /// The guard of a model, and where its members take their facts from.
    pub(crate) fn watching(&self, model: &str) -> (&Setting, &[Source]) {
        let own = self.overrides.iter().find(|o| o.glob.is_match(model));
        own.map_or((&self.base, &self.sources), |o| (&o.guard, &o.sources))
    }

    fn position(&self, dense: usize) -> Vec<u16> {
        let mut rest = dense;
        let mut at: Vec<u16> = Vec::with_capacity(self.axes.len());
        for axis in self.axes.iter().rev() {
            at.push(narrow(rest % axis.values.len()));
            rest /= axis.values.len();
        }
        at.reverse();
        at
    }
}

/// Every combination of the structural values, first member and first parameter outermost.
fn structures(members: &[GridMember]) -> Vec<Setting> {
    let base = Setting {
        members: members.iter().map(|m| m.base.clone()).collect(),
    };
    let mut all = vec![base];
    for (i, member) in members.iter().enumerate() {
        for (param, values) in &member.values {
            if matches!(param.mark, deadloop_detect::Mark::Structural) {
                let with = |setting: Setting| {
                    values.iter().map(move |value| {
                        let mut setting = setting.clone();
                        setting.members[i].params.set(param.name, value.clone());
                        setting
                    })
                };
                all = all.into_iter().flat_map(with).collect();
            }
        }
    }
    all
}

fn axes(base: &Setting, grid: &Grid) -> Vec<Axis> {
    let mut axes = Vec::new();
    for (member, (m, values)) in base.members.iter().zip(&grid.members).enumerate() {
        for (bound, (param, threshold)) in m.detector.thresholds().enumerate() {
            if let Some((_, values)) = values.values.iter().find(|(p, _)| p.name == param.name) {
                let values = values.clone();
                let numbers = values.iter().map(|v| threshold.number(v)).collect();
                axes.push(Axis {
                    member,
                    param: param.name,
                    threshold,
                    bound,
                    values,
                    numbers,
                });
            }
        }
    }
    axes
}

/// Why a grid cannot be planned.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// More cells than can be numbered in reasonable memory.
    #[error("the grid has more than {MAX_CELLS} cells; name fewer values")]
    TooLarge,
    /// Every cell is refused.
    #[error("none of the grid's {cells} cells can ever fire: {}", reasons(.refused))]
    NothingPossible {
        /// How many there are.
        cells: usize,
        /// Why.
        refused: Vec<Refused>,
    },
}

fn reasons(refused: &[Refused]) -> String {
    let reason = |r: &Refused| format!("{}: {} ({} cells)", r.param, r.reason, r.cells);
    refused
        .iter()
        .take(3)
        .map(reason)
        .collect::<Vec<_>>()
        .join("; ")
}
