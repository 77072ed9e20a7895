//! [`contest`]: a choice among candidates that are held in memory, piece of evidence by piece: repairers and budgets. It is
//! that of scoring.md: the best within a limit, of those as good the setting in use or the one to prefer; chosen again without
//! each fold; a duel with the setting in use on what was left out; when something ships, and the verdict.
//!
//! Guards are chosen in `mod.rs` by the same folds, duel and rules: a grid of theirs has too many cells for a pass over
//! every transcript of each, so their tallies are painted.

use std::cmp::Ordering;

use super::advice::{Ruling, Ship};
use super::cross::Cross;
use super::duel::{Contrast, Figures};
use super::pieces::EvidencePieces;
use super::rule::{Bar, Grounds, LEAST, SURE, is_wide, ships};
use crate::intervals::{ByGroup, Resampling};
use crate::tally::Counts;

/// What is chosen from, as its subject knows it.
pub(crate) trait Contest {
    /// What a piece adds under a candidate.
    type Adds: Counts;

    /// How many candidates there are.
    fn candidates(&self) -> usize;

    /// What a piece adds under a candidate.
    fn adds(&self, candidate: usize, piece: usize) -> Self::Adds;

    /// What of it is weighed when candidates are compared with the best: not every piece has to be.
    fn weighed(&self, candidate: usize, piece: usize) -> Self::Adds {
        self.adds(candidate, piece)
    }

    /// What a piece adds to a duel, under the newcomer and under the incumbent.
    fn pair(&self, piece: usize, new: usize, old: usize) -> [Self::Adds; 2] {
        [self.adds(new, piece), self.adds(old, piece)]
    }

    /// What sums come to, less being better.
    fn cost(&self, sums: &Self::Adds) -> f64;

    /// Which of two candidates is taken where both are as good as the best.
    fn prefer(&self, one: usize, other: usize) -> Ordering;

    /// How much better the newcomer is; `None` where nothing can be said.
    fn gain(&self, sums: &[Self::Adds; 2]) -> Option<f64>;

    /// How many pieces do harm.
    fn wrong(&self, sums: &Self::Adds) -> u64;

    /// P(within the limit), of sums over pieces that are counted once.
    fn within(&self, sums: &Self::Adds) -> f64;

    /// Whether sums are over the limit by estimate.
    fn is_over(&self, sums: &Self::Adds) -> bool;
}

/// A limit that a candidate has to meet, by its sums.
pub(crate) type Allowed<'a, A> = dyn Fn(&A) -> bool + 'a;

/// What a choice is held to.
pub(crate) struct Terms {
    /// How many points better it has to be.
    pub(crate) worthwhile: f64,
    /// Whether the user gave the limit.
    pub(crate) given: bool,
    /// Whether the limit is met by estimate, and not by a probability.
    pub(crate) by_estimate: bool,
    /// Groups that say something about a choice.
    pub(crate) telling: u64,
    /// Replicates and seed.
    pub(crate) resampling: Resampling,
}

/// What a choice comes to.
#[derive(Clone, Debug)]
pub(crate) struct Contested<A> {
    /// What to do.
    pub(crate) ruling: Ruling,
    /// By which rule it ships.
    pub(crate) ships: Option<Ship>,
    /// The candidate on all pieces.
    pub(crate) candidate: Option<usize>,
    /// The candidate held out, against the setting in use.
    pub(crate) figures: Figures,
    /// What the candidates of the other folds add to all pieces.
    pub(crate) held_out: A,
}

