//! [`MEASURES`]: the table of measures, one [`Measure`] per score of a tally.
//!
//! | to find | look in |
//! |---|---|
//! | a measure: its name, unit, formula and tables | `table/` |
//! | the fields of an entry | [`Measure`] |
//! | formulas, values, intervals | [`Formula`], [`Measure::value`], [`Measure::interval`] |
//! | a measure by its name | [`metric`] |
//! | a guard's savings at a rate of loops, in a sentence | `spared_at` |
//!
//! The columns of scores.parquet and choice.csv, the reader of those files, constraints and objectives, the
//! report's tables and headings follow from the entry of a measure.
//! **To add one:** write a `Measure` in a file of `table/` and name it in [`MEASURES`].
//!
//! A formula is a ratio of sums of counts, or combines two. Quantiles of the latency are not
//! measures: `latency_p90<=1000` is read as `within_1000>=0.9`.

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
