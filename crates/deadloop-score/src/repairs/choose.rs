//! Repairers held against the truth: counts by variant and fault, how sure they are, and which variant is
//! taken under a limit on harm.
//!
//! Two things do harm: a damaged stream that comes out `wrong`, with an action that the truth does not have, or with
//! other arguments; and an intact stream that is changed, a false repair. The limit holds for each: wrong ones of the
//! damaged streams, false repairs of the intact ones. A limit on wrong ones alone chose a filter that swallowed 6 % of
//! intact answers, for a filter gives no actions and is never wrong.

use std::collections::BTreeSet;

use crate::choose::advice::Ruling;
use crate::compare::mcnemar;
use crate::judge::Mended;

/// What became of a stream in the hands of a variant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Judged {
    /// Which stream, among all.
    pub stream: usize,
    /// The verdict.
    pub verdict: Mended,
}

/// Counts that add, of one variant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RepairTally {
    /// Streams of each verdict, in the order of [`Mended::ALL`].
    pub counts: [u64; 6],
}

impl RepairTally {
    /// Counts one more.
    pub fn add(&mut self, verdict: Mended) {
        let at = Mended::ALL.iter().position(|v| *v == verdict);
        self.counts[at.unwrap_or(0)] += 1;
    }

    /// How often a verdict came.
    pub fn of(&self, verdict: Mended) -> u64 {
        let at = Mended::ALL.iter().position(|v| *v == verdict);
        self.counts[at.unwrap_or(0)]
    }

    /// Streams that were damaged.
    pub fn damaged(&self) -> u64 {
        use Mended::{Leaked, Lost, Recovered, Wrong};
        [Recovered, Wrong, Lost, Leaked]
            .iter()
            .map(|v| self.of(*v))
            .sum()
    }

    /// Streams that were intact.
    pub fn intact(&self) -> u64 {
        self.of(Mended::Intact) + self.of(Mended::FalseRepair)
    }

    /// The larger of two shares: wrong ones of the damaged streams, false repairs of the intact ones; 0 of none.
    pub fn harm(&self) -> f64 {
        let wrong = share(self.of(Mended::Wrong), self.damaged());
        let changed = share(self.of(Mended::FalseRepair), self.intact());
        wrong.max(changed)
    }

    /// Whether the estimates of both harms are within a limit, a share.
    pub fn within(&self, limit: f64) -> bool {
        self.harm() <= limit + 1e-12
    }

    /// What is better comes first: more recovered, fewer false repairs, fewer wrong, fewer leaked.
    fn order(&self) -> [u64; 4] {
        [
            u64::MAX - self.of(Mended::Recovered),
            self.of(Mended::FalseRepair),
            self.of(Mended::Wrong),
            self.of(Mended::Leaked),
        ]
    }
}

fn share(k: u64, n: u64) -> f64 {
    if n == 0 { 0.0 } else { k as f64 / n as f64 }
}

/// A variant as it is chosen from: what became of every stream, all variants over the same streams.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// Its place among all variants.
    pub variant: usize,
    /// What became of each stream.
    pub judged: Vec<Judged>,
}

impl Candidate {
    /// Its counts over the streams that `takes` takes.
    pub fn tally(&self, takes: impl Fn(usize) -> bool) -> RepairTally {
        let mut tally = RepairTally::default();
        let taken = self.judged.iter().filter(|judged| takes(judged.stream));
        taken.for_each(|judged| tally.add(judged.verdict));
        tally
    }
}

/// The best variant within a limit, if one is; the first of equals.
pub fn best(
    candidates: &[Candidate],
    limit: f64,
    takes: impl Fn(usize) -> bool + Copy,
) -> Option<(&Candidate, RepairTally)> {
    let tallied = candidates.iter().map(|c| (c, c.tally(takes)));
    let within = tallied.filter(|(_, tally)| tally.within(limit));
    within.min_by_key(|(_, tally)| tally.order())
}

