//! The simulation of every stage of budgets, and the rows of `budgets.parquet`.

use std::path::Path;

use deadloop_replay::budget::{
    Budget, BudgetGrid, BudgetPreset, BudgetStage, BudgetTally, Policy, StageTallies, sweep,
};
use deadloop_score::budget::{BudgetRow, BudgetTable, CountError};
use deadloop_score::{FileError, rank};

use super::runs::CorpusRuns;
use crate::failure::{Code, RunResult};
use crate::host::Host;

/// A simulated stage with its settings and counts.
pub(crate) struct SweptStage {
    /// Its settings.
    pub stage: BudgetStage,
    /// The names of the presets equal to each setting.
    pub names: Vec<Vec<&'static str>>,
    /// The prices of cached tokens that the grid lists for this stage.
    pub caches: Vec<f64>,
    /// The counts of each setting by source.
    swept: StageTallies,
    /// The errors of the counter: all runs, then by source.
    pub errors: Vec<Option<CountError>>,
}

impl SweptStage {
    /// Returns the counts of a setting over all runs.
    pub(crate) fn totals(&self, play: usize) -> BudgetTally {
        total(&self.swept.plays[play])
    }

    /// Returns the counts over all runs without a guard.
    pub(crate) fn never(&self) -> BudgetTally {
        total(&self.swept.never)
    }
}

/// Simulates each stage, presets included.
pub(super) fn stages(
    found: &CorpusRuns,
    (grid, named): (&BudgetGrid, &[&'static BudgetPreset]),
    host: &dyn Host,
) -> RunResult<Vec<SweptStage>> {
    let of = |mut stage: BudgetStage| {
        let mut names = vec![Vec::new(); stage.plays.len()];
        for preset in named {
            let own = preset.within(&stage.never);
            let known = stage
                .plays
                .iter()
                .position(|play| play.canonical() == own.canonical());
            let at = known.unwrap_or_else(|| {
                stage.plays.push(own);
                names.push(Vec::new());
                names.len() - 1
            });
            names[at].push(preset.name.as_str());
        }
        let _heeded = host.begin(None);
        let swept = sweep(
            &found.field,
            &stage,
            &found.sources,
            found.names.len(),
            host.cancel(),
        );
        let swept =
            swept.map_err(|_| Code::Interrupted.error("interrupted while settings were played"))?;
        Ok(SweptStage {
            errors: errors(found, &stage.never),
            caches: caches(grid, &stage.never),
            names,
            swept,
            stage,
        })
    };
    BudgetStage::stages(&grid.budgets)
        .into_iter()
        .map(of)
        .collect()
}

/// Returns the prices of cached tokens that the grid lists for a stage.
fn caches(grid: &BudgetGrid, never: &Budget) -> Vec<f64> {
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

/// Returns the counter's errors against the recorded tokens: of all runs, then by source.
fn errors(found: &CorpusRuns, never: &Budget) -> Vec<Option<CountError>> {
    let mut all: Vec<Vec<f64>> = vec![Vec::new(); found.names.len() + 1];
    for (run, source) in found.sources.iter().enumerate() {
        for (own, recorded) in found.field.run(run, never).errors(never.tools) {
            let error = (own as f64 - recorded as f64) / recorded as f64;
            all[0].push(error);
            all[*source as usize + 1].push(error);
        }
    }
    all.into_iter().map(error).collect()
}

fn error(mut errors: Vec<f64>) -> Option<CountError> {
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

fn total(tallies: &[BudgetTally]) -> BudgetTally {
    let mut sum = BudgetTally::default();
    tallies.iter().for_each(|tally| sum += *tally);
    sum
}

/// Writes `budgets.parquet`: the settings of each stage at each price of cached tokens, the one without a guard
/// first. Returns the number of settings.
pub(super) fn write_rows(
    found: &CorpusRuns,
    stages: &[SweptStage],
    dir: &Path,
    csv: bool,
) -> Result<u64, FileError> {
    let mut table = BudgetTable::create(dir, csv)?;
    let mut settings = 0;
    for one in stages {
        for cache in &one.caches {
            let never = (&one.stage.never, &one.swept.never, "never".to_owned());
            let plays = one.stage.plays.iter().zip(&one.swept.plays);
            let plays = plays
                .zip(&one.names)
                .map(|((budget, tallies), names)| (budget, tallies, names.join(", ")));
            for (budget, tallies, names) in std::iter::once(never).chain(plays) {
                settings += 1;
                let budget = Budget {
                    cache: *cache,
                    ..budget.clone()
                };
                let of_all = (total(tallies), one.never());
                let by = tallies.iter().zip(&one.swept.never);
                let by = by.map(|(own, never)| (*own, *never));
                let sources = std::iter::once("*").chain(found.names.iter().map(String::as_str));
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
