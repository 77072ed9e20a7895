//! Budgets of context and limits on turns: the tables of what each does to recorded runs.
//!
//! | to find | look in |
//! |---|---|
//! | `budgets.parquet` | [`BudgetTable`], [`BudgetRow`] |
//! | what iteration limits that ask would have done | [`limit_rows`], [`LimitRow`] |

mod limits;
mod table;

pub(crate) use limits::limit_schema;
pub use limits::{LimitCase, LimitRow, limit_grid, limit_rows, write_limits};
pub(crate) use table::budget_schema;
pub use table::{BudgetRow, BudgetTable, CountError};
