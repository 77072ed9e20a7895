//! [`Contenders`]: the settings of a stage that are worth a look, run by run, and how they are chosen from.

use std::cmp::Ordering;

use deadloop_replay::budget::{Budget, Field, Played, Policy, Stage, Swept};

use super::advice::BudgetOptions;
use crate::choose::contest::Contest;
use crate::tally::Sums;

/// Settings that cost more than this times the cheapest are no contenders.
const NEAR: f64 = 1.1;
/// Contenders at most: each is held run by run.
const MOST: usize = 300;

/// A setting, run by run.
pub(super) struct Contender {
    /// Its number among the plays of the stage.
    pub(super) play: usize,
    budget: Budget,
    pub(super) runs: Vec<Played>,
}

/// Settings within the limit that cost little, and the setting in use.
pub(super) struct Contenders<'a> {
    pub(super) all: Vec<Contender>,
    /// The place of the setting in use among them.
    pub(super) in_use: usize,
    /// Runs on which costs are compared: none of those within the limit kills them.
    pub(super) shared: &'a [bool],
    /// Each run without a guard: what one costs that dies is not known, and is taken to be no less.
    pub(super) free: &'a [Played],
    options: &'a BudgetOptions,
}

/// What a run adds under a setting: tokens that are paid in full, forgetting included, tokens that are cached, whether it
/// overflows, and itself.
pub(super) type Spends = Sums<4>;

fn spends(run: &Played) -> Spends {
    let signed = |n: u64| i64::try_from(n).unwrap_or(i64::MAX);
    let overflow = i64::from(run.overflow.is_some());
    Sums([signed(run.paid()), signed(run.cached), overflow, 1])
}

/// The runs that overflow, and all.
pub(super) fn overflows(Sums([_, _, overflow, runs]): &Spends) -> (u64, u64) {
    let count = |n: i64| u64::try_from(n).unwrap_or(0);
    (count(*overflow), count(*runs))
}

impl<'a> Contenders<'a> {
    /// Those of a stage. `in_use` is one of its plays.
    pub(super) fn of(
        field: &Field,
        stage: &Stage,
        swept: &'a Swept,
        in_use: &Budget,
        options: &'a BudgetOptions,
    ) -> Self {
        let cache = options.cache;
        let cost = |play: usize| {
            let tallies = swept.plays[play].iter();
            tallies.map(|tally| tally.shared.price(cache)).sum::<f64>()
        };
        let may = |play: &usize| options.forget || keeps_as_much(&stage.plays[*play], in_use);
        let within = (0..stage.plays.len()).filter(|play| swept.within[*play] && may(play));
        let mut costs: Vec<(f64, usize)> = within.map(|play| (cost(play), play)).collect();
        costs.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let best = costs.first().map_or(0.0, |(cost, _)| *cost);
        let near = costs.iter().filter(|(cost, _)| *cost <= best * NEAR);
        let mut picked: Vec<usize> = near.take(MOST).map(|(_, play)| *play).collect();
        let own = stage
            .plays
            .iter()
            .position(|play| play.told() == in_use.told());
        let own = own.unwrap_or(0);
        if !picked.contains(&own) {
            picked.push(own);
        }
        picked.sort_unstable();
        let of = |play: &usize| Contender {
            play: *play,
            runs: field.played(&stage.plays[*play]),
            budget: stage.plays[*play].clone(),
        };
        Self {
            in_use: picked.iter().position(|play| *play == own).unwrap_or(0),
            all: picked.iter().map(of).collect(),
            shared: &swept.shared,
            free: &swept.free,
            options,
        }
    }

    /// How far a contender is from the setting in use: parameters that differ, how much the threshold and what is
    /// kept differ, and the threshold itself, since the lower one is the more careful.
    fn distance(&self, at: usize) -> (usize, f64, f64) {
        let (one, own) = (&self.all[at].budget, &self.all[self.in_use].budget);
        let own_columns = own.columns();
        let differ = one
            .columns()
            .into_iter()
            .filter(|column| !own_columns.contains(column));
        let far = (one.threshold - own.threshold).abs() + (one.keep - own.keep).abs();
        (differ.count(), far, one.threshold)
    }
}

impl Contest for Contenders<'_> {
    type Adds = Spends;

    fn candidates(&self) -> usize {
        self.all.len()
    }

    fn adds(&self, candidate: usize, piece: usize) -> Spends {
        spends(&self.all[candidate].runs[piece])
    }

    fn weighed(&self, candidate: usize, piece: usize) -> Spends {
        let run = &self.all[candidate].runs[piece];
        match (self.shared[piece], run.overflow) {
            (false, _) => Spends::default(),
            (true, Some(_)) => spends(&self.free[piece]),
            (true, None) => spends(run),
        }
    }

    /// Tokens of the runs that neither kills.
    fn pair(&self, piece: usize, new: usize, old: usize) -> [Spends; 2] {
        let mut both = [self.adds(new, piece), self.adds(old, piece)];
        if both.iter().any(|Sums([_, _, overflow, _])| *overflow > 0) {
            for Sums([paid, cached, ..]) in &mut both {
                (*paid, *cached) = (0, 0);
            }
        }
        both
    }

    #[allow(clippy::cast_precision_loss)]
    fn cost(&self, Sums([paid, cached, ..]): &Spends) -> f64 {
        *paid as f64 + *cached as f64 * self.options.cache
    }

    fn prefer(&self, one: usize, other: usize) -> Ordering {
        let (a, b) = (self.distance(one), self.distance(other));
        a.0.cmp(&b.0)
            .then(a.1.total_cmp(&b.1))
            .then(a.2.total_cmp(&b.2))
    }

    /// The share of the cost that is saved.
    fn gain(&self, [new, old]: &[Spends; 2]) -> Option<f64> {
        let old = self.cost(old);
        (old > 0.0).then(|| 1.0 - self.cost(new) / old)
    }

    fn wrong(&self, sums: &Spends) -> u64 {
        overflows(sums).0
    }

    fn within(&self, sums: &Spends) -> f64 {
        let (overflow, runs) = overflows(sums);
        self.options.within(overflow, runs)
    }

    #[allow(clippy::cast_precision_loss)]
    fn is_over(&self, sums: &Spends) -> bool {
        let (overflow, runs) = overflows(sums);
        overflow as f64 > self.options.limit * runs as f64
    }
}

/// Whether a setting forgets no more at a time than another. What a run loses by forgetting has a lower bound alone as
/// its price ([`Played::again`]).
fn keeps_as_much(one: &Budget, own: &Budget) -> bool {
    match (one.policy, own.policy) {
        (Policy::Summary, Policy::Summary) => one.keep >= own.keep && one.summary >= own.summary,
        (Policy::Drop, Policy::Drop) => one.keep >= own.keep,
        (Policy::ClearResults, Policy::ClearResults) => one.keep_results >= own.keep_results,
        (Policy::Summary | Policy::ClearResults, Policy::Drop) => true,
        (Policy::ClearResults, Policy::Summary) => true,
        _ => false,
    }
}
