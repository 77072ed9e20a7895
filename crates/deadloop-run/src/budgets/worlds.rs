//! Every stage of budgets swept, a verdict in every world, and the rows of `budgets.parquet`.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use deadloop_replay::budget::{
    Budget, BudgetGrid, BudgetPreset, BudgetTally, Policy, Stage, Swept, sweep,
};
use deadloop_score::budget::{
    BudgetAdvice, BudgetOptions, BudgetRow, BudgetRunRow, BudgetTable, CountError, PlayedStage,
    Sure, choose_budget, sure,
};
use deadloop_score::{Case, Described, FileError, Resampling, Ruling, rank};
use rayon::prelude::*;

use super::runs::Runs;
use crate::failure::{Code, RunResult};
use crate::host::Host;

/// Settings of a stage that have intervals, all of them; of more, those that are reported.
const SURE: usize = 60;

/// A stage with all that is known of it.
pub struct SweptStage {
    /// Its settings.
    pub stage: Stage,
    /// What each did with the runs.
    pub swept: Swept,
    /// The names of each play.
    pub names: Vec<Vec<&'static str>>,
    /// The prices of cached tokens that the grid has in it.
    caches: Vec<f64>,
    /// The errors of the counter: all runs, then by source.
    errors: Vec<Option<CountError>>,
}

/// One window at one price of cached tokens, with its verdict.
pub struct BudgetWorld {
    /// The window, with all settings played in it.
    pub known: Arc<SweptStage>,
    /// The price of a cached token.
    pub cache: f64,
    /// The verdict.
    pub advice: BudgetAdvice,
    /// Play by play, what has intervals.
    pub sure: Vec<Option<Sure>>,
}

