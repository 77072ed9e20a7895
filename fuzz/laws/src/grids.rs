//! Grids of context budgets and of repairers: TOML in; what is accepted is possible, and written it is the same again.

use deadloop_replay::budget::BudgetGrid;

// How the program reads a grid of repairers: its own files, since it is no library.
#[allow(dead_code, unreachable_pub, reason = "the program uses the rest")]
#[path = "../../../crates/deadloop/src/mending/product.rs"]
mod product;
#[allow(dead_code, unreachable_pub, reason = "the program uses the rest")]
#[path = "../../../crates/deadloop/src/mending/variants.rs"]
mod variants;

use variants::variants;

/// Variants that are written and read again.
const AGAIN: usize = 20;

/// The laws of these grids.
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
    match variants(text) {
        Err(what) => {
            let (line, what) = what.split_once(':').expect("a line");
            let line: usize = line.parse().expect("a number");
            assert!((1..=text.split('\n').count()).contains(&line), "{line}");
            assert!(!what.trim().is_empty());
        }
        Ok((all, _)) => {
            for variant in all.iter().filter(|v| !v.toml().is_empty()).take(AGAIN) {
                let written = variant.toml();
                let (again, refused) =
                    variants(&written).unwrap_or_else(|e| panic!("{e} in:\n{written}"));
                let same = again.iter().find(|again| !again.toml().is_empty());
                let same = same.unwrap_or_else(|| panic!("nothing of\n{written}"));
                assert_eq!((same.toml(), refused), (written, 0));
            }
        }
    }
}
