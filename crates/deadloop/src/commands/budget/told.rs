//! What `deadloop budget` says on the terminal.

use deadloop_replay::budget::{Budget, BudgetTally, Policy};
use deadloop_report::budget::LIMIT_HEADER;
use deadloop_run::budgets::{BudgetRun, BudgetWorld, Runs};
use deadloop_score::budget::LimitRow;

use crate::show;

/// Worlds whose settings are all told; of more there is a line each.
const WHOLE: usize = 3;

/// A setting in words.
pub(super) fn setting(b: &Budget) -> String {
    let at = format!("at {}", b.threshold);
    let tools = match b.tools {
        0 => String::new(),
        tools => format!(", tools {tools}"),
    };
    let policy = match b.policy {
        Policy::Summary => format!("summary {at}, keep {}", b.keep),
        Policy::Drop => format!("drop {at}, keep {}", b.keep),
        Policy::ClearResults => format!("clear-results {at}, but the newest {}", b.keep_results),
        Policy::Never => "never".into(),
    };
    policy + &tools
}

/// Everything.
pub(super) fn told(done: &BudgetRun) -> String {
    let (found, judged) = (&done.runs, &done.worlds);
    let mut parts = vec![format!(
        "{} in {}; {} overflow allowed",
        show::several(found.ids.len() as u64, "run"),
        show::several(found.names.len() as u64, "source"),
        show::percent(Some(done.options.limit)),
    )];
    if found.turnless > 0 {
        parts.push(format!(
            "left out: {} without a turn",
            show::several(found.turnless, "transcript")
        ));
    }
    parts.push(verdicts(judged));
    if judged.len() <= WHOLE {
        parts.extend(judged.iter().map(world));
        parts.extend(
            judged
                .iter()
                .map(|one| by_source(found, one))
                .filter(|part| !part.is_empty()),
        );
    }
    parts.push(limits_told(&done.limits));
    parts.retain(|part| !part.is_empty());
    parts.join("\n\n")
}

fn ratio(tally: &BudgetTally, cache: f64) -> Option<f64> {
    let never = tally.own_free.cost(cache);
    (never > 0.0).then(|| tally.own.cost(cache) / never)
}

/// What has to be fetched again, as a share of the cost without a guard.
#[allow(clippy::cast_precision_loss)]
fn again(tally: &BudgetTally, cache: f64) -> Option<f64> {
    let never = tally.own_free.cost(cache);
    (never > 0.0).then(|| tally.own.again as f64 / never)
}

/// A line a world.
fn verdicts(judged: &[BudgetWorld]) -> String {
    let row = |one: &BudgetWorld| {
        let never = one.never();
        let of = |play: usize| {
            let tally = one.total(play);
            let cost = show::number(ratio(&tally, one.cache), 2);
            (show::count(tally.overflow), cost)
        };
        let (dead, cost) = of(one.advice.in_use);
        let candidate = one.advice.candidate;
        let (new_dead, new_cost) = candidate.map_or(("-".into(), "-".into()), of);
        vec![
            show::count(one.known.stage.never.window),
            one.known.stage.never.counter.name().to_owned(),
            one.cache.to_string(),
            show::count(never.overflow),
            dead,
            cost,
            candidate.map_or("-".into(), |play| setting(&one.known.stage.plays[play])),
            new_dead,
            new_cost,
            one.advice.ruling.name().to_owned(),
        ]
    };
    let rows: Vec<Vec<String>> = judged.iter().map(row).collect();
    let header = [
        "window",
        "counter",
        "cache",
        "overflow, no guard",
        "in use",
        "cost",
        "candidate",
        "overflow",
        "cost",
        "verdict",
    ];
    let table = show::table_of(&header, &rows, 2..6);
    let mut reasons: Vec<String> = Vec::new();
    for one in judged {
        let line = format!(
            "window {}, cache {}: {}: {}",
            show::count(one.known.stage.never.window),
            one.cache,
            one.advice.ruling.name(),
            one.advice.reason
        );
        reasons.push(line);
    }
    format!(
        "{table}\ncost: against no guard in a window without end, on the runs that the setting does not kill; a choice adds the tokens that have to be fetched again\n\n{}",
        reasons.join("\n")
    )
}

