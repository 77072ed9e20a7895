//! Rows of scores, and whether each meets the constraints of the run.

use super::rows::Rows;
use super::run::constraints;
use crate::data::{ALL_MODELS, Over, Score, WITHIN};
use crate::numbers::Interval;
use deadloop_score::{Constraint, Count, Judge, Manifest, Metric, Standing, Tally, Worth};

/// Reads rows of `scores.parquet` or `scores_by.parquet`.
pub(super) struct ScoreReader {
    objective: String,
    constraints: Vec<Constraint>,
    worth: Worth,
    /// What a setting that never alarms leaves of all models together: how much text there is.
    quiet: Tally,
    judge: Judge,
    /// The id of the setting that violates the constraints least, where none meets them.
    nearest: Option<String>,
    /// The constraints that it violates, once its row was read.
    pub(super) violated: Vec<Over>,
    /// The id of the setting in use.
    current: Option<String>,
    /// The constraints that it violates, once its row was read.
    pub(super) current_over: Vec<Over>,
}

/// Columns that a tally is made of again, for the constraints.
pub(super) const COUNTS: [(&str, Count); 12] = [
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

/// The other columns that a score is read from.
const SHOWN: [&str; 26] = [
    "kind_accuracy",
    "setting",
    "model",
    "transcripts",
    "loops",
    "clean",
    "unlabelled",
    "errors",
    "precision",
    "precision_lo",
    "precision_hi",
    "recall",
    "recall_lo",
    "recall_hi",
    "fa_per_mchar",
    "fa_lo",
    "fa_hi",
    "f1",
    "fpr",
    "ppv",
    "delay",
    "latency_p50",
    "latency_p90",
    "saved",
    "lost",
    "utility",
];

/// Every column that is read.
pub(super) fn columns() -> Vec<String> {
    let counts = COUNTS.iter().map(|(name, _)| (*name).to_owned());
    let within = WITHIN.map(|chars| format!("within_{chars}"));
    SHOWN
        .map(str::to_owned)
        .into_iter()
        .chain(counts)
        .chain(within)
        .collect()
}

impl ScoreReader {
    /// A reader; `objective` is the column that becomes [`Score::objective`].
    pub(super) fn new(objective: &str, manifest: &Manifest, quiet: Tally) -> Self {
        Self {
            objective: objective.to_owned(),
            constraints: constraints(manifest),
            worth: manifest.worth,
            quiet,
            judge: Judge::default(),
            nearest: manifest.infeasible.as_ref().map(|why| why.nearest.clone()),
            violated: Vec::new(),
            current: current(manifest),
            current_over: Vec::new(),
        }
    }

    /// The column by which settings are compared.
    pub(super) fn objective(&self) -> &str {
        &self.objective
    }

    /// The score of a row.
    pub(super) fn score(
        &mut self,
        rows: &Rows<'_>,
        row: usize,
        setting: usize,
        model: &str,
    ) -> Score {
        let meets = model == ALL_MODELS && self.meets(rows, row);
        let id = rows.text("setting", row);
        if model == ALL_MODELS && id.is_some() && id == self.nearest.as_deref() {
            self.violated = self.over(rows, row);
        }
        if model == ALL_MODELS && id.is_some() && id == self.current.as_deref() {
            self.current_over = self.over(rows, row);
        }
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
            objective: number(&self.objective),
            meets,
            macro_means: [None; 2],
        }
    }

    /// Whether all constraints are met, as the choice decided it: by bounds where the metric has one.
    fn meets(&mut self, rows: &Rows<'_>, row: usize) -> bool {
        let tally = tally(rows, row);
        let constraints = 0..self.constraints.len();
        constraints
            .into_iter()
            .all(|n| self.stands(n, &tally, rows, row).met)
    }

    /// The constraints that are not met.
    fn over(&mut self, rows: &Rows<'_>, row: usize) -> Vec<Over> {
        let tally = tally(rows, row);
        let mut list = Vec::new();
        for n in 0..self.constraints.len() {
            let standing = self.stands(n, &tally, rows, row);
            if !standing.met {
                list.push(Over {
                    constraint: self.constraints[n].to_string(),
                    compared: standing.compared,
                    by_bound: standing.by_bound,
                });
            }
        }
        list
    }

    /// How a constraint stands.
    fn stands(&mut self, n: usize, tally: &Tally, rows: &Rows<'_>, row: usize) -> Standing {
        let constraint = &self.constraints[n];
        match constraint.metric {
            Metric::FaPerMchar
            | Metric::Recall
            | Metric::Precision
            | Metric::Fpr
            | Metric::KindAccuracy => {
                let (quiet, worth) = (&self.quiet, &self.worth);
                self.judge.standing(constraint, tally, quiet, worth)
            }
            metric => {
                let compared = rows.number(&metric.name(), row);
                let keeps = |value: f64| match constraint.at_most {
                    true => value <= constraint.bound,
                    false => value >= constraint.bound,
                };
                Standing {
                    compared,
                    by_bound: false,
                    met: compared.is_some_and(keeps),
                }
            }
        }
    }
}

/// The setting in use.
fn current(manifest: &Manifest) -> Option<String> {
    let mut settings = manifest.settings.iter();
    let named = settings.find(|(_, names)| names.iter().any(|name| name == "current"));
    named.map(|(id, _)| id.clone())
}

/// The counts of a row.
pub(super) fn tally(rows: &Rows<'_>, row: usize) -> Tally {
    let mut tally = Tally::default();
    for (name, count) in COUNTS {
        tally[count] = i64::try_from(rows.count(name, row)).unwrap_or(i64::MAX);
    }
    tally
}
