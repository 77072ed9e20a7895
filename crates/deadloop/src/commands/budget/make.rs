//! [`make`]: sweeps every stage, chooses in every world, writes `budgets.parquet` and `limits.csv`, and gathers what
//! the terminal says. `shown` has what the page shows.

use deadloop_replay::budget::{
    Budget, BudgetGrid, BudgetPreset, BudgetTally, Policy, Stage, Swept, sweep,
};
use deadloop_report::budget::Page;
use deadloop_score::budget::{
    BudgetAdvice, BudgetOptions, BudgetRow, BudgetTable, CountError, Sure, choose_budget,
    limit_grid, limit_rows, sure,
};
use deadloop_score::{Resampling, Ruling, rank};
use rayon::prelude::*;
use serde_json::{Map, Value, json};

use super::Budget as BudgetArgs;
use super::gather::Gathered;
use super::shown::page;
use super::told;
use crate::exit::{Code, Failure, Outcome};
use crate::interrupt::heeding;
use deadloop_run::Folder;

/// The share of runs that may overflow where nothing is said.
const LIMIT: f64 = 0.01;
/// Settings of a stage that have intervals, all of them; of more, those that are reported.
const SURE: usize = 60;

/// What was made.
pub(crate) struct Made {
    pub(crate) page: Page,
    pub(crate) told: String,
    pub(crate) summary: Map<String, Value>,
    pub(crate) ended: Option<Failure>,
    pub(crate) settings: u64,
    pub(crate) seed: u64,
    pub(crate) limit: f64,
}

/// A stage with all that is known of it.
pub(super) struct Known {
    pub(super) stage: Stage,
    pub(super) swept: Swept,
    /// The names of each play.
    pub(super) names: Vec<Vec<&'static str>>,
    pub(super) caches: Vec<f64>,
    /// The errors of the counter: all runs, then by source.
    errors: Vec<Option<CountError>>,
}

/// One window at one price of cached tokens, with its verdict.
pub(super) struct Judged<'k> {
    pub(super) known: &'k Known,
    pub(super) cache: f64,
    pub(super) advice: BudgetAdvice,
    /// Play by play, what has intervals.
    pub(super) sure: Vec<Option<Sure>>,
}

/// Makes all that a result holds.
pub(crate) fn make(
    found: &Gathered,
    grid: &BudgetGrid,
    named: &[&'static BudgetPreset],
    args: &BudgetArgs,
    folder: &Folder,
) -> Outcome<Made> {
    let options = BudgetOptions {
        limit: args.overflow.unwrap_or(LIMIT),
        given: args.overflow.is_some(),
        cache: 1.0,
        worthwhile: 1.0,
        forget: args.forget,
        folds: 5,
        resampling: Resampling {
            seed: args.select.seed,
            ..Resampling::default()
        },
    };
    let stages = stages(found, grid, named, &options)?;
    let judged = judged(found, &stages, named, &options);
    let settings = write_rows(found, &judged, folder, args.csv)?;
    let limits = limit_rows(&found.limits, &limit_grid());
    deadloop_score::budget::write_limits(folder.path(), &limits)?;
    let page = page(found, &judged, args, &limits);
    let rulings: Vec<Ruling> = judged.iter().map(|one| one.advice.ruling).collect();
    let ruling = together(&rulings);
    Ok(Made {
        told: told::told(found, &judged, &limits, &options),
        summary: summary(&judged, ruling),
        ended: ended(ruling, &judged),
        settings,
        seed: args.select.seed,
        limit: options.limit,
        page,
    })
}

/// Sweeps each stage, presets included.
fn stages(
    found: &Gathered,
    grid: &BudgetGrid,
    named: &[&'static BudgetPreset],
    options: &BudgetOptions,
) -> Outcome<Vec<Known>> {
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
            names[at].push(preset.name);
        }
        let sources = (found.sources.as_slice(), found.names.len());
        let runs = &found.runs;
        let within = |killed: &[usize]| {
            options.within(runs.once_of(killed.iter().copied()), runs.once()) >= 0.5
        };
        let swept = heeding(|cancel| sweep(&found.field, &stage, sources, within, cancel));
        let swept =
            swept.map_err(|_| Code::Interrupted.error("interrupted while settings were played"))?;
        Ok(Known {
            errors: errors(found, &stage.never),
            caches: caches(grid, &stage.never),
            names,
            swept,
            stage,
        })
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
fn errors(found: &Gathered, never: &Budget) -> Vec<Option<CountError>> {
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
fn judged<'k>(
    found: &Gathered,
    stages: &'k [Known],
    named: &[&'static BudgetPreset],
    options: &BudgetOptions,
) -> Vec<Judged<'k>> {
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
            let stage = (&found.field, &known.stage, &known.swept);
            let advice = choose_budget(stage, &found.runs, &in_use, &options);
            let sure = certainties(found, known, (&advice, *cache), options.resampling);
            judged.push(Judged {
                known,
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
    found: &Gathered,
    known: &Known,
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
                sure(&found.runs, &runs, &known.swept.free, cache, resampling)
            })
        })
        .collect()
}