/// A choice among the variants of a repairer.
#[derive(Clone, Debug)]
pub struct RepairChoice {
    /// What to do.
    pub ruling: Ruling,
    /// The best variant within the limit and its counts, on the streams it was chosen on.
    pub chosen: Option<(usize, RepairTally)>,
    /// The counts over all streams, each judged by the variant chosen on the other folds; `None` if there is one group.
    pub held_out: Option<RepairTally>,
    /// The counts of what is in use.
    pub in_use: RepairTally,
    /// How probable a difference in recovered streams as large as this is by chance (exact McNemar).
    pub p: f64,
    /// Groups of streams.
    pub groups: usize,
}

/// Fewest damaged streams that say anything.
const LEAST: u64 = 10;
/// Folds, where there are as many groups.
const FOLDS: usize = 5;
/// A difference this improbable by chance counts.
const SURE: f64 = 0.05;

/// Chooses. `groups`: the group of each stream, streams of one being in one fold; `in_use`: the place of the candidate
/// that is in use.
pub fn choose_repair(
    candidates: &[Candidate],
    groups: &[usize],
    in_use: usize,
    limit: f64,
) -> RepairChoice {
    let all = |_: usize| true;
    let used = candidates.get(in_use);
    let tally_in_use = used.map(|c| c.tally(all)).unwrap_or_default();
    let found = best(candidates, limit, all);
    let streams = candidates.first().map_or(&[][..], |c| &c.judged);
    let there: BTreeSet<usize> = streams
        .iter()
        .filter_map(|judged| groups.get(judged.stream).copied())
        .collect();
    let held_out = held_out(candidates, groups, &there, limit);
    let p = match (&found, used) {
        (Some((chosen, _)), Some(used)) => difference(chosen, used),
        _ => 1.0,
    };
    let chosen = found.map(|(candidate, tally)| (candidate.variant, tally));
    let more = chosen
        .is_some_and(|(_, tally)| tally.of(Mended::Recovered) > tally_in_use.of(Mended::Recovered));
    let ruling = match (&chosen, &held_out) {
        _ if tally_in_use.damaged() < LEAST || there.len() < 2 => Ruling::Collect,
        (None, _) => Ruling::None,
        (Some((_, tally)), _) if tally.of(Mended::Recovered) == 0 => Ruling::None,
        _ if !more || p >= SURE => Ruling::Keep,
        (_, Some(out)) if !out.within(limit) => Ruling::Decide,
        _ => Ruling::Ship,
    };
    RepairChoice {
        ruling,
        chosen,
        held_out,
        in_use: tally_in_use,
        p,
        groups: there.len(),
    }
}

/// Each fold mended by what is chosen on the others.
fn held_out(
    candidates: &[Candidate],
    groups: &[usize],
    there: &BTreeSet<usize>,
    limit: f64,
) -> Option<RepairTally> {
    let folds = FOLDS.min(there.len());
    if folds < 2 {
        return None;
    }
    let order: Vec<usize> = there.iter().copied().collect();
    let fold_of = |stream: usize| {
        let group = groups.get(stream).copied().unwrap_or_default();
        order.binary_search(&group).unwrap_or_default() % folds
    };
    let mut sum = RepairTally::default();
    for fold in 0..folds {
        let (chosen, _) = best(candidates, limit, |stream| fold_of(stream) != fold)?;
        let tally = chosen.tally(|stream| fold_of(stream) == fold);
        sum.counts
            .iter_mut()
            .zip(tally.counts)
            .for_each(|(sum, n)| *sum += n);
    }
    Some(sum)
}

