//! Budgets of context: how sure their figures are, which setting to take, and the table that is left.
//!
//! | to find | look in |
//! |---|---|
//! | intervals over groups: overflow, cost, the price of cached tokens at which the sign turns | [`Sure`], [`sure`] |
//! | which setting to take, and whether to | [`choose_budget`], [`BudgetAdvice`] |
//! | what iteration limits that ask would have done | [`limit_rows`], [`LimitRow`] |
//! | `budgets.parquet`, `budget_runs.parquet` | [`BudgetTable`], [`BudgetRunRow`] |

mod advice;
mod contest;
mod limits;
mod spent;
mod sure;
mod table;

pub use advice::{BudgetAdvice, BudgetOptions, BudgetPrice, PlayedStage, choose_budget};
pub(crate) use limits::limit_columns;
pub use limits::{LimitCase, LimitRow, limit_grid, limit_rows, write_limits};
pub use spent::{BudgetRunRow, write_budget_runs};
pub use sure::{Sure, sure};
pub(crate) use table::budget_columns;
pub use table::{BudgetRow, BudgetTable, CountError};