/// `setting` as its world has it.
pub(super) fn priced(budget: &Budget, cache: f64) -> Budget {
    Budget {
        cache,
        ..budget.clone()
    }
}

pub(super) fn total(tallies: &[BudgetTally]) -> BudgetTally {
    let mut sum = BudgetTally::default();
    tallies.iter().for_each(|tally| sum += *tally);
    sum
}

/// What a play is called.
pub(super) fn called(one: &Judged<'_>, play: usize) -> String {
    let mut names: Vec<&str> = one.known.names[play].clone();
    if one.advice.in_use == play {
        names.push("in use");
    }
    if one.advice.candidate == Some(play) {
        names.push("candidate");
    }
    names.join(", ")
}

/// Writes `budgets.parquet`: the settings of each world, without a guard first. Returns how many settings it has.
fn write_rows(found: &Gathered, judged: &[Judged<'_>], folder: &Folder, csv: bool) -> Outcome<u64> {
    let mut table = BudgetTable::create(folder.path(), csv)?;
    let mut settings = 0;
    for one in judged {
        let known = one.known;
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
                Ok::<(), deadloop_score::FileError>(())
            };
        push(&never, "never", &known.swept.never, None)?;
        for (at, play) in known.stage.plays.iter().enumerate() {
            let (names, sure) = (called(one, at), one.sure[at]);
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

/// The verdict of several worlds: the first of these that any has; `collect` and `none` only where all have it.
fn together(rulings: &[Ruling]) -> Ruling {
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

fn ended(ruling: Ruling, judged: &[Judged<'_>]) -> Option<Failure> {
    let reason = |of: Ruling| {
        let one = judged.iter().find(|one| one.advice.ruling == of);
        one.map_or(String::new(), |one| one.advice.reason.clone())
    };
    match ruling {
        Ruling::None => Some(Code::Infeasible.error(reason(ruling))),
        Ruling::Collect => Some(Code::TooLittle.error(reason(ruling))),
        Ruling::Ship | Ruling::Decide | Ruling::Keep => None,
    }
}

/// What `--json` says.
fn summary(judged: &[Judged<'_>], ruling: Ruling) -> Map<String, Value> {
    let setting = |one: &Judged<'_>, play: usize| {
        let budget = priced(&one.known.stage.plays[play], one.cache);
        let params: Map<String, Value> = budget
            .columns()
            .into_iter()
            .map(|(name, value)| (name.to_owned(), json!(value)))
            .collect();
        json!({"id": budget.id(), "names": called(one, play), "params": params})
    };
    let world = |one: &Judged<'_>| {
        let a = &one.advice;
        json!({
            "window": one.known.stage.never.window, "cache": one.cache,
            "counter": one.known.stage.never.counter.name(), "tools": one.known.stage.never.tools,
            "reserve": one.known.stage.never.reserve,
            "verdict": a.ruling.name(), "reason": a.reason,
            "in_use": setting(one, a.in_use),
            "candidate": a.candidate.map(|play| setting(one, play)),
            "saved_points": a.figures.difference.map(|_| a.figures.points()),
            "saved_points_80": a.figures.interval_points(),
            "overflow": {"candidate": a.overflow[0], "in_use": a.overflow[1], "runs": a.overflow[2]},
            "prices": a.prices.iter().map(|price| price_json(one, price)).collect::<Vec<_>>(),
        })
    };
    let mut summary = Map::new();
    summary.insert("verdict".into(), ruling.name().into());
    let reasons = judged.iter().filter(|one| one.advice.ruling == ruling);
    let reason = reasons.map(|one| one.advice.reason.clone()).next();
    summary.insert("reason".into(), reason.unwrap_or_default().into());
    summary.insert("worlds".into(), judged.iter().map(world).collect());
    summary
}

fn price_json(one: &Judged<'_>, price: &deadloop_score::budget::BudgetPrice) -> Value {
    let budget = priced(&one.known.stage.plays[price.play], one.cache);
    json!({
        "at_most": price.at_most, "setting": budget.id(), "threshold": budget.threshold, "keep": budget.keep,
        "policy": budget.policy.name(), "overflow": price.overflow, "cost": price.cost,
        "held_out_overflow": price.held_out_overflow, "overflow_lo": price.lo, "overflow_hi": price.hi,
        "held_out_cost": price.held_out_cost, "is": called(one, price.play),
    })
}
