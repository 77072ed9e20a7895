//! [`MEASURES`]: the table of measures, with one measure for each score of a tally.
//!
//! | to find | look in |
//! |---|---|
//! | a measure: its name, unit, formula and tables | `table/` |
//! | the fields of an entry | [`Measure`] |
//! | formulas, values, intervals | [`Formula`], [`Measure::value`], [`Measure::interval`] |
//! | a measure by its name | [`metric`] |
//! | a guard's savings at a rate of loops | `spared_at` |
//!
//! The columns of scores.parquet and choice.csv, their reader, constraints, objectives, and the tables and headings of
//! reports are derived from the entry of a measure.
//! **To add a measure:** write a `Measure` in a file of `table/` and list it in [`MEASURES`].
//!
//! A formula is a ratio of sums of counts, or combines two ratios. Quantiles of the latency are no measures. The limit
//! `latency_p90<=1000` is read as `within_1000>=0.9`.

mod entry;
mod formula;
mod names;
mod savings;
mod table;

pub use entry::{Measure, MeasureUnit, Metric, TableVisibility, UncertaintyMethod};
pub use formula::{Formula, Ratio, Stakes, Term, Times};
pub use names::{GoalError, metric};
pub(crate) use savings::spared_at;
pub use table::*;
