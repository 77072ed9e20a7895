//! Finds the kind of loop of a stretch of calls without news.

use std::collections::{HashMap, HashSet};

use deadloop_detect::Kind;

use super::step::RunStep;

/// The longest cycle that is searched.
const LONGEST: usize = 8;
/// The share of calls that must fail in a retry of errors.
const FAILING: f64 = 0.8;

/// The share of results that must be equal to count as the same result.
const SAME: f64 = 0.9;

/// Returns the number of different calls.
pub(super) fn distinct(steps: &[RunStep]) -> usize {
    let calls: HashSet<u64> = steps.iter().map(|step| step.call).collect();
    calls.len()
}

/// Returns the kind and the period of the stretch from call `onset` to `to`. The first copy begins at `start`.
pub(super) fn kind(
    steps: &[RunStep],
    (start, onset, to): (usize, usize, usize),
) -> (Kind, Option<usize>) {
    let stuck = &steps[onset..to];
    let with_first = &steps[start..to];
    let failing = stuck.iter().filter(|step| step.error).count() as f64;
    let fails = failing >= FAILING * stuck.len() as f64;
    if distinct(stuck) == 1 {
        let kind = if said_once(stuck) {
            Kind::SameCallSameResult
        } else {
            Kind::IdenticalCall
        };
        return (kind, Some(1));
    }
    if let Some(period) = period(with_first) {
        return (Kind::Cycle, Some(period));
    }
    if fails {
        return (Kind::ErrorRetry, None);
    }
    let few = distinct(stuck) * 2 <= stuck.len();
    if few {
        (Kind::Interleaved, None)
    } else {
        (Kind::AperiodicStagnation, None)
    }
}

/// Returns whether nearly all results are equal. The last call may have none, and some ids look like words.
fn said_once(steps: &[RunStep]) -> bool {
    let mut times: HashMap<u64, usize> = HashMap::new();
    let heard = steps.iter().filter_map(|step| step.result);
    heard.for_each(|result| *times.entry(result).or_default() += 1);
    let most = times.values().copied().max().unwrap_or_default();
    most as f64 >= SAME * times.values().sum::<usize>() as f64
}

/// Returns the smallest cycle that the calls complete at least twice.
fn period(steps: &[RunStep]) -> Option<usize> {
    let most = LONGEST.min(steps.len() / 2);
    let is = |k: &usize| {
        let pairs = steps.iter().zip(steps.iter().skip(*k));
        pairs.filter(|(a, b)| a.call == b.call).count() == steps.len() - k
    };
    (2..=most).find(is)
}
