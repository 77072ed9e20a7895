//! [`choose_budget`]: which setting of a stage to take, and whether to: the rules of scoring.md, "Choosing a setting",
//! with the share of runs that overflow for wrong alarms and the cost for the objective.

use std::sync::Arc;

use deadloop_replay::budget::{Budget, Field, Played, Stage, Swept};
use serde::Serialize;
use statrs::function::beta::checked_beta_reg;

use super::contest::Contest;
use super::runs::BudgetRuns;
use super::sure::{Sums, counted_once};
use crate::choose::advice::{Ruling, Ship};
use crate::choose::duel::Figures;
use crate::choose::rule::{Bar, LEAST, SURE, ships};
use crate::intervals::{Interval, Random, Resampling, quantile, wilson};

/// The interval of a difference that reaches this many points on both sides says nothing.
const WIDE: f64 = 5.0;

/// What a choice depends on.
#[derive(Clone, Copy, Debug)]
pub struct BudgetOptions {
    /// The share of runs that may overflow.
    pub limit: f64,
    /// Whether the user gave it.
    pub given: bool,
    /// The price of a cached token.
    pub cache: f64,
    /// Points that a better setting has to gain: a point is 1 % of what the setting in use costs.
    pub worthwhile: f64,
    /// Whether a setting may be chosen that keeps less at a time than what is in use: the price of forgetting is a lower
    /// bound.
    pub forget: bool,
    /// Folds of the cross-validation.
    pub folds: u64,
    /// Replicates and seed.
    pub resampling: Resampling,
}

impl BudgetOptions {
    /// P(the share of runs that overflow is within the limit), `k` of `n` seen: Beta(k + 1/2, n - k + 1/2).
    #[allow(clippy::cast_precision_loss)]
    pub fn within(&self, k: u64, n: u64) -> f64 {
        let (k, n) = (k as f64, n as f64);
        match self.limit {
            limit if limit >= 1.0 => 1.0,
            limit if limit <= 0.0 => 0.0,
            limit => checked_beta_reg(k + 0.5, (n - k).max(0.0) + 0.5, limit).unwrap_or(0.0),
        }
    }
}

/// A row of the price list: the cheapest setting with at most `at_most` overflows.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BudgetPrice {
    /// The most runs that may overflow.
    pub at_most: u64,
    /// The setting.
    pub setting: String,
    /// How many of the runs that it was chosen on overflow.
    pub overflow: u64,
    /// Its cost, forgetting included, relative to no guard on these runs, without the runs that a setting within the limit kills.
    pub cost: Option<f64>,
    /// How many runs overflow, held out.
    pub held_out_overflow: u64,
    /// Their share, 95 %.
    pub lo: f64,
    /// See `lo`.
    pub hi: f64,
    /// The same, held out.
    pub held_out_cost: Option<f64>,
    /// The number of the play.
    #[serde(skip)]
    pub play: usize,
}

/// What a choice comes to.
#[derive(Clone, Debug)]
pub struct BudgetAdvice {
    /// What to do.
    pub ruling: Ruling,
    /// By which rule it ships.
    pub ships: Option<Ship>,
    /// Why, in one sentence.
    pub reason: String,
    /// The play that is the candidate.
    pub candidate: Option<usize>,
    /// The play that is in use.
    pub in_use: usize,
    /// The candidate held out, against the setting in use.
    pub figures: Figures,
    /// Runs that overflow: the candidate held out, the setting in use; and all runs.
    pub overflow: [u64; 3],
    /// The price list.
    pub prices: Vec<BudgetPrice>,
}

/// Chooses among the plays of a stage. `in_use` is one of them.
pub fn choose_budget(
    (field, stage, swept): (&Field, &Stage, &Swept),
    all: &BudgetRuns,
    in_use: &Budget,
    options: &BudgetOptions,
) -> BudgetAdvice {
    let contest = Contest::of(field, stage, swept, &all.groups, (in_use, options));
    let likely = |k: u64, n: u64| options.within(k, n) >= 0.5;
    let candidate = contest.pick(&all.firsts, likely);
    let held_out = held_out(&contest, all, &all.firsts, options, likely);
    let own = &contest.contenders[contest.in_use];
    let figures = duel(&held_out, &own.runs, all, options);
    let dead = |runs: &mut dyn Iterator<Item = &Played>| {
        runs.filter(|run| run.overflow.is_some()).count() as u64
    };
    let runs = all.groups.len() as u64;
    let overflow = [
        dead(&mut held_out.iter().copied()),
        dead(&mut own.runs.iter()),
        runs,
    ];
    let bar = Bar {
        sure: SURE,
        worthwhile: options.worthwhile,
        given: options.given,
        surely_dear: false,
        keeps_limits: None,
        expected: None,
    };
    let chosen = candidate.filter(|at| *at != contest.in_use);
    let shipped = chosen.and_then(|_| ships(&figures, &bar));
    let near = crowded(field, stage, all);
    let over = overflow[1] as f64 > options.limit * runs as f64;
    let (ruling, reason) = ruled(&figures, (near, shipped), (candidate, over), options);
    BudgetAdvice {
        ruling,
        ships: shipped.filter(|_| ruling == Ruling::Ship),
        reason,
        candidate: candidate.map(|at| contest.contenders[at].play),
        in_use: own.play,
        overflow,
        prices: prices(&contest, all, &swept.free, options),
        figures,
    }
}

