//! [`choose_budget`]: which setting of a stage to take, and whether to: the rules of scoring.md, "Choosing a setting",
//! with the share of runs that overflow for wrong alarms and the cost for the objective.

use deadloop_replay::budget::{Budget, Field, Stage, Swept};
use serde::Serialize;

use super::contest::{Contenders, Spends, overflows};
use crate::choose::advice::{Ruling, Ship};
use crate::choose::contest::{Contest, Contested, Terms, contest, held_out, pick, sum};
use crate::choose::duel::Figures;
use crate::choose::pieces::EvidencePieces;
use crate::choose::rule::{LEAST, is_wide};
use crate::intervals::{Interval, Resampling, share_within, wilson};

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
    /// Replicates and seed.
    pub resampling: Resampling,
}

impl BudgetOptions {
    /// P(the share of runs that overflow is within the limit), `k` of `n` seen.
    #[allow(clippy::cast_precision_loss)]
    pub fn within(&self, k: u64, n: u64) -> f64 {
        share_within(k as f64, n as f64, self.limit).unwrap_or(0.0)
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

/// Settings that share all that is not chosen, and what they do to the runs.
#[derive(Clone, Copy)]
pub struct PlayedStage<'a> {
    /// The runs.
    pub field: &'a Field,
    /// The settings.
    pub stage: &'a Stage,
    /// What each comes to.
    pub swept: &'a Swept,
}

/// Chooses among the plays of a stage. `in_use` is one of them.
pub fn choose_budget(
    played: PlayedStage<'_>,
    all: &EvidencePieces,
    in_use: &Budget,
    options: &BudgetOptions,
) -> BudgetAdvice {
    let PlayedStage {
        field,
        stage,
        swept,
    } = played;
    let contenders = Contenders::of(field, stage, swept, in_use, options);
    let likely = |sums: &Spends| contenders.within(sums) >= 0.5;
    let terms = Terms {
        worthwhile: options.worthwhile,
        given: options.given,
        by_estimate: false,
        telling: crowded(field, stage, all),
        resampling: options.resampling,
    };
    let done = contest(
        &contenders,
        all,
        contenders.in_use,
        (&likely, &terms),
        |_| true,
    );
    let own = &contenders.all[contenders.in_use];
    let runs = all.groups.len() as u64;
    BudgetAdvice {
        ruling: done.ruling,
        ships: done.ships,
        reason: reason(&done, &terms, options),
        candidate: done.candidate.map(|at| contenders.all[at].play),
        in_use: own.play,
        overflow: [
            contenders.wrong(&done.held_out),
            own.runs.iter().filter(|run| run.overflow.is_some()).count() as u64,
            runs,
        ],
        prices: prices(&contenders, all, options),
        figures: done.figures,
    }
}

/// Groups with a run in which a prompt passes the lowest threshold: the others say nothing about a setting, and a copy
/// says nothing more than the first of its copies.
fn crowded(field: &Field, stage: &Stage, all: &EvidencePieces) -> u64 {
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
    all.groups_of(|run| acted[run].first.is_some() || acted[run].overflow.is_some())
}

/// Why the verdict is what it is.
fn reason(done: &Contested<Spends>, terms: &Terms, options: &BudgetOptions) -> String {
    let limit = format!("overflow <= {} %", options.limit * 100.0);
    let points = done.figures.points();
    let cost = format!("{:+.1} %", -points);
    match (done.ruling, done.ships) {
        (Ruling::Collect, _) if terms.telling < LEAST => {
            let near = terms.telling;
            format!("runs in {near} groups come near the window; {LEAST} are needed to choose")
        }
        (Ruling::Collect, _) => {
            let wide = done.figures.interval_points().filter(is_wide);
            let (lo, hi) = wide.unwrap_or_default();
            format!(
                "the difference in cost lies between {lo:+.0} and {hi:+.0} %: more runs are needed"
            )
        }
        (Ruling::None, _) => format!("no setting is within {limit}"),
        (Ruling::Ship, Some(Ship::Safer)) => {
            format!("held out fewer runs overflow than with what is in use, at {cost} of the cost")
        }
        (Ruling::Ship, Some(Ship::Needed)) => {
            format!("what is in use breaks {limit}; held out it is within it at {cost} of the cost")
        }
        (Ruling::Ship, _) => format!(
            "held out it costs {points:.1} % less than what is in use, what has to be fetched again included, within {limit}"
        ),
        (Ruling::Decide, _) => {
            format!("what is in use is over {limit}, and what is within costs {cost}")
        }
        (Ruling::Keep, _) => format!(
            "nothing within {limit} is surely cheaper than what is in use ({points:+.1} % saved, held out)"
        ),
    }
}

/// For at most 0, 1, 2, 3, 5, 8, … overflows the cheapest setting, chosen again in the folds.
#[allow(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss
)]
fn prices(
    contenders: &Contenders<'_>,
    of: &EvidencePieces,
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
        let allowed = |sums: &Spends| {
            let (k, n) = overflows(sums);
            k * runs <= at_most * n
        };
        let Some(at) = pick(contenders, of, contenders.in_use, &all, &allowed) else {
            continue;
        };
        let play = contenders.all[at].play;
        if rows.iter().any(|row| row.play == play) {
            continue;
        }
        let held = held_out(contenders, of, contenders.in_use, &allowed);
        let run = |at: usize| &contenders.all[held[at]].runs[at];
        let killed = || (0..held.len()).filter(|at| run(*at).overflow.is_some());
        let sure = wilson(of.once_of(killed()), of.once());
        let Interval { lo, hi } = sure.unwrap_or(Interval { lo: 0.0, hi: 1.0 });
        let own = sum((0..held.len()).map(|piece| contenders.adds(at, piece)));
        rows.push(BudgetPrice {
            at_most,
            setting: String::new(),
            overflow: contenders.wrong(&own),
            cost: against(contenders, &vec![at; held.len()], options.cache),
            held_out_overflow: killed().count() as u64,
            lo,
            hi,
            held_out_cost: against(contenders, &held, options.cache),
            play,
        });
    }
    rows
}

/// The cost, forgetting included, against no guard on the runs that are shared, each under the contender given.
fn against(contenders: &Contenders<'_>, each: &[usize], cache: f64) -> Option<f64> {
    let runs = each.iter().enumerate();
    let runs = runs.map(|(at, one)| (&contenders.all[*one].runs[at], at));
    let alive = runs.filter(|(run, at)| contenders.shared[*at] && run.overflow.is_none());
    let (mut with, mut without) = (0.0, 0.0);
    for (run, at) in alive {
        with += run.price(cache);
        without += contenders.free[at].price(cache);
    }
    (without > 0.0).then(|| with / without)
}