fn difference(a: &Candidate, b: &Candidate) -> f64 {
    let recovered = |judged: &Judged| judged.verdict == Mended::Recovered;
    let (mut only_a, mut only_b) = (0, 0);
    for (a, b) in a.judged.iter().zip(&b.judged) {
        match (recovered(a), recovered(b)) {
            (true, false) => only_a += 1,
            (false, true) => only_b += 1,
            _ => {}
        }
    }
    mcnemar(only_a, only_b)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidate(variant: usize, verdicts: &[Mended]) -> Candidate {
        let judged = verdicts.iter().enumerate();
        Candidate {
            variant,
            judged: judged
                .map(|(stream, verdict)| Judged {
                    stream,
                    verdict: *verdict,
                })
                .collect(),
        }
    }

    fn many(parts: &[(Mended, usize)]) -> Vec<Mended> {
        parts.iter().flat_map(|(v, n)| vec![*v; *n]).collect()
    }

    #[test]
    fn the_limit_comes_before_what_is_recovered() {
        use Mended::{Intact, Lost, Recovered, Wrong};
        let idle = candidate(0, &many(&[(Lost, 40), (Intact, 10)]));
        // Wrong on streams of every group, so that no fold takes it.
        let bold = candidate(1, &many(&[(Recovered, 30), (Wrong, 10), (Intact, 10)]));
        let shy = candidate(2, &many(&[(Recovered, 20), (Lost, 20), (Intact, 10)]));
        let groups: Vec<usize> = (0..50).map(|at| at % 10).collect();
        let all = [idle, bold, shy];
        let strict = choose_repair(&all, &groups, 0, 0.001);
        assert_eq!(strict.ruling, Ruling::Ship);
        assert_eq!(strict.chosen.map(|(v, _)| v), Some(2));
        assert_eq!(strict.held_out.map(|t| t.damaged()), Some(40));
        let loose = choose_repair(&all, &groups, 0, 0.3);
        assert_eq!(loose.chosen.map(|(v, _)| v), Some(1));
        let alone = choose_repair(&all, &[0; 50], 0, 0.3);
        assert_eq!(alone.ruling, Ruling::Collect);
        assert_eq!(
            choose_repair(&all[..1], &groups, 0, 0.05).ruling,
            Ruling::None
        );
        assert_eq!(choose_repair(&all, &groups, 2, 0.001).ruling, Ruling::Keep);
    }

    #[test]
    fn a_variant_that_changes_intact_streams_does_harm_too() {
        use Mended::{FalseRepair, Intact, Lost, Recovered};
        let idle = candidate(0, &many(&[(Lost, 40), (Intact, 50)]));
        // Never wrong, and one in ten intact streams is changed: in every group.
        let eager = candidate(1, &many(&[(Recovered, 40), (FalseRepair, 5), (Intact, 45)]));
        let shy = candidate(2, &many(&[(Recovered, 20), (Lost, 20), (Intact, 50)]));
        let groups: Vec<usize> = (0..90).map(|at| at % 5).collect();
        let all = [idle, eager, shy];
        let chosen = |limit| {
            choose_repair(&all, &groups, 0, limit)
                .chosen
                .map(|(v, _)| v)
        };
        assert_eq!(chosen(0.05), Some(2));
        assert_eq!(chosen(0.1), Some(1));
    }

    #[test]
    fn what_is_chosen_on_some_groups_may_fail_on_others() {
        use Mended::{Lost, Recovered, Wrong};
        let idle = candidate(0, &many(&[(Lost, 50)]));
        // Wrong on one stream of one group only: within 2 % where that group is not.
        let risky = candidate(1, &many(&[(Recovered, 49), (Wrong, 1)]));
        let groups: Vec<usize> = (0..50).map(|at| at / 10).collect();
        let choice = choose_repair(&[idle, risky], &groups, 0, 0.019);
        assert_eq!(choice.chosen.map(|(v, _)| v), Some(0));
        let choice = choose_repair(
            &[
                candidate(0, &many(&[(Lost, 50)])),
                candidate(1, &many(&[(Recovered, 49), (Wrong, 1)])),
            ],
            &groups,
            0,
            0.02,
        );
        assert_eq!(choice.ruling, Ruling::Ship);
    }
}
