//! The price list: what one more wrong alarm buys.

use std::collections::BTreeMap;

use super::Chooser;
use super::advice::Price;
use super::cross::Cross;
use super::levels::{Tried, cross};
use super::select::{Stand, at_most};
use crate::constraint::Assurance;
use crate::intervals::poisson;
use crate::measure::{DELAY, ENDED, RECALL, wrong_rate};
use crate::tally::{Count, Tally};

/// 0, 1, 2, 3, 5, 8, 13 … up to a number.
fn steps(top: u64) -> impl Iterator<Item = u64> {
    let fibonacci = std::iter::successors(Some((2_u64, 3_u64)), |(a, b)| Some((*b, a + b)));
    let rising = [0, 1].into_iter().chain(fibonacci.map(|(a, _)| a));
    rising.take_while(move |n| *n <= top)
}

impl Chooser<'_> {
    /// For at most 0, 1, 2, 3, 5 … wrong alarms the best setting that meets the other limits, chosen again without
    /// each fold with the count scaled by the exposure that is left. Rows with one setting are one.
    pub(super) fn prices(
        &self,
        stands: &[(Option<usize>, Stand<'_>)],
        used: Option<&Tried>,
    ) -> Vec<Price> {
        let once = self.once(&self.every);
        let now = self.tally(self.in_use, &self.every);
        let top = match self.expected(&self.field.quiet(&once)) {
            Some(expected) => (3.0 * expected).max(3.0) as u64,
            None => now.wrong() + 3,
        };
        let exposure = |without: Option<usize>| {
            let kept = self.field.kept(&self.every, without);
            self.field.quiet(&kept).get(Count::Exposure) as f64
        };
        let all = exposure(None).max(1.0);
        let left: BTreeMap<Option<usize>, f64> = stands
            .iter()
            .map(|(without, _)| (*without, exposure(*without) / all))
            .collect();
        let candidate = used.and_then(|tried| tried.cross.cell);
        let mut prices: Vec<Price> = Vec::new();
        for n in steps(top) {
            let choice = cross(stands, |stand| {
                let share = left.get(&stand.without()).copied().unwrap_or(1.0);
                let scaled = (n as f64 * share).round() as u64;
                at_most(
                    stand.standings.iter().filter(|s| s.others),
                    scaled,
                    self.in_use,
                )
            });
            let Some(cell) = choice.cell else { continue };
            if prices.iter().all(|price| price.cell != cell) {
                prices.push(self.price(n, cell, &choice, candidate));
            }
        }
        prices
    }

    fn price(&self, at_most: u64, cell: usize, choice: &Cross, candidate: Option<usize>) -> Price {
        let worth = &self.options.worth;
        let held = choice.held_out(&self.field, &self.every, self.in_use);
        let sum = |once: bool| -> Tally {
            let counted = held.iter().filter(|(i, _)| !once || self.firsts[*i]);
            counted.map(|(_, tally)| *tally).sum()
        };
        let (all, once) = (sum(false), sum(true));
        let tally = self.tally(cell, &self.every);
        let exposure = once.get(Count::Exposure);
        let ends = (exposure > 0).then(|| poisson(once.wrong()));
        let rate = wrong_rate(self.options.judge.unit);
        let per = |events: f64| rate.scale() * events / exposure as f64;
        let within = self.options.constraints.iter().map(|c| {
            let by_estimate = || f64::from(u8::from(c.estimate(&all, worth).1));
            c.probability(&once).unwrap_or_else(by_estimate)
        });
        let is = [("candidate", candidate), ("in use", Some(self.in_use))];
        let named = is.into_iter().filter(|(_, which)| *which == Some(cell));
        Price {
            at_most,
            cell,
            setting: self.field.evidence.plan.id(cell),
            file: format!("alternatives/at-most-{at_most}.toml"),
            ended: ENDED.value(&all, worth),
            recall: RECALL.value(&all, worth),
            objective: self.options.objective.value(&all, worth),
            delay: DELAY.value(&all, worth),
            rate: rate.value(&all, worth),
            rate_lo: ends.map(|ends| per(ends.lo)),
            rate_hi: ends.map(|ends| per(ends.hi)),
            assurance: Assurance::of(within.product()),
            is: named.map(|(name, _)| name.to_owned()).collect(),
            wrong: tally.wrong(),
            ended_in_sample: ENDED.value(&tally, worth),
            recall_in_sample: RECALL.value(&tally, worth),
            objective_in_sample: self.options.objective.value(&tally, worth),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_steps_are_those_of_scoring_md() {
        assert_eq!(steps(14).collect::<Vec<_>>(), [0, 1, 2, 3, 5, 8, 13]);
        assert_eq!(steps(3).collect::<Vec<_>>(), [0, 1, 2, 3]);
    }
}
