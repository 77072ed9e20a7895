//! What the page of a budget shows: every world's settings, one run turn by turn.

use deadloop_replay::budget::trace;
use deadloop_report::budget::{BudgetPoint, Page, PriceRow, Strip, Trace, World};
use deadloop_run::budgets::{BudgetRun, BudgetWorld, Runs};
use deadloop_score::budget::BudgetPrice;

use super::Budget as BudgetArgs;
use super::told;

/// Points of a world that the page has, the reported ones aside.
const POINTS: usize = 2_000;

/// All of it.
pub(super) fn page(done: &BudgetRun, args: &BudgetArgs) -> Page {
    let surveyed = &done.run.surveyed;
    Page {
        corpus: surveyed.name.clone().unwrap_or_else(|| "corpus".into()),
        corpus_hash: surveyed.hash.clone(),
        runs: done.runs.ids.len() as u64,
        worlds: done.worlds.iter().map(world).collect(),
        trace: traced(done, args),
        strips: strips(&done.runs),
        limits: told::limit_table(&done.limits),
    }
}

fn world(one: &BudgetWorld) -> World {
    let (stage, advice) = (&one.known.stage, &one.advice);
    let point = |play: usize| {
        let budget = one.setting(play);
        let tally = one.total(play);
        let (cost, never) = (tally.own.cost(one.cache), tally.own_free.cost(one.cache));
        let interval = one.sure[play].and_then(|sure| sure.cost);
        BudgetPoint {
            setting: budget.id(),
            names: one.called(play),
            policy: budget.policy.name().into(),
            threshold: budget.threshold,
            keep: budget.keep,
            cost: (never > 0.0).then(|| cost / never),
            cost_lo: interval.map(|i| i.lo),
            cost_hi: interval.map(|i| i.hi),
            even: one.sure[play].and_then(|sure| sure.even),
            overflow: tally.overflow,
            summaries: tally.summaries,
            is_unsafe: budget.is_unsafe(),
            preset: one.known.names[play].first().map(|name| (*name).to_owned()),
            in_use: advice.in_use == play,
            candidate: advice.candidate == Some(play),
        }
    };
    let shown = |play: &usize| *play < POINTS || !one.called(*play).is_empty();
    let never = one.never();
    let price = |price: &BudgetPrice| {
        let budget = &stage.plays[price.play];
        PriceRow {
            at_most: price.at_most,
            what: told::setting(budget),
            overflow: price.held_out_overflow,
            hi: price.hi,
            cost: price.held_out_cost,
            is: one.called(price.play),
        }
    };
    World {
        window: stage.never.window,
        cache: one.cache,
        counter: stage.never.counter.name().into(),
        reserve: stage.never.reserve,
        tools: stage.never.tools,
        runs: never.runs,
        overflow_never: never.overflow,
        verdict: advice.ruling.name().into(),
        reason: advice.reason.clone(),
        points: (0..stage.plays.len()).filter(shown).map(point).collect(),
        prices: advice.prices.iter().map(price).collect(),
    }
}

/// The run that the page draws: the one that was asked for, else the one with the most summaries under the setting in
/// use of the first window in which there is one.
fn traced(done: &BudgetRun, args: &BudgetArgs) -> Option<Trace> {
    let (found, judged) = (&done.runs, &done.worlds);
    let summaries = |one: &BudgetWorld| {
        let budget = &one.known.stage.plays[one.advice.in_use];
        let played = found.field.played(budget);
        let most = played
            .iter()
            .enumerate()
            .max_by_key(|(at, p)| (p.summaries, std::cmp::Reverse(*at)));
        most.filter(|(_, p)| p.summaries > 0).map(|(at, _)| at)
    };
    let asked = args
        .run
        .as_ref()
        .map(|id| found.ids.iter().position(|own| **own == **id));
    let (one, run) = match asked {
        Some(run) => (judged.first()?, run?),
        None => judged.iter().find_map(|one| Some((one, summaries(one)?)))?,
    };
    let budget = &one.known.stage.plays[one.advice.in_use];
    let (_, steps) = trace(found.field.run(run, budget), budget);
    let never = found.field.run(run, budget);
    Some(Trace {
        run: found.ids[run].to_string(),
        source: found.source(run).to_owned(),
        what: told::setting(budget),
        window: budget.window,
        threshold: budget.threshold * (budget.window.saturating_sub(budget.tools)) as f64,
        most: budget.window as f64 * (1.0 - budget.reserve),
        steps: steps
            .iter()
            .map(|s| (s.wanted, s.sent, s.done, s.overflow))
            .collect(),
        free: never
            .prompts()
            .iter()
            .map(|tokens| tokens + budget.tools)
            .collect(),
    })
}

/// The turns of the runs of each source, and how many of them are in a loop.
fn strips(found: &Runs) -> Vec<Strip> {
    let of = |name: &String| {
        let own = found.limits.iter().filter(|case| *case.source == **name);
        let mut runs: Vec<(u64, u64)> = own
            .map(|case| {
                let stuck = case
                    .stuck
                    .iter()
                    .map(|(from, to)| to.min(&case.turns).saturating_sub(*from));
                (case.turns, stuck.sum())
            })
            .collect();
        runs.sort_unstable();
        Strip {
            source: name.clone(),
            runs,
        }
    };
    found.names.iter().map(of).collect()
}
