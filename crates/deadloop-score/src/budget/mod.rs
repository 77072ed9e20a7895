//! Tables of context budgets and turn limits on recorded runs.
//!
//! | to find | look in |
//! |---|---|
//! | `budgets.parquet` | [`BudgetTable`], [`BudgetRow`] |
//! | the effect of iteration limits that ask the user | [`limit_rows`], [`LimitRow`] |

mod limits;
mod table;

pub(crate) use limits::limit_schema;
pub use limits::{LimitCase, LimitRow, limit_grid, limit_rows, write_limits};
pub(crate) use table::budget_schema;
pub use table::{BudgetRow, BudgetTable, CountError};
