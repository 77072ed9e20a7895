//! [`BudgetTable`]: `budgets.parquet`, a row a setting and source.

use std::path::Path;

use deadloop_replay::budget::{Budget, BudgetTally, Policy};

use super::sure::Sure;
use crate::files::store::{FileError, TableWriter};
use crate::intervals::{Interval, wilson};
use deadloop_tables::{Schema, TableCell, Type};

/// How far a counter is from what was recorded: shares of what was recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CountError {
    /// Turns with a recorded prompt.
    pub turns: u64,
    /// The median of the error's size, nearest rank.
    pub p50: f64,
    /// Its 95th percentile.
    pub p95: f64,
    /// The median of the error with its sign: below 0 the counter counts too few.
    pub signed: f64,
}

/// A row.
#[derive(Clone, Debug)]
pub struct BudgetRow<'a> {
    /// The setting.
    pub budget: &'a Budget,
    /// What it is called: presets, `in use`, `candidate`.
    pub names: &'a str,
    /// The source; `*`: all together.
    pub source: &'a str,
    /// What it makes of the runs.
    pub tally: BudgetTally,
    /// What no guard makes of them in the same window.
    pub never: BudgetTally,
    /// Intervals over groups, where they were drawn.
    pub sure: Option<Sure>,
    /// How far its counter is from what was recorded.
    pub error: Option<CountError>,
}

const COLUMNS: [(&str, Type); 53] = {
    use Type::{Float, Int, Text};
    [
        ("setting", Text),
        ("names", Text),
        ("source", Text),
        ("policy", Text),
        ("counter", Text),
        ("window", Int),
        ("threshold", Float),
        ("reserve", Float),
        ("tools", Int),
        ("keep", Float),
        ("summary", Float),
        ("keep_results", Int),
        ("clear_at_least", Int),
        ("exclude", Text),
        ("cache", Float),
        ("unsafe", Int),
        ("runs", Int),
        ("turns", Int),
        ("overflow", Int),
        ("overflow_share", Float),
        ("overflow_lo", Float),
        ("overflow_hi", Float),
        ("overflow_never", Int),
        ("summaries", Int),
        ("summaries_per_run", Float),
        ("summaries_per_100_turns", Float),
        ("useless", Int),
        ("thrash", Int),
        ("acted", Int),
        ("first_turn", Float),
        ("alive", Int),
        ("sent", Int),
        ("sent_never", Int),
        ("sent_ratio", Float),
        ("cost", Float),
        ("cost_never", Float),
        ("cost_ratio", Float),
        ("cost_lo", Float),
        ("cost_hi", Float),
        ("cheaper", Float),
        ("even_cache", Float),
        ("even_lo", Float),
        ("even_hi", Float),
        ("shared_runs", Int),
        ("shared_cost_ratio", Float),
        ("cleared", Int),
        ("needed", Int),
        ("again", Int),
        ("price_ratio", Float),
        ("error_turns", Int),
        ("error_p50", Float),
        ("error_p95", Float),
        ("error_signed", Float),
    ]
};

/// Writes `budgets.parquet`, and `budgets.csv` where asked for, row by row.
pub struct BudgetTable(TableWriter);

impl BudgetTable {
    /// A table in a folder.
    ///
    /// # Errors
    /// A file cannot be made.
    pub fn create(dir: &Path, csv: bool) -> Result<Self, FileError> {
        let schema: Schema = COLUMNS.map(|(name, of)| (name.to_owned(), of)).to_vec();
        TableWriter::create(dir, "budgets", schema, csv).map(Self)
    }

    /// One more row.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn push(&mut self, row: &BudgetRow<'_>) -> Result<(), FileError> {
        self.0.push(cells(row))
    }

    /// The file gets its name.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn finish(self) -> Result<usize, FileError> {
        self.0.finish()
    }
}

/// One number divided by another; nothing where that is 0.
#[allow(clippy::cast_precision_loss)]
fn over(n: u64, of: u64) -> TableCell {
    TableCell::Float((of > 0).then(|| n as f64 / of as f64))
}

fn cells(row: &BudgetRow<'_>) -> Vec<TableCell> {
    let mut cells = vec![
        TableCell::text(row.budget.id()),
        TableCell::text(row.names),
        TableCell::text(row.source),
    ];
    cells.extend(params(row.budget));
    cells.extend(counts(row));
    cells.extend(tokens(row));
    cells.extend(losses(row));
    cells
}