/// Groups with a run in which a prompt passes the lowest threshold: the others say nothing about a setting, and a copy
/// says nothing more than the first of its copies.
fn crowded(field: &Field, stage: &Stage, all: &BudgetRuns) -> u64 {
    let lowest = stage
        .plays
        .iter()
        .map(|play| play.threshold)
        .fold(1.0, f64::min);
    let least = Budget {
        threshold: lowest,
        reserve: 0.0,
        ..stage.plays.first().cloned().unwrap_or_default()
    };
    let acted = field.played(&least);
    let mut found: Vec<&str> = Vec::new();
    for ((run, group), first) in acted.iter().zip(&all.groups).zip(&all.firsts) {
        if *first && (run.first.is_some() || run.overflow.is_some()) {
            found.push(group);
        }
    }
    found.sort_unstable();
    found.dedup();
    found.len() as u64
}

/// The verdict: the first that holds.
fn ruled(
    figures: &Figures,
    (near, shipped): (u64, Option<Ship>),
    (candidate, over): (Option<usize>, bool),
    options: &BudgetOptions,
) -> (Ruling, String) {
    let limit = format!("overflow <= {} %", options.limit * 100.0);
    let points = figures.points();
    let wide = figures
        .interval_points()
        .filter(|(lo, hi)| *lo <= -WIDE && *hi >= WIDE);
    if near < LEAST {
        let what =
            format!("runs in {near} groups come near the window; {LEAST} are needed to choose");
        return (Ruling::Collect, what);
    }
    if candidate.is_none() {
        return (Ruling::None, format!("no setting is within {limit}"));
    }
    if let Some((lo, hi)) = wide {
        let what = format!(
            "the difference in cost lies between {lo:+.0} and {hi:+.0} %: more runs are needed"
        );
        return (Ruling::Collect, what);
    }
    match shipped {
        Some(Ship::Better) => {
            let what = format!(
                "held out it costs {points:.1} % less than what is in use, what has to be fetched again included, within {limit}"
            );
            (Ruling::Ship, what)
        }
        Some(Ship::Safer) => (
            Ruling::Ship,
            format!(
                "held out fewer runs overflow than with what is in use, at {:+.1} % of the cost",
                -points
            ),
        ),
        Some(Ship::Needed) => {
            let what = format!(
                "what is in use breaks {limit}; held out it is within it at {:+.1} % of the cost",
                -points
            );
            (Ruling::Ship, what)
        }
        None if over => {
            let what = format!(
                "what is in use is over {limit}, and what is within costs {:+.1} %",
                -points
            );
            (Ruling::Decide, what)
        }
        None => (
            Ruling::Keep,
            format!(
                "nothing within {limit} is surely cheaper than what is in use ({points:+.1} % saved, held out)"
            ),
        ),
    }
}

/// The fold of each run: that of all groups that share a run with its own, by a hash of the first one's name.
fn folds(all: &BudgetRuns, options: &BudgetOptions) -> Vec<u64> {
    let of = |group: &Arc<str>| {
        Random::named(options.resampling.seed, group).next() % options.folds.max(2)
    };
    all.folded.iter().map(of).collect()
}

/// Each run under the candidate of the other folds, chosen on those of their runs that are `meant`; where they have
/// none, under the setting in use.
fn held_out<'a>(
    contest: &'a Contest<'_>,
    all: &BudgetRuns,
    meant: &[bool],
    options: &BudgetOptions,
    allowed: impl Fn(u64, u64) -> bool,
) -> Vec<&'a Played> {
    let folds = folds(all, options);
    let picked = |fold: u64| {
        let others = folds.iter().zip(meant);
        let meant: Vec<bool> = others.map(|(of, meant)| *meant && *of != fold).collect();
        contest.pick(&meant, &allowed).unwrap_or(contest.in_use)
    };
    let picked: Vec<usize> = (0..options.folds.max(2)).map(picked).collect();
    let run = |(at, fold): (usize, &u64)| {
        let contender = picked[usize::try_from(*fold).unwrap_or(0)];
        &contest.contenders[contender].runs[at]
    };
    folds.iter().enumerate().map(run).collect()
}

