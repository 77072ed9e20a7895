//! [`Contest`]: the settings of a stage that are worth a look, run by run, and which of them is the candidate on some
//! of the runs.

use std::collections::BTreeMap;
use std::sync::Arc;

use deadloop_replay::budget::{Budget, Field, Played, Policy, Stage, Swept};

use super::advice::BudgetOptions;

/// Settings that cost more than this times the cheapest are no contenders.
const NEAR: f64 = 1.1;
/// Contenders at most: each is held run by run.
const MOST: usize = 300;

/// A setting, run by run.
pub(super) struct Contender {
    /// Its number among the plays of the stage.
    pub(super) play: usize,
    pub(super) budget: Budget,
    pub(super) runs: Vec<Played>,
}

/// Settings within the limit that cost little, and the setting in use.
pub(super) struct Contest<'a> {
    pub(super) contenders: Vec<Contender>,
    /// The place of the setting in use among them.
    pub(super) in_use: usize,
    pub(super) groups: &'a [Arc<str>],
    /// Runs on which costs are compared: none of those within the limit kills them.
    pub(super) shared: &'a [bool],
    /// Each run without a guard: what one costs that dies is not known, and is taken to be no less.
    free: &'a [Played],
    pub(super) cache: f64,
}

impl<'a> Contest<'a> {
    /// Those of a stage. `in_use` is one of its plays.
    pub(super) fn of(
        field: &Field,
        stage: &Stage,
        swept: &'a Swept,
        groups: &'a [Arc<str>],
        (in_use, options): (&Budget, &BudgetOptions),
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
            contenders: picked.iter().map(of).collect(),
            groups,
            shared: &swept.shared,
            free: &swept.free,
            cache,
        }
    }

    /// Overflows of a contender among the runs that are meant, and how many those are.
    pub(super) fn overflows(&self, at: usize, meant: &[bool]) -> (u64, u64) {
        let runs = self.contenders[at].runs.iter().zip(meant);
        let runs = runs.filter(|(_, meant)| **meant);
        runs.fold((0, 0), |(k, n), (run, _)| {
            (k + u64::from(run.overflow.is_some()), n + 1)
        })
    }

    /// The candidate on the given runs: the cheapest contender that `allowed` admits. Within one standard error of it, the
    /// setting in use or the nearest to it wins.
    pub(super) fn pick(&self, meant: &[bool], allowed: impl Fn(u64, u64) -> bool) -> Option<usize> {
        let lets_in = |at: &usize| {
            let (overflow, runs) = self.overflows(*at, meant);
            allowed(overflow, runs)
        };
        let all: Vec<usize> = (0..self.contenders.len()).filter(lets_in).collect();
        let counted: Vec<bool> = self
            .shared
            .iter()
            .zip(meant)
            .map(|(shared, meant)| *shared && *meant)
            .collect();
        let costs: Vec<Vec<f64>> = all.iter().map(|at| self.costs(*at, &counted)).collect();
        let sums: Vec<f64> = costs.iter().map(|costs| costs.iter().sum()).collect();
        let best = (0..all.len()).min_by(|a, b| sums[*a].total_cmp(&sums[*b]))?;
        let near = (0..all.len()).filter(|one| is_near(&costs[*one], &costs[best]));
        let near: Vec<usize> = near.map(|one| all[one]).collect();
        if near.contains(&self.in_use) {
            return Some(self.in_use);
        }
        near.into_iter().min_by(|a, b| {
            let (a, b) = (self.distance(*a), self.distance(*b));
            a.0.cmp(&b.0)
                .then(a.1.total_cmp(&b.1))
                .then(a.2.total_cmp(&b.2))
        })
    }

    /// What a contender costs in each group, forgetting included.
    fn costs(&self, at: usize, counted: &[bool]) -> Vec<f64> {
        let mut groups: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
        let runs = self.contenders[at].runs.iter().zip(self.free);
        for (((run, free), group), counted) in runs.zip(self.groups).zip(counted) {
            let sum = groups.entry(group).or_default();
            if *counted {
                let paid = if run.overflow.is_some() { free } else { run };
                sum.0 += paid.paid();
                sum.1 += paid.cached;
            }
        }
        #[allow(clippy::cast_precision_loss)]
        let cost = |(paid, cached): &(u64, u64)| *paid as f64 + *cached as f64 * self.cache;
        groups.values().map(cost).collect()
    }

    /// How far a contender is from the setting in use: parameters that differ, how much the threshold and what is
    /// kept differ, and the threshold itself, since the lower one is the more careful.
    fn distance(&self, at: usize) -> (usize, f64, f64) {
        let (one, own) = (
            &self.contenders[at].budget,
            &self.contenders[self.in_use].budget,
        );
        let own_columns = own.columns();
        let differ = one
            .columns()
            .into_iter()
            .filter(|column| !own_columns.contains(column));
        let far = (one.threshold - own.threshold).abs() + (one.keep - own.keep).abs();
        (differ.count(), far, one.threshold)
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

/// Whether costs are within one standard error, over groups, of the best.
#[allow(clippy::cast_precision_loss)]
fn is_near(costs: &[f64], best: &[f64]) -> bool {
    let more: Vec<f64> = costs
        .iter()
        .zip(best)
        .map(|(cost, best)| cost - best)
        .collect();
    let (n, sum) = (more.len() as f64, more.iter().sum::<f64>());
    if n < 2.0 {
        return sum <= 0.0;
    }
    let spread: f64 = more.iter().map(|d| (d - sum / n).powi(2)).sum();
    sum <= (n / (n - 1.0) * spread).sqrt()
}
