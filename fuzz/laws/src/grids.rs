//! Laws of the grids of context budgets and repairers.
//!
//! The input is a TOML file. Each setting of an accepted grid is valid. A repairer that is written and read again is
//! unchanged.

use deadloop_replay::budget::BudgetGrid;
use deadloop_replay::repairers::RepairGrid;

/// The number of variants that are written and read again.
const AGAIN: usize = 20;

/// Checks the laws of grids on one file.
pub fn grids(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    match BudgetGrid::parse(text) {
        Err(error) => {
            let lines = text.split('\n').count();
            assert!((1..=lines).contains(&error.line), "{error}");
            assert!(
                !error.what.trim().is_empty() && !error.what.contains('\n'),
                "{error:?}"
            );
        }
        Ok(grid) => {
            assert!(!grid.budgets.is_empty());
            for budget in grid.budgets.iter().take(1000) {
                assert_eq!(budget.check(), Ok(()), "{budget:?}");
            }
        }
    }
    match RepairGrid::parse(text) {
        Err(error) => {
            let lines = text.split('\n').count();
            assert!((1..=lines).contains(&error.line), "{error}");
            assert!(!error.what.trim().is_empty());
        }
        Ok(grid) => {
            let made = grid.variants.iter().filter(|v| !v.toml().is_empty());
            for variant in made.take(AGAIN) {
                let written = variant.toml();
                let again = RepairGrid::parse(&written);
                let again = again.unwrap_or_else(|e| panic!("{e} in:\n{written}"));
                let mut same = again.variants.iter();
                let same = same.find(|again| !again.toml().is_empty());
                let same = same.unwrap_or_else(|| panic!("nothing of\n{written}"));
                assert_eq!((same.toml(), again.refused), (written, 0));
            }
        }
    }
}