/// What a run adds to a duel: paid in full and cached under the newcomer, under what is in use, both alive; and
/// overflows of both.
fn pair(new: &Played, old: &Played) -> Sums<6> {
    let (dead, was) = (new.overflow.is_some(), old.overflow.is_some());
    let over = [u64::from(dead), u64::from(was)];
    match dead || was {
        true => [0, 0, 0, 0, over[0], over[1]],
        false => [
            new.paid(),
            new.cached,
            old.paid(),
            old.cached,
            over[0],
            over[1],
        ],
    }
}

/// The candidate held out against the setting in use, on the runs that neither kills.
#[allow(clippy::cast_precision_loss)]
fn duel(new: &[&Played], old: &[Played], all: &BudgetRuns, options: &BudgetOptions) -> Figures {
    let pairs: Vec<Sums<6>> = new
        .iter()
        .zip(old)
        .map(|(new, old)| pair(new, old))
        .collect();
    let named = all.groups.iter().map(|group| &**group).zip(pairs);
    let (replicates, once, each) = counted_once(named.zip(&all.firsts), options.resampling);
    let saved = |s: &Sums<6>| {
        let cost = |paid: u64, cached: u64| paid as f64 + cached as f64 * options.cache;
        let old = cost(s[2], s[3]);
        (old > 0.0).then(|| 1.0 - cost(s[0], s[1]) / old)
    };
    let n = replicates.len().max(1) as f64;
    let mut saves: Vec<f64> = replicates.iter().filter_map(saved).collect();
    let above = |x: f64| saves.iter().filter(|saved| **saved > x).count() as f64 / n;
    let over =
        |is: fn(u64, u64) -> bool| replicates.iter().filter(|s| is(s[4], s[5])).count() as f64 / n;
    let runs = all.once();
    let (better, no_point_worse, not_five_worse) = (above(0.0), above(-0.01), above(-0.05));
    let low = quantile(&mut saves, 0.1);
    Figures {
        difference: saved(&each),
        point: 0.01,
        better,
        no_point_worse,
        not_five_worse,
        interval: low.zip(quantile(&mut saves, 0.9)),
        fewer_wrong: over(|new, old| new < old),
        no_more_wrong: over(|new, old| new <= old),
        within: options.within(once[4], runs),
        incumbent_within: vec![options.within(once[5], runs)],
        ..Figures::default()
    }
}

/// For at most 0, 1, 2, 3, 5, 8, … overflows the cheapest setting, chosen again in the folds.
#[allow(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss
)]
fn prices(
    contest: &Contest<'_>,
    of: &BudgetRuns,
    free: &[Played],
    options: &BudgetOptions,
) -> Vec<BudgetPrice> {
    let runs = of.groups.len() as u64;
    let all = vec![true; of.groups.len()];
    let top = (3.0 * options.limit * runs as f64).max(3.0) as u64;
    let steps = std::iter::successors(Some((1, 2)), |(a, b)| Some((*b, a + b)));
    let steps = [0]
        .into_iter()
        .chain(steps.map(|(a, _)| a))
        .take_while(|n| *n <= top);
    let mut rows: Vec<BudgetPrice> = Vec::new();
    for at_most in steps {
        let allowed = |k: u64, n: u64| k * runs <= at_most * n;
        let Some(at) = contest.pick(&all, allowed) else {
            continue;
        };
        let one = &contest.contenders[at];
        if rows.iter().any(|row| row.play == one.play) {
            continue;
        }
        let held = held_out(contest, of, &all, options, allowed);
        let killed = || (0..held.len()).filter(|run| held[*run].overflow.is_some());
        let sure = wilson(of.once_of(killed()), of.once());
        let Interval { lo, hi } = sure.unwrap_or(Interval { lo: 0.0, hi: 1.0 });
        let own: Vec<&Played> = one.runs.iter().collect();
        rows.push(BudgetPrice {
            at_most,
            setting: String::new(),
            overflow: contest.overflows(at, &all).0,
            cost: against(&own, free, contest.shared, options.cache),
            held_out_overflow: killed().count() as u64,
            lo,
            hi,
            held_out_cost: against(&held, free, contest.shared, options.cache),
            play: one.play,
        });
    }
    rows
}

/// The cost, forgetting included, against no guard on the runs that are shared.
fn against(runs: &[&Played], free: &[Played], shared: &[bool], cache: f64) -> Option<f64> {
    let all = runs.iter().zip(free).zip(shared);
    let alive = all.filter(|((run, _), shared)| **shared && run.overflow.is_none());
    let (mut with, mut without) = (0.0, 0.0);
    for ((run, free), _) in alive {
        with += run.price(cache);
        without += free.price(cache);
    }
    (without > 0.0).then(|| with / without)
}