/// The settings of a world that are reported, without a guard first.
fn world(one: &BudgetWorld) -> String {
    let known = &one.known;
    let mut rows = vec![line("never", &known.stage.never, &one.never(), one.cache)];
    for (at, play) in known.stage.plays.iter().enumerate() {
        let names = one.called(at);
        if names.is_empty() {
            continue;
        }
        let mut row = line(&names, play, &one.total(at), one.cache);
        let sure = one.sure[at].unwrap_or_default();
        let ends = |i: deadloop_score::Interval| format!("{:.2} .. {:.2}", i.lo, i.hi);
        row[9] = sure.cost.map_or("n/a".into(), ends);
        row[10] = match (sure.even, sure.even_interval) {
            (Some(even), Some(i)) => format!("{even:.2} ({:.2} .. {:.2})", i.lo, i.hi),
            (None, Some(i)) if i.hi < 0.0 => "always".into(),
            (None, Some(i)) if i.lo > 1.0 => "never".into(),
            _ => "n/a".into(),
        };
        rows.push(row);
    }
    let header = [
        "setting",
        "",
        "overflow",
        "summaries a run",
        "useless",
        "thrash",
        "first turn",
        "fetched again",
        "cost",
        "95 %",
        "pays at a cache price above",
    ];
    format!(
        "window {}, cache {}\n{}",
        show::count(known.stage.never.window),
        one.cache,
        show::table(&header, &rows, 2)
    )
}

#[allow(clippy::cast_precision_loss)]
fn line(names: &str, budget: &Budget, t: &BudgetTally, cache: f64) -> Vec<String> {
    let per = |n: u64, of: u64| (of > 0).then(|| n as f64 / of as f64);
    vec![
        names.to_owned(),
        setting(budget),
        format!("{} of {}", show::count(t.overflow), show::count(t.runs)),
        show::number(per(t.summaries, t.runs), 2),
        show::count(t.useless),
        show::count(t.thrash),
        show::number(per(t.first, t.acted), 1),
        show::percent(again(t, cache)),
        show::number(ratio(t, cache), 2),
        "n/a".into(),
        "n/a".into(),
    ]
}

/// The setting in use and the candidate, source by source.
fn by_source(found: &Runs, one: &BudgetWorld) -> String {
    if found.names.len() < 2 {
        return String::new();
    }
    let plays = [Some(one.advice.in_use), one.advice.candidate];
    let row = |(at, name): (usize, &String)| {
        let mut row = vec![
            name.clone(),
            show::count(one.known.swept.never[at].overflow),
        ];
        for play in plays {
            let tally = play.map(|play| &one.known.swept.plays[play][at]);
            let told =
                |t: &BudgetTally| format!("{} of {}", show::count(t.overflow), show::count(t.runs));
            row.push(tally.map_or("-".into(), told));
            row.push(show::number(tally.and_then(|t| ratio(t, one.cache)), 2));
        }
        row
    };
    let rows: Vec<Vec<String>> = found.names.iter().enumerate().map(row).collect();
    let header = [
        "source",
        "overflow, no guard",
        "in use",
        "cost",
        "candidate",
        "cost",
    ];
    show::table(&header, &rows, 1)
}

/// The rows of limits that people look at first: growth of a half, warned at 0.8, always yes, and stopped at once.
pub(super) fn limit_table(limits: &[LimitRow]) -> Vec<Vec<String>> {
    let shown = |row: &&LimitRow| {
        let l = &row.limit;
        let asks = l.cancel_after.is_none() && l.grow == 1.5;
        let stops = l.cancel_after == Some(0);
        l.warn_at == 0.8 && (asks || stops) && [10, 25, 50, 100].contains(&l.limit)
    };
    let cells = |row: &LimitRow| {
        let does = match row.limit.cancel_after {
            None => "asks, + 50 %",
            Some(_) => "stops",
        };
        vec![
            row.source.clone(),
            row.limit.limit.to_string(),
            does.to_owned(),
            show::count(row.runs),
            show::count(row.ask),
            show::count(row.confirmations),
            show::number(row.per_run(), 2),
            show::number(row.per_1000_turns(), 1),
            show::count(row.warned),
            show::number(row.mean_lead(), 1),
            show::count(row.good_cut),
            show::count(row.useful_cut),
            show::count(row.saved),
        ]
    };
    limits.iter().filter(shown).map(cells).collect()
}

fn limits_told(limits: &[LimitRow]) -> String {
    let all = limit_table(limits);
    let rows: Vec<Vec<String>> = all.into_iter().filter(|row| row[0] == "*").collect();
    format!(
        "iteration limits, all sources (limits.csv has each); a good run cut had a useful turn, one in no loop, still to come\n{}",
        show::table(&LIMIT_HEADER, &rows, 3)
    )
}
