//! [`BudgetGrid`]: the budgets of a file in which parameters may have several values.
//!
//! ```toml
//! [[budget]]
//! preset = "codex"                        # optional; params override
//! [budget.params]
//! window    = [16000, 32000]
//! threshold = { from = 0.5, to = 0.95, step = 0.05 }
//! cache     = [1, 0.25, 0.1]
//! ```

use std::collections::{BTreeMap, HashSet};

use deadloop_detect::harness::{LocatedValue, read_toml};
use deadloop_detect::{SettingsError, Value};
use serde::Deserialize;

use super::params::{Budget, SPEC};
use super::presets::find_preset;
use crate::grid::{combine_values, count_combinations, read_param_values};

/// The default grid, as TOML.
pub const DEFAULT_GRID: &str = include_str!("grid.toml");

/// The maximum number of settings of a grid. All are held in memory, with their counts.
const MAX_SETTINGS: usize = 1_000_000;

/// The distinct settings of a grid, in the order of nested loops with the last parameter innermost.
#[derive(Clone, Debug, Default)]
pub struct BudgetGrid {
    /// The possible settings.
    pub budgets: Vec<Budget>,
    /// The number of impossible settings, by reason.
    pub refused: BTreeMap<String, u64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BudgetGridFile {
    #[serde(default)]
    budget: Vec<BudgetGridTable>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BudgetGridTable {
    preset: Option<LocatedValue<String>>,
    #[serde(default)]
    params: BTreeMap<LocatedValue<String>, LocatedValue<Value>>,
}

impl BudgetGrid {
    /// Parses a grid. The settings of several `[[budget]]` tables are appended, not multiplied.
    ///
    /// # Errors
    /// Returns an error with its line if the text is not TOML, if a name or a value is unknown or out of bounds, or if
    /// the grid has more than a million settings or no possible one.
    pub fn parse(text: &str) -> Result<Self, SettingsError> {
        let wire: BudgetGridFile = read_toml(text)?;
        let mut grid = Self::default();
        let mut seen = HashSet::new();
        for table in &wire.budget {
            let swept = read_param_values(&SPEC, &table.params, text)?;
            let cells = count_combinations(&swept, MAX_SETTINGS);
            let cells = cells.ok_or_else(|| SettingsError::at(text, 0..0, describe_too_many()))?;
            for params in combine_values(table.read_base(text)?.params(), &swept, cells) {
                if let Err(refusal) = SPEC.check(&params) {
                    *grid.refused.entry(refusal.reason).or_default() += 1;
                    continue;
                }
                let budget = Budget::from_params(&params);
                if seen.insert(budget.canonical()) {
                    grid.budgets.push(budget);
                }
            }
        }
        match (grid.budgets.len(), grid.refused.keys().next()) {
            (0, Some(reason)) => Err(SettingsError::at(
                text,
                0..0,
                format!("no setting is possible: {reason}"),
            )),
            (0, None) => Err(SettingsError::at(text, 0..0, "no [[budget]]")),
            (1..=MAX_SETTINGS, _) => Ok(grid),
            _ => Err(SettingsError::at(text, 0..0, describe_too_many())),
        }
    }
}

fn describe_too_many() -> String {
    format!("more than {MAX_SETTINGS} settings; expected fewer values")
}

impl BudgetGridTable {
    /// Returns the setting that the table's values modify.
    fn read_base(&self, text: &str) -> Result<Budget, SettingsError> {
        let Some(name) = &self.preset else {
            return Ok(Budget::default());
        };
        let found = find_preset(name.get_ref());
        let found = found.map_err(|what| SettingsError::at(text, name.span(), what))?;
        Ok(found.within(&Budget::default()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_grid_is_a_product() {
        let grid = BudgetGrid::parse(DEFAULT_GRID).unwrap();
        assert_eq!(grid.budgets.len(), 5 * 7 * 2 * 3);
        let last = grid.budgets.last().unwrap();
        assert_eq!((last.window, last.keep, last.cache), (128_000, 0.2, 0.1));
    }

    #[test]
    fn what_is_wrong_has_its_line() {
        let said = |text: &str| BudgetGrid::parse(text).unwrap_err().to_string();
        let wrong = said("[[budget]]\nparams.treshold = 0.5");
        assert!(wrong.starts_with("2:8: unknown parameter") && wrong.contains("threshold"));
        assert!(said("[[budget]]\nparams.threshold = [0.5, 2]").starts_with("2:"));
        assert!(said("[[budget]]\npreset = \"codx\"").contains("did you mean \"codex\""));
        assert!(said("").contains("no [[budget]]"));
        let full = said("[[budget]]\nparams = { tools = 500, window = 400 }");
        assert!(full.contains("fill the window"));
    }

    #[test]
    fn what_a_policy_does_not_read_makes_no_second_setting() {
        let grid = "[[budget]]\nparams = { policy = \"drop\", summary = [0.1, 0.2] }";
        assert_eq!(BudgetGrid::parse(grid).unwrap().budgets.len(), 1);
    }
}
