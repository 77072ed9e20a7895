//! [`Block`]: settings that share all structural parameters.

use deadloop_detect::harness::{ModelList, OverrideGlob, SettingIds, Threshold, ThresholdSide};
use deadloop_detect::{Channel, ModelTask, Response, Setting, Value};

use crate::grid::Grid;
use crate::plan_meters::MemberSources;

/// A group of settings that share all structural parameters and differ only in thresholds.
#[derive(Clone, Debug, Default)]
pub struct Block {
    pub(crate) base: Setting,
    pub(crate) axes: Vec<Axis>,
    /// The number of the block's first cell in the plan.
    pub(crate) first: usize,
    /// The dense indices of the possible cells. `None` if every cell is possible.
    pub(crate) possible: Option<Vec<usize>>,
    pub(crate) sources: MemberSources,
    /// The globs of models and tasks whose guards replace `base`. Only a settings file has any.
    pub(crate) models: ModelList,
    /// The guard for each glob of `models`, in the same order.
    pub(crate) overrides: Vec<Override>,
    /// The name of the setting, if `base` has a different name.
    pub(crate) id: Option<String>,
}

/// A guard that replaces that of the block for some models or tasks.
#[derive(Clone, Debug)]
pub(crate) struct Override {
    pub(crate) guard: Setting,
    pub(crate) sources: MemberSources,
}

/// A threshold parameter with several values, which is a dimension of the block's cells.
#[derive(Clone, Debug)]
pub struct Axis {
    /// The index of the member in the guard, from 0.
    pub member: usize,
    /// The name of the threshold's parameter.
    pub param: &'static str,
    /// The rule by which a value of the threshold accepts a fact.
    pub threshold: Threshold,
    /// The values, in rising order of their comparison numbers.
    pub values: Vec<Value>,
    /// The comparison number of each value.
    numbers: Vec<i64>,
}

impl Axis {
    /// Returns the range of the values that accept a fact with this bound. It begins or ends at an end of the axis.
    pub(crate) fn accepted_range(&self, bound: i64) -> std::ops::Range<u16> {
        let accepts = |n: &i64| self.threshold.accepts(*n, bound);
        let n = self.numbers.len();
        let (from, to) = match self.threshold.side {
            ThresholdSide::AtMost => (0, self.numbers.partition_point(accepts)),
            ThresholdSide::AtLeast => (self.numbers.partition_point(|v| !accepts(v)), n),
        };
        index_as_u16(from)..index_as_u16(to)
    }

    /// Returns the range with the index of the value whose comparison number is `number`. The range is empty if there
    /// is no such value.
    pub(crate) fn range_of(&self, number: i64) -> std::ops::Range<u16> {
        match self.numbers.binary_search(&number) {
            Ok(i) => index_as_u16(i)..index_as_u16(i + 1),
            Err(i) => index_as_u16(i)..index_as_u16(i),
        }
    }

    /// Returns the comparison number of each value, in rising order.
    pub(crate) fn numbers(&self) -> &[i64] {
        &self.numbers
    }

    /// Returns the number of values on the axis.
    pub(crate) fn len(&self) -> u16 {
        index_as_u16(self.values.len())
    }
}

/// Cache for naming the settings of a block. Consecutive settings that differ only in the last axes are cheap to name.
#[derive(Debug)]
pub struct BlockIds<'a> {
    block: &'a Block,
    ids: Option<SettingIds>,
}

impl BlockIds<'_> {
    /// Returns the [name](Block::id) of the setting with these value indices.
    pub fn id(&mut self, at: &[u16]) -> String {
        match &mut self.ids {
            Some(ids) => ids.id(at),
            None => self.block.id(at),
        }
    }
}

/// Converts a value index to `u16`. Grids with more values are refused.
pub(crate) fn index_as_u16(index: usize) -> u16 {
    u16::try_from(index).unwrap_or(u16::MAX)
}

impl Block {
    /// Returns the thresholds with several values, outermost first.
    pub fn axes(&self) -> &[Axis] {
        &self.axes
    }

    /// Returns the number of values on each axis.
    pub fn shape(&self) -> Vec<usize> {
        self.axes.iter().map(|a| a.values.len()).collect()
    }

    /// Returns the number of the block's first cell in the plan.
    pub fn first(&self) -> usize {
        self.first
    }