/// Sweeps each stage, presets included.
pub(super) fn stages(
    found: &Runs,
    (grid, named): (&BudgetGrid, &[&'static BudgetPreset]),
    options: &BudgetOptions,
    host: &dyn Host,
) -> RunResult<Vec<Arc<SweptStage>>> {
    let of = |mut stage: Stage| {
        let mut names = vec![Vec::new(); stage.plays.len()];
        for preset in named {
            let own = preset.within(&stage.never);
            let known = stage
                .plays
                .iter()
                .position(|play| play.told() == own.told());
            let at = known.unwrap_or_else(|| {
                stage.plays.push(own);
                names.push(Vec::new());
                names.len() - 1
            });
            names[at].push(preset.name.as_str());
        }
        let runs = &found.evidence;
        let within = |killed: &[usize]| {
            options.within(runs.once_of(killed.iter().copied()), runs.once()) >= 0.5
        };
        let _heeded = host.begin(None);
        let swept = sweep(
            &found.field,
            &stage,
            &found.sources,
            found.names.len(),
            within,
            host.cancel(),
        );
        let swept =
            swept.map_err(|_| Code::Interrupted.error("interrupted while settings were played"))?;
        Ok(Arc::new(SweptStage {
            errors: errors(found, &stage.never),
            caches: caches(grid, &stage.never),
            names,
            swept,
            stage,
        }))
    };
    Stage::of(&grid.budgets).into_iter().map(of).collect()
}

/// The prices of cached tokens that the grid has in a stage.
fn caches(grid: &BudgetGrid, never: &Budget) -> Vec<f64> {
    let mut caches: Vec<f64> = Vec::new();
    for budget in &grid.budgets {
        let own = Budget {
            policy: Policy::Never,
            cache: never.cache,
            ..budget.clone()
        };
        if own.told() == never.told() && !caches.contains(&budget.cache) {
            caches.push(budget.cache);
        }
    }
    caches
}

/// How far the counter is from what was recorded: all runs, then by source.
fn errors(found: &Runs, never: &Budget) -> Vec<Option<CountError>> {
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

/// A verdict for each stage and price.
pub(super) fn judged(
    found: &Runs,
    stages: &[Arc<SweptStage>],
    named: &[&'static BudgetPreset],
    options: &BudgetOptions,
) -> Vec<BudgetWorld> {
    let mut judged = Vec::new();
    for known in stages {
        let in_use = named
            .first()
            .map(|preset| preset.within(&known.stage.never));
        for cache in &known.caches {
            let options = BudgetOptions {
                cache: *cache,
                ..*options
            };
            let in_use = in_use.clone().unwrap_or_default();
            let played = PlayedStage {
                field: &found.field,
                stage: &known.stage,
                swept: &known.swept,
            };
            let advice = choose_budget(played, &found.evidence, &in_use, &options);
            let sure = certainties(found, known, (&advice, *cache), options.resampling);
            judged.push(BudgetWorld {
                known: Arc::clone(known),
                cache: *cache,
                advice,
                sure,
            });
        }
    }
    judged
}

/// The intervals of the settings that are reported, or of all where they are few.
fn certainties(
    found: &Runs,
    known: &SweptStage,
    (advice, cache): (&BudgetAdvice, f64),
    resampling: Resampling,
) -> Vec<Option<Sure>> {
    let all = known.stage.plays.len() <= SURE;
    let reported = |play: usize| {
        let chosen = advice.candidate == Some(play) || advice.in_use == play;
        all || chosen
            || !known.names[play].is_empty()
            || advice.prices.iter().any(|p| p.play == play)
    };
    let plays = known.stage.plays.par_iter().enumerate();
    plays
        .map(|(at, play)| {
            reported(at).then(|| {
                let runs = found.field.played(play);
                sure(&found.evidence, &runs, &known.swept.free, cache, resampling)
            })
        })
        .collect()
}

/// A setting at a price of cached tokens.
fn priced(budget: &Budget, cache: f64) -> Budget {
    Budget {
        cache,
        ..budget.clone()
    }
}

impl BudgetWorld {
    /// The play to run: the candidate where it ships, else what is in use.
    pub fn to_run(&self) -> usize {
        let ships = self.advice.candidate;
        let ships = ships.filter(|_| self.advice.ruling == Ruling::Ship);
        ships.unwrap_or(self.advice.in_use)
    }

    /// A play as this world has it.
    pub fn setting(&self, play: usize) -> Budget {
        priced(&self.known.stage.plays[play], self.cache)
    }

    /// What a play is called.
    pub fn called(&self, play: usize) -> String {
        let mut names: Vec<&str> = self.known.names[play].clone();
        if self.advice.in_use == play {
            names.push("in use");
        }
        if self.advice.candidate == Some(play) {
            names.push("candidate");
        }
        names.join(", ")
    }

    /// What a play did with all runs.
    pub fn total(&self, play: usize) -> BudgetTally {
        total(&self.known.swept.plays[play])
    }

    /// What no guard at all would have done with them.
    pub fn never(&self) -> BudgetTally {
        total(&self.known.swept.never)
    }
}

fn total(tallies: &[BudgetTally]) -> BudgetTally {
    let mut sum = BudgetTally::default();
    tallies.iter().for_each(|tally| sum += *tally);
    sum
}

/// Writes `budgets.parquet`: the settings of each world, without a guard first. Returns how many settings it has.
pub(super) fn write_rows(
    found: &Runs,
    worlds: &[BudgetWorld],
    dir: &Path,
    csv: bool,
) -> Result<u64, FileError> {
    let mut table = BudgetTable::create(dir, csv)?;
    let mut settings = 0;
    for one in worlds {
        let known = &one.known;
        let never = priced(&known.stage.never, one.cache);
        let mut push =
            |budget: &Budget, names: &str, tallies: &[BudgetTally], sure: Option<Sure>| {
                settings += 1;
                let of_all = (total(tallies), total(&known.swept.never));
                let by = tallies
                    .iter()
                    .copied()
                    .zip(known.swept.never.iter().copied());
                let sources = std::iter::once("*").chain(found.names.iter().map(String::as_str));
                let rows = sources
                    .zip(std::iter::once(of_all).chain(by))
                    .zip(&known.errors);
                for (at, ((source, (tally, never)), error)) in rows.enumerate() {
                    table.push(&BudgetRow {
                        budget,
                        names,
                        source,
                        tally,
                        never,
                        sure: sure.filter(|_| at == 0),
                        error: *error,
                    })?;
                }
                Ok::<(), FileError>(())
            };
        push(&never, "never", &known.swept.never, None)?;
        for (at, play) in known.stage.plays.iter().enumerate() {
            let (names, sure) = (one.called(at), one.sure[at]);
            push(
                &priced(play, one.cache),
                &names,
                &known.swept.plays[at],
                sure,
            )?;
        }
    }
    table.finish()?;
    Ok(settings)
}

/// The settings that have a name in some world, each with its number, as it is priced there.
fn named<'w>(one: &'w BudgetWorld) -> impl Iterator<Item = (usize, Budget)> + 'w {
    let plays = 0..one.known.stage.plays.len();
    let has_name = |play: &usize| !one.called(*play).is_empty() || one.to_run() == *play;
    let named = plays.filter(has_name);
    named.map(|play| (play, priced(&one.known.stage.plays[play], one.cache)))
}

/// What is called how in which world, for a comparison with another run.
pub(super) fn described(worlds: &[BudgetWorld]) -> BTreeMap<String, Described> {
    let mut all = BTreeMap::new();
    for one in worlds {
        for (play, budget) in named(one) {
            let of = |name: &str, is: bool| is.then(|| name.to_owned());
            let names = [
                of("chosen", one.to_run() == play),
                of("current", one.advice.in_use == play),
                of("candidate", one.advice.candidate == Some(play)),
            ];
            let presets = one.known.names[play].iter().map(|name| (*name).to_owned());
            let described = Described {
                names: names.into_iter().flatten().chain(presets).collect(),
                toml: budget.toml(),
            };
            all.insert(budget.id(), described);
        }
    }
    all
}

/// Every run under every setting that has a name. `cases`: of the runs, in their order.
pub(super) fn run_rows<'a>(
    found: &'a Runs,
    worlds: &'a [BudgetWorld],
    cases: &'a [&Case],
) -> impl Iterator<Item = BudgetRunRow> + 'a {
    let plays = worlds
        .iter()
        .flat_map(|one| named(one).map(move |(_, budget)| (one, budget)));
    plays.flat_map(move |(one, budget)| {
        let played = found.field.played(&budget);
        let free = &one.known.swept.free;
        let rows = cases.iter().zip(played).zip(free);
        rows.map(move |((case, played), free)| BudgetRunRow::of(case, &budget, &played, free))
    })
}

/// The verdict of several worlds: the first of these that any has; `collect` and `none` only where all have it.
pub(super) fn together(rulings: &[Ruling]) -> Ruling {
    let order = [
        Ruling::Ship,
        Ruling::Decide,
        Ruling::Keep,
        Ruling::None,
        Ruling::Collect,
    ];
    let found = order.into_iter().find(|ruling| rulings.contains(ruling));
    found.unwrap_or(Ruling::Collect)
}
