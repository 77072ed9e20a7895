//! [`BudgetRunRow`]: `budget_runs.parquet`, a row a run and setting that has a name: what `compare` holds against another run.

use std::path::Path;
use std::sync::Arc;

use deadloop_replay::budget::{Budget, Played};
use deadloop_tables::table_row;

use crate::files::store::{FileError, write_table};
use crate::truth::Case;

table_row! {
    /// A row of `budget_runs.parquet`: a run under a setting.
    pub struct BudgetRunRow {
        /// The transcript's id.
        transcript: Text,
        /// The setting: the name that it has in every run.
        setting: Text,
        /// What is given and not chosen: the window, how tokens are counted, what is reserved, the price of a cached token.
        world: Text,
        /// The model.
        model: Text,
        /// What belongs together in folds and intervals.
        group: Text,
        /// The split.
        split: Text,
        /// The hash of the text: copies have the same.
        text: Text,
        /// The turns of the run, up to an overflow.
        turns: Int["turns"],
        /// The turn whose prompt is an overflow; empty: there is none.
        overflow: Int["turns"],
        /// How often the guard acts.
        summaries: Int["acts"],
        /// What is sent costs this.
        cost: Float["tokens that are not cached"],
        /// The cost with what forgetting costs.
        price: Float["tokens that are not cached"],
        /// The cost without a guard, in an endless window.
        cost_never: Float["tokens that are not cached"],
    }
}

/// What is given in a world, as its rows say it.
fn world(budget: &Budget) -> Arc<str> {
    let Budget {
        window,
        reserve,
        tools,
        cache,
        ..
    } = budget;
    let counter = budget.counter.name();
    format!("window {window}, {counter}, reserve {reserve}, tools {tools}, cache {cache}").into()
}

impl BudgetRunRow {
    /// The row of a run: its case, the setting, and what it is with and without it.
    pub fn of(case: &Case, budget: &Budget, played: &Played, free: &Played) -> Self {
        Self {
            transcript: Some(case.id.clone()),
            setting: Some(budget.id().into()),
            world: Some(world(budget)),
            model: Some(case.model.clone()),
            group: Some(case.cluster().into()),
            split: case.split.clone(),
            text: Some((*case.text).into()),
            turns: Some(played.turns),
            overflow: played.overflow,
            summaries: Some(played.summaries),
            cost: Some(played.cost(budget.cache)),
            price: Some(played.price(budget.cache)),
            cost_never: Some(free.cost(budget.cache)),
        }
    }
}

/// Writes `budget_runs.parquet`, and `budget_runs.csv` where asked for.
///
/// # Errors
/// A file cannot be written.
pub fn write_budget_runs(
    dir: &Path,
    rows: impl IntoIterator<Item = BudgetRunRow>,
    csv: bool,
) -> Result<usize, FileError> {
    write_table(dir, "budget_runs", &BudgetRunRow::columns(), rows, csv)
}
