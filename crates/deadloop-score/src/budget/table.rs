//! [`BudgetTable`]: `budgets.parquet`, one row per setting and source.

use std::path::Path;

use deadloop_replay::budget::{Budget, BudgetTally};

use crate::files::store::{FileError, TableWriter};
use deadloop_tables::{Schema, schema};

/// Error of a token counter, relative to the recorded number of tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CountError {
    /// Number of turns with a recorded prompt.
    pub turns: u64,
    /// The median absolute error, by nearest rank.
    pub p50: f64,
    /// The 95th percentile of the absolute error.
    pub p95: f64,
    /// The median signed error. It is below 0 if the counter counts too few tokens.
    pub signed: f64,
}

/// A row of `budgets.parquet`.
#[derive(Clone, Debug)]
pub struct BudgetRow<'a> {
    /// The budget setting of the row.
    pub budget: &'a Budget,
    /// The names of the presets equal to the setting.
    pub names: &'a str,
    /// The source of the runs, or `*` for all sources.
    pub source: &'a str,
    /// Counts of the runs under the setting.
    pub tally: BudgetTally,
    /// Counts of the same runs without a guard, in the same window.
    pub never: BudgetTally,
    /// Error of the token counter. `None` if it was not measured.
    pub error: Option<CountError>,
}

/// Writer of `budgets.parquet`, row by row, and of `budgets.csv` if requested.
pub struct BudgetTable(TableWriter);

impl BudgetTable {
    /// Creates the files of the table in a folder.
    ///
    /// # Errors
    /// A file cannot be created.
    pub fn create(dir: &Path, csv: bool) -> Result<Self, FileError> {
        TableWriter::create(dir, "budgets", &budget_schema().docs(), csv).map(Self)
    }

    /// Appends a row.
    ///
    /// # Errors
    /// The row cannot be written.
    pub fn push(&mut self, row: &BudgetRow<'_>) -> Result<(), FileError> {
        self.0
            .write(&budget_schema().frame(std::slice::from_ref(row)))
    }

    /// Finishes the files, renames them to their final names, and returns the number of rows.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn finish(self) -> Result<usize, FileError> {
        self.0.finish()
    }
}

/// Returns the columns of `budgets.parquet`.
pub(crate) fn budget_schema<'a>() -> Schema<BudgetRow<'a>> {
    let mut list = schema![BudgetRow<'a>;
        ("setting", Text, "The setting: the name that it has in every run.", |row| row.budget.id()),
        ("names", Text, "The presets that it is; never: no guard.", |row| row.names),
        ("source", Text, "Whose runs; `*`: all together.", |row| row.source),
    ];
    list.extend(parameter_columns());
    list.extend(count_columns());
    list.extend(cost_columns());
    list.extend(error_columns());
    list
}

/// Returns the columns of the setting's parameters. A parameter that the policy does not read is empty.
fn parameter_columns<'a>() -> Schema<BudgetRow<'a>> {
    schema![BudgetRow<'a>;
        ("policy", Text, "What is done with old events: summary, drop; never: nothing.", |row| row.budget.policy.name()),
        ("counter", Text, "How tokens are counted.", |row| row.budget.counter.name()),
        ("window", Int["tokens"], "The model's context window.", |row| row.budget.window),
        ("threshold", Float, "The share of the window less the tools above which it acts.", |row| row.policy_reads("threshold").then_some(row.budget.threshold)),
        ("reserve", Float, "The share of the window that is kept free for the answer: a longer prompt is an overflow.", |row| row.budget.reserve),
        ("tools", Int["tokens"], "The definitions of tools, at the start of every prompt.", |row| row.budget.tools),
        ("keep", Float, "The share of the window for the newest events, which stay as they are.", |row| row.policy_reads("keep").then_some(row.budget.keep)),
        ("summary", Float, "The share of the window that a summary takes at most.", |row| row.policy_reads("summary").then_some(row.budget.summary)),
        ("cache", Float, "The price of a prompt token that stood in the same place before; others cost 1.", |row| row.budget.cache),
        ("unsafe", Int, "1 where the threshold is above 1 less the reserve.", |row| row.policy_reads("threshold").then(|| row.budget.is_unsafe())),
    ]
}