    /// Returns the number of possible cells, which is at least 1.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.possible
            .as_ref()
            .map_or_else(|| self.shape().iter().product(), Vec::len)
    }

    /// Returns the [level](Response::level) of the block's alarms, which is the same for all settings of a plan.
    pub fn response(&self) -> Response {
        let guards = self.overrides.iter().map(|o| &o.guard).chain([&self.base]);
        let first = guards.flat_map(|guard| &guard.members).next();
        first.map_or(Response::Stop, |member| member.response.level())
    }

    /// Returns whether some member of any guard reads `channel`.
    pub fn watches(&self, channel: Channel) -> bool {
        let guards = self.overrides.iter().map(|o| &o.guard);
        guards
            .chain([&self.base])
            .any(|guard| guard.watches(channel))
    }

    /// Returns the guard for a model, optionally at a task, with the first value of every axis.
    pub fn guard<'a>(&self, work: impl Into<ModelTask<'a>>) -> &Setting {
        self.guard_for(work.into()).0
    }

    /// Returns the guards for particular models and tasks, in the order in which they are tried. Empty unless the block
    /// is a settings file.
    pub fn overrides(&self) -> impl Iterator<Item = (&OverrideGlob, &Setting)> {
        let guards = self.overrides.iter().map(|own| &own.guard);
        self.models.globs().iter().zip(guards)
    }

    /// Returns the name of the setting with these value indices.
    pub fn id(&self, at: &[u16]) -> String {
        self.id.clone().unwrap_or_else(|| self.setting(at).id())
    }

    /// Returns a [`BlockIds`] for naming many settings of the block.
    pub fn ids(&self) -> BlockIds<'_> {
        let varying = self.axes.iter().map(|axis| {
            let values = axis.values.as_slice();
            (axis.member, axis.param, values)
        });
        let varying: Vec<_> = varying.collect();
        let own = self.id.is_none();
        BlockIds {
            block: self,
            ids: own.then(|| SettingIds::new(&self.base, &varying)).flatten(),
        }
    }

    /// Returns the dense index of the `nth` possible cell. Dense indices count all cells, last axis innermost.
    pub(crate) fn dense_index(&self, nth: usize) -> usize {
        self.possible
            .as_ref()
            .map_or(nth, |p| p.get(nth).copied().unwrap_or(0))
    }

    /// Returns the value indices of the `nth` possible cell.
    pub fn at(&self, nth: usize) -> Vec<u16> {
        self.value_indices(self.dense_index(nth))
    }

    /// Calls `visit` with each possible cell of `range` and its value indices, in order.
    pub fn each(&self, range: std::ops::Range<usize>, mut visit: impl FnMut(usize, &[u16])) {
        let mut at = self.at(range.start);
        for nth in range.clone() {
            visit(nth, &at);
            match self.possible {
                Some(_) if nth + 1 < range.end => at = self.at(nth + 1),
                Some(_) => {}
                None => self.advance_cell(&mut at),
            }
        }
    }

    /// Advances the value indices to the next cell in dense order. The first cell follows the last.
    fn advance_cell(&self, at: &mut [u16]) {
        for (value, axis) in at.iter_mut().zip(&self.axes).rev() {
            *value += 1;
            if *value < axis.len() {
                return;
            }
            *value = 0;
        }
    }

    /// Returns the setting at these value indices.
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

    /// Returns the setting with the loosest value of every axis.
    pub(crate) fn loosest_setting(&self) -> Setting {
        self.extreme_setting(ThresholdSide::AtMost)
    }

    /// Returns the setting with the strictest value of every axis.
    pub(crate) fn strictest_setting(&self) -> Setting {
        self.extreme_setting(ThresholdSide::AtLeast)
    }

    /// Returns the setting with the first value of each axis whose threshold is on the side `first`, and the last value
    /// of the other axes.
    fn extreme_setting(&self, first: ThresholdSide) -> Setting {
        let end = |axis: &Axis| {
            if axis.threshold.side == first {
                0
            } else {
                axis.len().saturating_sub(1)
            }
        };
        self.setting(&self.axes.iter().map(end).collect::<Vec<u16>>())
    }

    /// Returns the guard for a model at a task, and the sources of its members.
    pub(crate) fn guard_for(&self, work: ModelTask<'_>) -> (&Setting, &MemberSources) {
        let index = self.models.first(work);
        let found = index.and_then(|i| self.overrides.get(i));
        found.map_or((&self.base, &self.sources), |o| (&o.guard, &o.sources))
    }

    /// Returns the value indices of the cell with this dense index.
    pub(crate) fn value_indices(&self, dense: usize) -> Vec<u16> {
        let mut rest = dense;
        let mut at: Vec<u16> = Vec::with_capacity(self.axes.len());
        for axis in self.axes.iter().rev() {
            at.push(index_as_u16(rest % axis.values.len()));
            rest /= axis.values.len();
        }
        at.reverse();
        at
    }
}

/// Returns the threshold axes of a grid for one combination of structural values.
pub(crate) fn threshold_axes(base: &Setting, grid: &Grid) -> Vec<Axis> {
    let mut axes = Vec::new();
    for (member, (m, values)) in base.members.iter().zip(&grid.members).enumerate() {
        for (param, threshold) in m.detector.thresholds() {
            if let Some((_, values)) = values.values.iter().find(|(p, _)| p.name == param.name) {
                let values = values.clone();
                let numbers = values.iter().map(|v| threshold.number(v)).collect();
                axes.push(Axis {
                    member,
                    param: param.name,
                    threshold,
                    values,
                    numbers,
                });
            }
        }
    }
    axes
}

#[cfg(test)]
mod tests {
    use crate::Plan;
    use crate::shipped::{all_presets, default_grids};
    use deadloop_detect::Unit;

    /// Covers any order, one and several detectors, and grids and settings.
    #[test]
    fn names_of_many_are_those_of_each() {
        let mut plan = Plan::default();
        for unit in [Unit::Chars, Unit::Calls] {
            for grid in default_grids(unit).unwrap().0 {
                plan.add_grid(&grid).unwrap();
            }
        }
        for (_, setting) in all_presets().unwrap() {
            plan.add_setting(&setting);
        }
        for block in plan.blocks() {
            let mut ids = block.ids();
            assert!(ids.ids.is_some(), "{:?}", block.base);
            for nth in (0..block.len()).chain((0..block.len()).rev().step_by(7)) {
                let at = block.at(nth);
                assert_eq!(ids.id(&at), block.setting(&at).id(), "{nth}");
            }
        }
    }
}