/// Chooses. `in_use` is one of the candidates; `does_good`: whether a candidate is worth to be taken at all.
pub(crate) fn contest<C: Contest>(
    contest: &C,
    pieces: &EvidencePieces,
    in_use: usize,
    (allowed, terms): (&Allowed<'_, C::Adds>, &Terms),
    does_good: impl Fn(&C::Adds) -> bool,
) -> Contested<C::Adds> {
    let cross = Cross::of(
        &pieces.folds,
        pieces.fold_count(),
        &pieces.firsts,
        |meant| pick(contest, pieces, in_use, meant, allowed),
    );
    let each = cross.each(&pieces.folds, in_use);
    let all = 0..pieces.groups.len();
    let sums = |of: &dyn Fn(usize) -> usize| sum(all.clone().map(|at| contest.adds(of(at), at)));
    let (held_out, now) = (sums(&|at| each[at]), sums(&|_| in_use));
    let figures = duel(contest, pieces, &each, in_use, terms.resampling);
    let bar = Bar {
        sure: SURE,
        worthwhile: terms.worthwhile,
        given: terms.given,
        surely_dear: false,
        keeps_limits: terms.by_estimate.then(|| allowed(&held_out)),
        expected: None,
    };
    let candidate = cross.cell;
    let other = candidate.filter(|at| *at != in_use);
    let shipped = other.and_then(|_| ships(&figures, &bar));
    // What would ship, were it not for the limit where it was not chosen.
    let held_back = || {
        let kept = Bar {
            keeps_limits: Some(true),
            ..bar
        };
        terms.by_estimate && other.is_some() && ships(&figures, &kept).is_some()
    };
    let over = contest.is_over(&now);
    let does_good = |at: usize| does_good(&sums(&|_| at));
    let ruling = Grounds {
        lacks: terms.telling < LEAST
            || figures.interval_points().is_some_and(|ends| is_wide(&ends)),
        feasible: candidate.is_some_and(does_good),
        ships: shipped.is_some(),
        over: over || held_back(),
    }
    .ruling();
    Contested {
        ruling,
        ships: shipped.filter(|_| ruling == Ruling::Ship),
        candidate,
        figures,
        held_out,
    }
}

/// The candidates of the other folds under another limit, one a piece.
pub(crate) fn held_out<C: Contest>(
    contest: &C,
    pieces: &EvidencePieces,
    in_use: usize,
    allowed: &Allowed<'_, C::Adds>,
) -> Vec<usize> {
    let all = vec![true; pieces.groups.len()];
    let cross = Cross::of(&pieces.folds, pieces.fold_count(), &all, |meant| {
        pick(contest, pieces, in_use, meant, allowed)
    });
    cross.each(&pieces.folds, in_use)
}

/// The candidate on the pieces that are meant: the best that is allowed. Within one standard error of it, the setting in
/// use, or the one to prefer, wins.
pub(crate) fn pick<C: Contest>(
    contest: &C,
    pieces: &EvidencePieces,
    in_use: usize,
    meant: &[bool],
    allowed: &Allowed<'_, C::Adds>,
) -> Option<usize> {
    let of = |at: usize| {
        let meant = (0..meant.len()).filter(|piece| meant[*piece]);
        sum(meant.map(|piece| contest.adds(at, piece)))
    };
    let all: Vec<usize> = (0..contest.candidates())
        .filter(|at| allowed(&of(*at)))
        .collect();
    let costs: Vec<Vec<f64>> = all
        .iter()
        .map(|at| costs(contest, pieces, *at, meant))
        .collect();
    let sums: Vec<f64> = costs.iter().map(|costs| costs.iter().sum()).collect();
    let best = (0..all.len()).min_by(|a, b| sums[*a].total_cmp(&sums[*b]))?;
    let near = (0..all.len()).filter(|one| is_near(&costs[*one], &costs[best]));
    let near: Vec<usize> = near.map(|one| all[one]).collect();
    if near.contains(&in_use) {
        return Some(in_use);
    }
    near.into_iter().min_by(|a, b| contest.prefer(*a, *b))
}

/// What a candidate costs in each group.
fn costs<C: Contest>(contest: &C, pieces: &EvidencePieces, at: usize, meant: &[bool]) -> Vec<f64> {
    let mut groups = vec![C::Adds::default(); pieces.group_count()];
    for (piece, group) in pieces.numbers.iter().enumerate() {
        if meant[piece] {
            groups[*group].plus(&contest.weighed(at, piece));
        }
    }
    groups.iter().map(|sums| contest.cost(sums)).collect()
}

/// Whether costs are within one standard error, over groups, of the best.
fn is_near(costs: &[f64], best: &[f64]) -> bool {
    let more = costs.iter().zip(best).map(|(cost, best)| cost - best);
    let more: Vec<f64> = more.collect();
    let (n, sum) = (more.len() as f64, more.iter().sum::<f64>());
    if n < 2.0 {
        return sum <= 0.0;
    }
    let spread: f64 = more.iter().map(|d| (d - sum / n).powi(2)).sum();
    sum <= (n / (n - 1.0) * spread).sqrt()
}

/// Each piece under the candidate that was chosen without it, against the setting in use.
fn duel<C: Contest>(
    contest: &C,
    pieces: &EvidencePieces,
    each: &[usize],
    in_use: usize,
    resampling: Resampling,
) -> Figures {
    let pair = |(at, new): (usize, &usize)| contest.pair(at, *new, in_use);
    let pairs: Vec<[C::Adds; 2]> = each.iter().enumerate().map(pair).collect();
    let both = |pairs: &mut dyn Iterator<Item = &[C::Adds; 2]>| {
        let mut sums = [C::Adds::default(); 2];
        for [new, old] in pairs {
            sums[0].plus(new);
            sums[1].plus(old);
        }
        sums
    };
    let named = pieces.groups.iter().zip(&pieces.firsts).zip(&pairs);
    let once = || named.clone().filter(|((_, first), _)| **first);
    let drawn = ByGroup::of(once().map(|((group, _), pair)| (&**group, *pair))).draw(resampling);
    let mut contrast = Contrast::default();
    for sums in drawn.tallies() {
        let [new, old] = &sums;
        contrast.add(
            contest.gain(&sums),
            [contest.wrong(new), contest.wrong(old)],
        );
    }
    let [new, old] = both(&mut once().map(|(_, pair)| pair));
    Figures {
        within: contest.within(&new),
        incumbent_within: vec![contest.within(&old)],
        ..contrast.figures(contest.gain(&both(&mut pairs.iter())), 0.01)
    }
}

/// What several pieces add.
pub(crate) fn sum<A: Counts>(all: impl Iterator<Item = A>) -> A {
    all.fold(A::default(), |mut sum, one| {
        sum.plus(&one);
        sum
    })
}
