//! [`Structures`]: combinations of a grid's structural values, built one by one.

use deadloop_detect::harness::ParamRole;
use deadloop_detect::{Setting, Value};

use crate::grid::GridMember;
use crate::plan::PlanError;

/// The maximum memory for the blocks and meters of a plan, in bytes.
pub(crate) const MAX_BYTES: usize = 1 << 30;

/// The memory of a block or meter apart from its setting or member, in bytes: structs, table entries and recipes.
const BLOCK_BYTES: usize = 1 << 10;

/// The combinations of a grid's structural values, first member and first parameter outermost.
pub(crate) struct Structures<'a> {
    base: Setting,
    /// The index of each member, its parameter, and the values.
    axes: Vec<(usize, &'static str, &'a [Value])>,
    pub(crate) count: usize,
}

impl<'a> Structures<'a> {
    /// Returns the combinations of a grid, whose number of cells must fit in a `usize`.
    pub(crate) fn new(members: &'a [GridMember]) -> Self {
        let base = Setting {
            members: members.iter().map(|m| m.base.clone()).collect(),
        };
        let axes = members.iter().enumerate().flat_map(|(i, member)| {
            let structural = |(param, _): &&(&deadloop_detect::harness::Param, _)| {
                matches!(param.mark, ParamRole::Structural)
            };
            let values = member.values.iter().filter(structural);
            values.map(move |(param, values)| (i, param.name, values.as_slice()))
        });
        let axes: Vec<_> = axes.collect();
        Self {
            count: axes.iter().map(|(_, _, values)| values.len()).product(),
            base,
            axes,
        }
    }

    /// Checks that all combinations fit in memory, before any is built.
    ///
    /// # Errors
    ///
    /// Returns the estimated size if they do not fit.
    pub(crate) fn check_memory(&self) -> Result<(), PlanError> {
        // Each setting is held three times: in a block, in the meter of each channel, and in the key of that meter.
        let bytes = BLOCK_BYTES + 3 * estimate_heap_bytes(&self.base);
        let all = self.count.saturating_mul(bytes);
        if all <= MAX_BYTES {
            return Ok(());
        }
        let params: Vec<&str> = self.axes.iter().map(|(_, param, _)| *param).collect();
        Err(PlanError::TooManyStructures {
            structures: self.count,
            megabytes: all >> 20,
            params: params.join(", "),
        })
    }

    /// Returns the combination with this number.
    pub(crate) fn nth(&self, nth: usize) -> Setting {
        let mut setting = self.base.clone();
        let mut rest = nth;
        for (member, param, values) in self.axes.iter().rev() {
            if let Some(value) = values.get(rest % values.len()) {
                setting.members[*member].params.set(param, value.clone());
            }
            rest /= values.len();
        }
        setting
    }
}

/// Estimates the heap memory of a setting, in bytes.
fn estimate_heap_bytes(setting: &Setting) -> usize {
    let params = setting.members.iter().flat_map(|m| m.params.iter());
    params
        .map(|(name, value)| size_of::<(&str, Value)>() + name.len() + value.to_string().len())
        .sum()
}
