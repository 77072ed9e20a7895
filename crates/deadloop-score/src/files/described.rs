//! [`result_tables`]: what every table of a result folder holds, from the lists by which they are written.

use deadloop_replay::detect::Unit;
use deadloop_tables::{ColumnDoc, Type};

use super::breakdown::IntervalRow;
use super::budget::SupportedRow;
use super::choice::choice_columns;
use super::outcomes::OutcomeRow;
use super::repairs::{ArgumentRow, repair_columns, repair_score_columns};
use super::scores;
use super::sweep::pareto_columns;
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

/// Every table that a command leaves in its folder, in the unit chars: in others the rate of wrong alarms in pareto.csv and
/// choice.csv is called fa_per_kcall or fa_per_kturn. A unit called `unit` is that of the row, or of the choice.
pub fn result_tables() -> Vec<ResultTable> {
    let table = |file, left_by, row, columns| ResultTable {
        file,
        left_by,
        row,
        columns,
    };
    let by = ["by", "value"].map(|name| ColumnDoc {
        name: name.into(),
        of: Type::Text,
        unit: String::new(),
        about: match name {
            "by" => "The field, as `lang` or `kind`.".into(),
            _ => "Its value; empty: the transcripts without one.".into(),
        },
    });
    let scores = scores::described();
    let by = by.into_iter().chain(scores.clone()).collect();
    vec![
        table(
            "outcomes.parquet",
            "replay, tune",
            "a transcript under a setting",
            OutcomeRow::columns().described(),
        ),
        table(
            "scores.parquet",
            "replay, sweep, tune",
            "a setting on a model, in a unit",
            scores,
        ),
        table(
            "scores_by.parquet",
            "replay, tune",
            "a setting on the transcripts with one value of a field",
            by,
        ),
        table(
            "intervals.csv",
            "replay, tune",
            "the interval of a score",
            IntervalRow::columns().described(),
        ),
        table(
            "pareto.csv",
            "replay, sweep, tune",
            "a setting of the front of a model",
            pareto_columns(Unit::Chars).described(),
        ),
        table(
            "choice.csv",
            "tune",
            "what a model gets",
            choice_columns(Unit::Chars).described(),
        ),
        table(
            "budget.csv",
            "tune",
            "what clean text says about a setting",
            SupportedRow::columns().described(),
        ),
        table(
            "flips.csv",
            "compare",
            "a transcript that two sides treat differently",
            flip_columns().described(),
        ),
        table(
            "repairs.parquet",
            "repair",
            "a stream in the hands of a variant",
            repair_columns().described(),
        ),
        table(
            "scores.parquet",
            "repair",
            "a variant on a fault",
            repair_score_columns().described(),
        ),
        table(
            "arguments.csv",
            "repair",
            "a variant on the arguments of a source that are no JSON",
            ArgumentRow::columns().described(),
        ),
        table(
            "budgets.parquet",
            "budget",
            "a setting on the runs of a source",
            budget_columns().described(),
        ),
        table(
            "limits.csv",
            "budget",
            "a limit on the runs of a source",
            limit_columns().described(),
        ),
    ]
}
