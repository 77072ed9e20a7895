//! [`result_tables`]: what every table of a result folder holds, from the lists by which they are written.

use deadloop_replay::detect::Unit;
use deadloop_tables::{ColumnDoc, Type};

use super::breakdown::IntervalRow;
use super::choice::choice_columns;
use super::outcomes::OutcomeLine;
use super::repairs::{ArgumentRow, RepairRow};
use super::scores;
use crate::budget::{budget_columns, limit_columns};
use crate::compare::flip_columns;

/// A table that a command leaves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResultTable {
    /// Its file. A `.parquet` has a `.csv` beside it with `--csv`; `scores_by` always has.
    pub file: &'static str,
    /// The commands that leave it.
    pub left_by: &'static str,
    /// What a row is.
    pub row: &'static str,
    /// Its columns, in their order.
    pub columns: Vec<ColumnDoc>,
}

impl ResultTable {
    fn new(
        file: &'static str,
        left_by: &'static str,
        row: &'static str,
        columns: Vec<ColumnDoc>,
    ) -> Self {
        Self {
            file,
            left_by,
            row,
            columns,
        }
    }
}

/// Every table that a command leaves in its folder, in the unit chars: in others the rate of wrong alarms in choice.csv
/// is called fa_per_kcall or fa_per_kturn. A unit called `unit` is that of the row, or of the choice.
pub fn result_tables() -> Vec<ResultTable> {
    let mut tables = of_guards();
    tables.push(ResultTable::new(
        "flips.csv",
        "compare",
        "a transcript that two sides treat differently",
        flip_columns().described(),
    ));
    tables.extend(of_repairs_and_budgets());
    tables
}

/// The tables of `replay`, `sweep` and `tune`.
fn of_guards() -> Vec<ResultTable> {
    let scores = scores::described();
    let by = by().into_iter().chain(scores.clone()).collect();
    vec![
        ResultTable::new(
            "outcomes.parquet",
            "replay, tune",
            "a transcript under a setting",
            OutcomeLine::columns().described(),
        ),
        ResultTable::new(
            "scores.parquet",
            "replay, sweep, tune",
            "a setting on a model, in a unit",
            scores,
        ),
        ResultTable::new(
            "scores_by.parquet",
            "replay, tune",
            "a setting on the transcripts with one value of a field",
            by,
        ),
        ResultTable::new(
            "intervals.csv",
            "replay, tune",
            "the interval of a score",
            IntervalRow::columns().described(),
        ),
        ResultTable::new(
            "choice.csv",
            "tune",
            "what a model gets",
            choice_columns(Unit::Chars).described(),
        ),
    ]
}

/// The columns in front of those of scores in scores_by.parquet.
fn by() -> [ColumnDoc; 2] {
    [
        ("by", "The field, as `lang` or `kind`."),
        ("value", "Its value; empty: the transcripts without one."),
    ]
    .map(|(name, about)| ColumnDoc {
        name: name.into(),
        of: Type::Text,
        unit: String::new(),
        about: about.into(),
    })
}

fn of_repairs_and_budgets() -> Vec<ResultTable> {
    vec![
        ResultTable::new(
            "repairs.parquet",
            "repair",
            "a stream in the hands of a variant",
            RepairRow::columns().described(),
        ),
        ResultTable::new(
            "arguments.csv",
            "repair",
            "a variant on the arguments of a source that are no JSON",
            ArgumentRow::columns().described(),
        ),
        ResultTable::new(
            "budgets.parquet",
            "budget",
            "a setting on the runs of a source",
            budget_columns().described(),
        ),
        ResultTable::new(
            "limits.csv",
            "budget",
            "a limit on the runs of a source",
            limit_columns().described(),
        ),
    ]
}
