//! Simulates the stages of budgets, and writes the rows of `budgets.parquet`.

use std::path::Path;

use deadloop_replay::budget::{
    Budget, BudgetGrid, BudgetPreset, BudgetStage, BudgetTally, Policy, StageTallies, sweep,
};
use deadloop_score::budget::{BudgetRow, BudgetTable, CountError};
use deadloop_score::{FileError, rank};

use super::runs::CorpusRuns;
use crate::failure::{Code, RunResult};
use crate::host::Host;

/// A simulated stage: budgets that differ only in policy, with their counts.
pub(crate) struct SweptStage {
    /// The settings of the stage.
    pub stage: BudgetStage,
    /// For each setting, the names of the presets equal to it.
    pub names: Vec<Vec<&'static str>>,
    /// The prices of cached tokens that the grid lists for the stage.
    pub caches: Vec<f64>,
    /// The counts of each setting for each source.
    swept: StageTallies,
    /// The errors of the token counter, first over all runs, then for each source.
    pub errors: Vec<Option<CountError>>,
}

impl SweptStage {
    /// Returns the counts over all runs of the setting at index `play`.
    pub(crate) fn totals_of(&self, play: usize) -> BudgetTally {
        sum_tallies(&self.swept.variants[play])
    }

    /// Returns the counts over all runs without a budget policy.
    pub(crate) fn baseline(&self) -> BudgetTally {
        sum_tallies(&self.swept.never)
    }
}

/// Simulates each stage of the grid, with the presets `named` added.
pub(super) fn simulate_stages(
    runs: &CorpusRuns,
    (grid, named): (&BudgetGrid, &[&'static BudgetPreset]),
    host: &dyn Host,
) -> RunResult<Vec<SweptStage>> {
    let simulate = |mut stage: BudgetStage| {
        let mut names = vec![Vec::new(); stage.variants.len()];
        for preset in named {
            let own = preset.within(&stage.never);
            let known = stage
                .variants
                .iter()
                .position(|play| play.canonical() == own.canonical());
            let at = known.unwrap_or_else(|| {
                stage.variants.push(own);
                names.push(Vec::new());
                names.len() - 1
            });
            names[at].push(preset.name.as_str());
        }
        let _heeded = host.begin(None);
        let swept = sweep(
            &runs.measured,
            &stage,
            &runs.sources,
            runs.names.len(),
            host.cancel(),
        );
        let swept =
            swept.map_err(|_| Code::Interrupted.error("interrupted while settings were played"))?;
        Ok(SweptStage {
            errors: counter_errors(runs, &stage.never),
            caches: cache_prices(grid, &stage.never),
            names,
            swept,
            stage,
        })
    };
    BudgetStage::stages(&grid.budgets)
        .into_iter()
        .map(simulate)
        .collect()
}

/// Returns the prices of cached tokens that the grid lists for a stage.
fn cache_prices(grid: &BudgetGrid, never: &Budget) -> Vec<f64> {
    let mut caches: Vec<f64> = Vec::new();
    for budget in &grid.budgets {
        let own = Budget {
            policy: Policy::Never,
            cache: never.cache,
            ..budget.clone()
        };
        if own.canonical() == never.canonical() && !caches.contains(&budget.cache) {
            caches.push(budget.cache);
        }
    }
    caches
}

/// Returns the errors of the token counter relative to the recorded tokens, first over all runs, then for each source.
fn counter_errors(runs: &CorpusRuns, never: &Budget) -> Vec<Option<CountError>> {
    let mut all: Vec<Vec<f64>> = vec![Vec::new(); runs.names.len() + 1];
    for (run, source) in runs.sources.iter().enumerate() {
        for (own, recorded) in runs.measured.run(run, never).errors(never.tools) {
            let error = (own as f64 - recorded as f64) / recorded as f64;
            all[0].push(error);
            all[*source as usize + 1].push(error);
        }
    }
    all.into_iter().map(error_percentiles).collect()
}

/// Returns percentiles of relative errors. `None` without errors.
fn error_percentiles(mut errors: Vec<f64>) -> Option<CountError> {
    let turns = errors.len() as u64;
    let at = |sorted: &[f64], q: f64| rank(q, turns).map(|k| sorted[k as usize - 1]);
    errors.sort_by(f64::total_cmp);
    let signed = at(&errors, 0.5)?;
    errors.iter_mut().for_each(|error| *error = error.abs());
    errors.sort_by(f64::total_cmp);
    Some(CountError {
        turns,
        p50: at(&errors, 0.5)?,
        p95: at(&errors, 0.95)?,
        signed,
    })
}

fn sum_tallies(tallies: &[BudgetTally]) -> BudgetTally {
    let mut sum = BudgetTally::default();
    tallies.iter().for_each(|tally| sum += *tally);
    sum
}

/// Writes `budgets.parquet`, with the settings of each stage at each price of cached tokens, first the one without a
/// policy. Returns the number of settings.
pub(super) fn write_rows(
    runs: &CorpusRuns,
    stages: &[SweptStage],
    dir: &Path,
    csv: bool,
) -> Result<u64, FileError> {
    let mut table = BudgetTable::create(dir, csv)?;
    let mut settings = 0;
    for one in stages {
        for cache in &one.caches {
            let never = (&one.stage.never, &one.swept.never, "never".to_owned());
            let plays = one.stage.variants.iter().zip(&one.swept.variants);
            let plays = plays
                .zip(&one.names)
                .map(|((budget, tallies), names)| (budget, tallies, names.join(", ")));
            for (budget, tallies, names) in std::iter::once(never).chain(plays) {
                settings += 1;
                let budget = Budget {
                    cache: *cache,
                    ..budget.clone()
                };
                let of_all = (sum_tallies(tallies), one.baseline());
                let by = tallies.iter().zip(&one.swept.never);
                let by = by.map(|(own, never)| (*own, *never));
                let sources = std::iter::once("*").chain(runs.names.iter().map(String::as_str));
                let rows = sources.zip(std::iter::once(of_all).chain(by));
                for ((source, (tally, never)), error) in rows.zip(&one.errors) {
                    table.push(&BudgetRow {
                        budget: &budget,
                        names: &names,
                        source,
                        tally,
                        never,
                        error: *error,
                    })?;
                }
            }
        }
    }
    table.finish()?;
    Ok(settings)
}
