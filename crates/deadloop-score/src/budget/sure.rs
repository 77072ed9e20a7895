//! [`sure`]: the intervals of one budget's figures, by the bootstrap over groups.

use deadloop_replay::budget::Played;

use crate::choose::contest::sum;
use crate::choose::pieces::EvidencePieces;
use crate::intervals::{ByGroup, Interval, Resampling, percentile, wilson};
use crate::tally::Sums;

/// 95 % intervals; `None` where there is nothing to divide by.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sure {
    /// Of the share of runs that overflow: Wilson, or over groups where that is wider.
    pub overflow: Option<Interval>,
    /// Of the cost against no guard, on the runs that the setting does not kill.
    pub cost: Option<Interval>,
    /// The price of a cached token at which the setting costs what no guard costs: it pays above it. `None`: at every
    /// price from 0 to 1 it costs more, or at every one less.
    pub even: Option<f64>,
    /// Its interval; a bound below 0 or above 1 says that the sign is not sure there.
    pub even_interval: Option<Interval>,
    /// How sure it is that the setting costs less than no guard.
    pub cheaper: Option<f64>,
}

/// The numbers of a run that [`sure`] needs: what is paid in full and what is cached, with and without the guard,
/// overflows, runs.
fn numbers(played: &Played, free: &Played) -> Sums<6> {
    let numbers = match played.overflow {
        Some(_) => [0, 0, 0, 0, 1, 1],
        None => [
            played.fresh + played.written,
            played.cached,
            free.fresh,
            free.cached,
            0,
            1,
        ],
    };
    Sums(numbers.map(|n: u64| i64::try_from(n).unwrap_or(i64::MAX)))
}

#[allow(clippy::cast_precision_loss)]
fn cost(paid: i64, cached: i64, cache: f64) -> f64 {
    paid as f64 + cached as f64 * cache
}

/// The cost against no guard.
fn ratio(Sums([paid, cached, free, free_cached, ..]): Sums<6>, cache: f64) -> Option<f64> {
    let without = cost(free, free_cached, cache);
    (without > 0.0).then(|| cost(paid, cached, cache) / without)
}

/// The price of a cached token at which both cost the same, unbounded.
#[allow(clippy::cast_precision_loss)]
fn even(Sums([paid, cached, free, free_cached, ..]): Sums<6>) -> Option<f64> {
    let (more, less) = (
        paid as f64 - free as f64,
        free_cached as f64 - cached as f64,
    );
    (less != 0.0).then(|| more / less)
}

/// The intervals of a setting with its price of cached tokens. `played` and `free`: what each run is with and without
/// the guard.
pub fn sure(
    runs: &EvidencePieces,
    played: &[Played],
    free: &[Played],
    cache: f64,
    resampling: Resampling,
) -> Sure {
    let each = played.iter().zip(free);
    let each: Vec<Sums<6>> = each.map(|(played, free)| numbers(played, free)).collect();
    let named = runs.groups.iter().zip(&each).zip(&runs.firsts);
    let firsts = named.filter(|(_, first)| **first);
    let firsts = firsts.map(|((group, numbers), _)| (&**group, [*numbers]));
    let groups = ByGroup::of(firsts);
    let once = sum(groups.each().map(|[sums]| *sums));
    let each = sum(each.into_iter());
    let drawn = groups.draw(resampling);
    let replicates: Vec<Sums<6>> = drawn.tallies().map(|[sums]| sums).collect();
    let Sums([_, _, _, _, overflow, all]) = once;
    #[allow(clippy::cast_precision_loss)]
    let share = |Sums(sums): &Sums<6>| (sums[5] > 0).then(|| sums[4] as f64 / sums[5] as f64);
    let mut shares: Vec<f64> = replicates.iter().filter_map(share).collect();
    let mut costs: Vec<f64> = replicates.iter().filter_map(|s| ratio(*s, cache)).collect();
    let mut evens: Vec<f64> = replicates.iter().filter_map(|s| even(*s)).collect();
    let cheaper = costs.iter().filter(|cost| **cost < 1.0).count();
    #[allow(clippy::cast_precision_loss)]
    let cheaper = (!costs.is_empty()).then(|| cheaper as f64 / costs.len() as f64);
    let count = |n: i64| u64::try_from(n).unwrap_or(0);
    let closed = wilson(count(overflow), count(all));
    let resampled = percentile(&mut shares);
    let acts = each.0[..2] != each.0[2..4];
    Sure {
        overflow: closed.zip(resampled).map(|(a, b)| Interval {
            lo: a.lo.min(b.lo),
            hi: a.hi.max(b.hi),
        }),
        cost: percentile(&mut costs),
        even: even(each).filter(|r| acts && (0.0..=1.0).contains(r)),
        even_interval: percentile(&mut evens).filter(|_| acts),
        cheaper: cheaper.filter(|_| acts),
    }
}

#[cfg(test)]
mod tests {
    use deadloop_replay::detect::Unit;

    use super::*;
    use crate::truth::{Case, answer, case};

    #[test]
    fn the_sign_turns_where_both_cost_the_same() {
        // Fresh 300 + written 10 and cached 400, against 200 and 1,000.
        let sums = Sums([310, 400, 200, 1000, 0, 1]);
        let turn = even(sums).unwrap();
        assert!((turn - 110.0 / 600.0).abs() < 1e-12);
        assert!((ratio(sums, turn).unwrap() - 1.0).abs() < 1e-12);
        assert!(ratio(sums, 1.0).unwrap() < 1.0 && ratio(sums, 0.0).unwrap() > 1.0);
    }

    #[test]
    fn a_run_that_dies_costs_nothing_and_is_counted() {
        let dead = Played {
            overflow: Some(3),
            fresh: 900,
            ..Played::default()
        };
        let free = Played {
            fresh: 100,
            cached: 50,
            ..Played::default()
        };
        let runs = apart(2);
        let sure = sure(&runs, &[dead; 2], &[free; 2], 0.5, Resampling::default());
        assert_eq!(sure.cost, None);
        assert!(sure.overflow.unwrap().hi > 0.99);
    }

    /// Runs in groups of their own that have nothing in common.
    fn apart(n: usize) -> EvidencePieces {
        let cases: Vec<Case> = (0..n).map(|i| case(&format!("r{i}"), None)).collect();
        pieces(&cases)
    }

    fn pieces(cases: &[Case]) -> EvidencePieces {
        let all: Vec<&Case> = cases.iter().collect();
        EvidencePieces::of(&all, &vec![(); all.len()], Unit::Calls, 1)
    }

    #[test]
    fn a_hundred_copies_are_as_sure_as_one() {
        let dead = Played {
            overflow: Some(3),
            ..Played::default()
        };
        let alive = Played {
            fresh: 100,
            ..Played::default()
        };
        let cases: Vec<Case> = (0..101)
            .map(|i| Case {
                timeline: answer(300),
                copied: case(if i < 100 { "copied" } else { "own" }, None).copied,
                ..case(&format!("r{i}"), None)
            })
            .collect();
        let copies = pieces(&cases);
        assert_eq!(copies.once(), 2);
        assert_eq!(copies.folds[..100], vec![copies.folds[0]; 100]);
        let of = |runs: &EvidencePieces, played: &[Played]| {
            let free = vec![alive; played.len()];
            sure(runs, played, &free, 0.5, Resampling::default()).overflow
        };
        let mut played = vec![alive; 101];
        played[100] = dead;
        assert_eq!(of(&copies, &played), of(&apart(2), &[alive, dead]));
        assert!(of(&copies, &played).unwrap().hi > of(&apart(101), &played).unwrap().hi);
    }
}
