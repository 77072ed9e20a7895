//! The two summary tables of budgets and turn limits.

use deadloop_replay::budget::{Budget, BudgetTally};
use deadloop_score::budget::LimitRow;
use serde_json::{Map, Value, json};

use super::{CorpusRuns, SweptStage};
use crate::layout::{TextDocument, with_summary_tables};
use crate::words::{number, several};

/// The median relative error above which a token counter gets a remark.
const MAX_UNREMARKED_ERROR: f64 = 0.25;
/// A row of the table of budgets.
struct BudgetLine<'a> {
    budget: &'a Budget,
    names: String,
    tally: BudgetTally,
    /// The prices of cached tokens.
    cache_prices: &'a [f64],
}

impl BudgetLine<'_> {
    /// Returns the cost of the setting, divided by the cost without a policy. `None` if the grid does not list this
    /// price of cached tokens.
    fn relative_cost(&self, cache: f64) -> Option<f64> {
        let never = self.tally.own_free.cost(cache);
        let known = self.cache_prices.contains(&cache) && never > 0.0;
        known.then(|| self.tally.own.cost(cache) / never)
    }

    fn to_json(&self) -> Value {
        let params: Map<String, Value> = self
            .budget
            .columns()
            .into_iter()
            .filter(|(name, _)| *name != "cache")
            .map(|(name, value)| (name.to_owned(), json!(value)))
            .collect();
        let cost = |cache: &f64| json!({"cache": cache, "ratio": self.relative_cost(*cache)});
        let tally = &self.tally;
        json!({
            "params": params, "names": self.names, "runs": tally.runs, "overflow": tally.overflow,
            "summaries": tally.summaries, "sent": tally.own.sent(), "sent_never": tally.own_free.sent(),
            "cost": self.cache_prices.iter().map(cost).collect::<Vec<_>>(),
        })
    }
}

/// Returns the rows of a stage in the table of budgets, first the one without a policy, then by threshold and policy. A
/// stage in which no setting acts has only its first row.
fn stage_lines(one: &SweptStage) -> Vec<BudgetLine<'_>> {
    let line = |budget, names, tally| BudgetLine {
        budget,
        names,
        tally,
        cache_prices: &one.caches,
    };
    let mut lines = vec![line(&one.stage.never, String::new(), one.baseline())];
    let plays = one.stage.variants.iter().enumerate();
    let plays = plays.map(|(at, budget)| line(budget, one.names[at].join(", "), one.totals_of(at)));
    let mut plays: Vec<BudgetLine<'_>> = plays.collect();
    if plays.iter().all(|play| play.tally == lines[0].tally) {
        return lines;
    }
    plays.sort_by(|a, b| {
        let by = a.budget.threshold.total_cmp(&b.budget.threshold);
        by.then(a.budget.keep.total_cmp(&b.budget.keep))
    });
    lines.extend(plays);
    lines
}

/// Returns the table of turn limits over all sources, as JSON. Each limit that stops a run is paired with the same
/// limit that asks the user and grows by half.
fn limit_lines(all: &[LimitRow]) -> Vec<Value> {
    let shown = |row: &&LimitRow| row.source == "*" && row.limit.warn_at == 0.8;
    let stops = all.iter().filter(shown);
    let stops = stops.filter(|row| row.limit.cancel_after == Some(0));
    let line = |stops: &LimitRow| {
        let is_own = |row: &&LimitRow| {
            let l = &row.limit;
            l.limit == stops.limit.limit && l.cancel_after.is_none() && l.grow == 1.5
        };
        let asks = all.iter().filter(shown).find(is_own)?;
        Some(json!({
            "limit": stops.limit.limit, "healthy": stops.healthy, "healthy_cut": stops.healthy_cut,
            "loops": stops.looping, "loops_ended": stops.ended, "useful_turns_cut": stops.useful_cut,
            "turns_saved": stops.saved, "asks": asks.ask, "confirmations": asks.confirmations,
        }))
    };
    stops.filter_map(line).collect()
}

/// Returns the summary of a simulation as JSON.
pub(super) fn summary_json(runs: &CorpusRuns, stages: &[SweptStage], limits: &[LimitRow]) -> Value {
    let budgets = stages.iter().flat_map(stage_lines);
    let budgets = budgets.map(|line| line.to_json());
    json!({
        "runs": runs.limits.len(), "sources": runs.names.len(),
        "budgets": budgets.collect::<Vec<_>>(), "limits": limit_lines(limits),
    })
}

/// Formats a simulation as text. `summary` is the value returned by [`summary_json`].
pub(super) fn format_text(
    runs: &CorpusRuns,
    stages: &[SweptStage],
    summary: &Map<String, Value>,
) -> TextDocument {
    let mut head = format!(
        "{} in {}",
        several(runs.limits.len() as u64, "run"),
        several(runs.names.len() as u64, "source"),
    );
    if runs.turnless > 0 {
        let left = several(runs.turnless, "transcript");
        head += &format!("; left out: {left} without a turn");
    }
    for line in counter_remarks(stages) {
        head += &format!("\n{line}");
    }
    with_summary_tables(TextDocument::default().lines(head), summary)
}

/// Returns a remark on each counter whose median error is above [`MAX_UNREMARKED_ERROR`].
fn counter_remarks(stages: &[SweptStage]) -> Vec<String> {
    let mut lines = Vec::new();
    for one in stages {
        let Some(error) = one.errors.first().and_then(Option::as_ref) else {
            continue;
        };
        let line = format!(
            "{} counts {} times the recorded tokens in the median of {}; counter = \"recorded\" counts those",
            one.stage.never.counter.name(),
            number(Some(1.0 + error.signed), 2),
            several(error.turns, "turn"),
        );
        if error.p50 > MAX_UNREMARKED_ERROR && !lines.contains(&line) {
            lines.push(line);
        }
    }
    lines
}