/// The parameters, those that the policy does not read left out.
fn params(b: &Budget) -> Vec<TableCell> {
    let folds = matches!(b.policy, Policy::Summary | Policy::Drop);
    let clears = b.policy == Policy::ClearResults;
    let acts = b.policy != Policy::Never;
    let int =
        |n: u64, read: bool| TableCell::Int(read.then(|| i64::try_from(n).unwrap_or(i64::MAX)));
    let share = |x: f64, read: bool| TableCell::Float(read.then_some(x));
    vec![
        TableCell::text(b.policy.name()),
        TableCell::text(b.counter.name()),
        int(b.window, true),
        share(b.threshold, acts),
        share(b.reserve, true),
        int(b.tools, true),
        share(b.keep, folds),
        share(b.summary, b.policy == Policy::Summary),
        int(b.keep_results, clears),
        int(b.clear_at_least, clears),
        TableCell::maybe(clears.then(|| b.exclude.join(" "))),
        share(b.cache, true),
        int(u64::from(b.is_unsafe()), acts),
    ]
}

fn counts(row: &BudgetRow<'_>) -> Vec<TableCell> {
    let (t, never) = (&row.tally, &row.never);
    let resampled = row.sure.and_then(|sure| sure.overflow);
    let interval = resampled.or_else(|| wilson(t.overflow, t.runs));
    #[allow(clippy::cast_precision_loss)]
    let per_100 = (t.turns > 0).then(|| 100.0 * t.summaries as f64 / t.turns as f64);
    let mut cells = vec![
        TableCell::count(t.runs),
        TableCell::count(t.turns),
        TableCell::count(t.overflow),
        over(t.overflow, t.runs),
    ];
    cells.extend(ends(interval));
    cells.extend([
        TableCell::count(never.overflow),
        TableCell::count(t.summaries),
        over(t.summaries, t.runs),
        TableCell::Float(per_100),
        TableCell::count(t.useless),
        TableCell::count(t.thrash),
        TableCell::count(t.acted),
        over(t.first, t.acted),
    ]);
    cells
}

fn tokens(row: &BudgetRow<'_>) -> Vec<TableCell> {
    let (t, cache) = (&row.tally, row.budget.cache);
    let (cost, never) = (t.own.cost(cache), t.own_free.cost(cache));
    let (shared, shared_never) = (t.shared.cost(cache), t.shared_free.cost(cache));
    let sure = row.sure.unwrap_or_default();
    let ratio = |a: f64, b: f64| TableCell::Float((b > 0.0).then(|| a / b));
    let mut cells = vec![
        TableCell::count(t.own.runs),
        TableCell::count(t.own.sent()),
        TableCell::count(t.own_free.sent()),
        over(t.own.sent(), t.own_free.sent()),
        TableCell::Float(Some(cost)),
        TableCell::Float(Some(never)),
        ratio(cost, never),
    ];
    cells.extend(ends(sure.cost));
    cells.push(TableCell::Float(sure.cheaper));
    cells.push(TableCell::Float(sure.even));
    cells.extend(ends(sure.even_interval));
    cells.push(TableCell::count(t.shared.runs));
    cells.push(ratio(shared, shared_never));
    cells
}

fn losses(row: &BudgetRow<'_>) -> Vec<TableCell> {
    let clears = row.budget.policy == Policy::ClearResults;
    let cache = row.budget.cache;
    let free = row.tally.own_free.price(cache);
    let count = |n: u64| TableCell::Int(clears.then(|| i64::try_from(n).unwrap_or(i64::MAX)));
    let error = row.error.filter(|error| error.turns > 0);
    let share = |of: fn(&CountError) -> f64| TableCell::Float(error.as_ref().map(of));
    vec![
        count(row.tally.cleared),
        count(row.tally.needed),
        TableCell::count(row.tally.own.again),
        TableCell::Float((free > 0.0).then(|| row.tally.own.price(cache) / free)),
        TableCell::Int(error.and_then(|error| i64::try_from(error.turns).ok())),
        share(|e| e.p50),
        share(|e| e.p95),
        share(|e| e.signed),
    ]
}

fn ends(interval: Option<Interval>) -> [TableCell; 2] {
    [interval.map(|i| i.lo), interval.map(|i| i.hi)].map(TableCell::Float)
}
