//! Rows of scores, and whether each meets the constraints of the run.

use super::rows::Rows;
use crate::data::{ALL_MODELS, Score, WITHIN};
use crate::numbers::Interval;
use deadloop_score::{Constraint, Count, Judge, Metric, Table, Tally, Worth};

/// Reads rows of `scores.parquet` or `scores_by.parquet`.
pub(super) struct ScoreRows<'t> {
    /// The cells.
    pub(super) rows: Rows<'t>,
    objective: &'t str,
    constraints: &'t [Constraint],
    worth: &'t Worth,
    /// What a setting that never alarms leaves of all models together: how much text there is.
    quiet: Tally,
    judge: Judge,
}

/// Columns that a tally is made of again, for the constraints.
const COUNTS: [(&str, Count); 12] = [
    ("hit", Count::Hit),
    ("late", Count::Late),
    ("premature", Count::Premature),
    ("stale", Count::Stale),
    ("miss", Count::Miss),
    ("false_alarm", Count::FalseAlarm),
    ("quiet", Count::Quiet),
    ("transient_stop", Count::TransientStop),
    ("transient_pass", Count::TransientPass),
    ("exposure", Count::Exposure),
    ("kind_known", Count::KindKnown),
    ("kind_right", Count::KindRight),
];

impl<'t> ScoreRows<'t> {
    /// A reader; `objective` is the column that becomes [`Score::objective`].
    pub(super) fn new(
        table: &'t Table,
        objective: &'t str,
        constraints: &'t [Constraint],
        worth: &'t Worth,
    ) -> Self {
        let rows = Rows::new(table);
        let is_never = |row: &usize| {
            rows.text("setting", *row) == Some("never")
                && rows.text("model", *row) == Some(ALL_MODELS)
        };
        let quiet = (0..table.rows())
            .find(is_never)
            .map_or_else(Tally::default, |row| tally(&rows, row));
        Self {
            rows,
            objective,
            constraints,
            worth,
            quiet,
            judge: Judge::default(),
        }
    }

    /// The score of a row.
    pub(super) fn score(&mut self, row: usize, setting: usize, model: &str) -> Score {
        let meets = model == ALL_MODELS && self.meets(row);
        let rows = &self.rows;
        let count = |name: &str| rows.count(name, row);
        let number = |name: &str| rows.number(name, row);
        let interval = |value: &str, low: &str, high: &str| Interval {
            value: number(value),
            low: number(low),
            high: number(high),
        };
        Score {
            setting,
            model: model.to_owned(),
            transcripts: count("transcripts"),
            loops: count("loops"),
            clean: count("clean"),
            unlabelled: count("unlabelled"),
            hit: count("hit"),
            false_alarm: count("false_alarm"),
            premature: count("premature"),
            stale: count("stale"),
            errors: count("errors"),
            precision: interval("precision", "precision_lo", "precision_hi"),
            recall: interval("recall", "recall_lo", "recall_hi"),
            fa: interval("fa_per_mchar", "fa_lo", "fa_hi"),
            exposure: count("exposure"),
            f1: number("f1"),
            delay: Interval {
                value: number("delay"),
                ..Interval::default()
            },
            latency_p50: number("latency_p50"),
            latency_p90: number("latency_p90"),
            within: WITHIN.map(|chars| number(&format!("within_{chars}"))),
            saved: number("saved"),
            lost: number("lost"),
            kind_accuracy: number("kind_accuracy"),
            utility: number("utility"),
            objective: number(self.objective),
            meets,
            macro_means: [None; 2],
        }
    }

    /// Whether all constraints are met, as the choice decided it: by bounds where the metric has one.
    fn meets(&mut self, row: usize) -> bool {
        let tally = tally(&self.rows, row);
        let Self {
            rows,
            constraints,
            worth,
            quiet,
            judge,
            ..
        } = self;
        constraints
            .iter()
            .all(|constraint| match constraint.metric {
                Metric::FaPerMchar
                | Metric::Recall
                | Metric::Precision
                | Metric::Fpr
                | Metric::KindAccuracy => judge.standing(constraint, &tally, quiet, worth).met,
                metric => rows.number(&metric.name(), row).is_some_and(|value| {
                    if constraint.at_most {
                        value <= constraint.bound
                    } else {
                        value >= constraint.bound
                    }
                }),
            })
    }
}

fn tally(rows: &Rows<'_>, row: usize) -> Tally {
    let mut tally = Tally::default();
    for (name, count) in COUNTS {
        tally[count] = i64::try_from(rows.count(name, row)).unwrap_or(i64::MAX);
    }
    tally
}