fn count_columns<'a>() -> Schema<BudgetRow<'a>> {
    schema![BudgetRow<'a>;
        ("runs", Int["runs"], "How many runs there are.", |row| row.tally.runs),
        ("turns", Int["turns"], "How long they are together.", |row| row.tally.turns),
        ("overflow", Int["runs"], "In how many a prompt is an overflow.", |row| row.tally.overflow),
        ("overflow_share", Float, "The share of those.", |row| divide(row.tally.overflow, row.tally.runs)),
        ("overflow_never", Int["runs"], "In how many one is an overflow without a guard, in the same window.", |row| row.never.overflow),
        ("summaries", Int["acts"], "How often the guard acts.", |row| row.tally.summaries),
        ("summaries_per_run", Float["per run"], "The same per run.", |row| divide(row.tally.summaries, row.tally.runs)),
        (
            "summaries_per_100_turns", Float["per 100 turns"], "The same per hundred turns.",
            |row| (row.tally.turns > 0).then(|| 100.0 * row.tally.summaries as f64 / row.tally.turns as f64),
        ),
        ("useless", Int["acts"], "How many of these acts freed less than a tenth of the prompt.", |row| row.tally.useless),
        ("thrash", Int["acts"], "How many came less than 3 turns after the one before.", |row| row.tally.thrash),
        ("acted", Int["runs"], "In how many runs it acts.", |row| row.tally.acted),
        ("first_turn", Float["turns"], "The mean turn of the first act, from 0.", |row| divide(row.tally.first, row.tally.acted)),
    ]
}

fn cost_columns<'a>() -> Schema<BudgetRow<'a>> {
    let ratio = |a: f64, b: f64| (b > 0.0).then(|| a / b);
    schema![BudgetRow<'a>;
        ("alive", Int["runs"], "The runs that do not overflow, whose tokens are counted.", |row| row.tally.own.runs),
        ("sent", Int["tokens"], "What is sent in them.", |row| row.tally.own.sent()),
        ("sent_never", Int["tokens"], "What is sent in them without a guard, in an endless window.", |row| row.tally.own_free.sent()),
        ("sent_ratio", Float, "The first of the second.", |row| divide(row.tally.own.sent(), row.tally.own_free.sent())),
        ("cost", Float["tokens that are not cached"], "What they cost.", |row| row.cost()),
        ("cost_never", Float["tokens that are not cached"], "What they cost without a guard, in an endless window.", |row| row.cost_without_guard()),
        ("cost_ratio", Float, "The first of the second.", |row| ratio(row.cost(), row.cost_without_guard())),
    ]
}

fn error_columns<'a>() -> Schema<BudgetRow<'a>> {
    schema![BudgetRow<'a>;
        ("error_turns", Int["turns"], "The turns with a recorded prompt, against which the counter is measured.", |row| row.counter_error().map(|error| error.turns)),
        ("error_p50", Float, "The median size of its error, of what was recorded.", |row| row.counter_error().map(|error| error.p50)),
        ("error_p95", Float, "The 95th percentile of that.", |row| row.counter_error().map(|error| error.p95)),
        ("error_signed", Float, "The median error with its sign: below 0 the counter counts too few.", |row| row.counter_error().map(|error| error.signed)),
    ]
}

impl BudgetRow<'_> {
    fn policy_reads(&self, param: &str) -> bool {
        self.budget.policy.reads(param)
    }

    fn cost(&self) -> f64 {
        self.tally.own.cost(self.budget.cache)
    }

    fn cost_without_guard(&self) -> f64 {
        self.tally.own_free.cost(self.budget.cache)
    }

    /// Returns the error of the token counter. `None` if no prompt was recorded.
    fn counter_error(&self) -> Option<CountError> {
        self.error.filter(|error| error.turns > 0)
    }
}

/// Divides two counts. `None` if the divisor is 0.
fn divide(dividend: u64, divisor: u64) -> Option<f64> {
    (divisor > 0).then(|| dividend as f64 / divisor as f64)
}
