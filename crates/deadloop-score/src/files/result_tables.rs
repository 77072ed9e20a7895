//! [`result_tables`]: descriptions of the tables of result folders.

use deadloop_replay::detect::Unit;
use deadloop_tables::ColumnDoc;

use super::choice::choice_schema;
use super::outcomes::OutcomeLine;
use super::repairs::{ArgumentRow, RepairRow};
use super::scores;
use crate::budget::{budget_schema, limit_schema};
use crate::compare::flip_schema;

/// The description of a table in a result folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResultTable {
    /// The name of the table's file. With `--csv`, a `.csv` is written next to a `.parquet`.
    pub file: &'static str,
    /// The commands that write the table.
    pub left_by: &'static str,
    /// The item that a row describes, in words.
    pub row: &'static str,
    /// The columns of the table, in their order.
    pub columns: Vec<ColumnDoc>,
}

/// Describes every table that a command writes, as it is for the unit chars.
///
/// In other units the rate of wrong alarms in choice.csv is called fa_per_kcall or fa_per_kturn. A column whose unit is
/// `unit` is in the unit of its row, or in the unit of the choice.
pub fn result_tables() -> Vec<ResultTable> {
    let table = |file, left_by, row, columns| ResultTable {
        file,
        left_by,
        row,
        columns,
    };
    let (outcomes, scores) = (OutcomeLine::schema().docs(), scores::column_docs());
    let choice = choice_schema(Unit::Chars).docs();
    let (repairs, arguments) = (RepairRow::schema().docs(), ArgumentRow::schema().docs());
    let (budgets, limits) = (budget_schema().docs(), limit_schema().docs());
    let of_arguments = "a variant on the arguments of a source that are no JSON";
    let of_flips = "a transcript that two sides treat differently";
    vec![
        table(
            "outcomes.parquet",
            "replay, tune",
            "a transcript under a setting",
            outcomes,
        ),
        table(
            "scores.parquet",
            "replay, sweep, tune",
            "a setting on a slice of the corpus, in a unit",
            scores,
        ),
        table("choice.csv", "tune", "what a model gets", choice),
        table("flips.csv", "compare", of_flips, flip_schema().docs()),
        table(
            "repairs.parquet",
            "repair",
            "a stream in the hands of a variant",
            repairs,
        ),
        table("arguments.csv", "repair", of_arguments, arguments),
        table(
            "budgets.parquet",
            "budget",
            "a setting on the runs of a source",
            budgets,
        ),
        table(
            "limits.csv",
            "budget",
            "a limit on the runs of a source",
            limits,
        ),
    ]
}
