//! Finds the kind of loop of a stretch of repeated calls.

use std::collections::{HashMap, HashSet};

use deadloop_detect::Kind;

use super::step::RunStep;

/// The maximum number of calls in a cycle.
const MAX_CYCLE: usize = 8;
/// The minimum share of failing calls in an error retry.
const MIN_FAILING: f64 = 0.8;

/// The minimum share of equal results at which all count as equal.
const MIN_EQUAL: f64 = 0.9;

/// Returns the number of different calls.
pub(super) fn count_distinct(steps: &[RunStep]) -> usize {
    let calls: HashSet<u64> = steps.iter().map(|step| step.call).collect();
    calls.len()
}

/// Returns the kind and the period of the stretch from call `onset` to `to`. The first copy begins at `start`.
pub(super) fn loop_kind(
    steps: &[RunStep],
    (start, onset, to): (usize, usize, usize),
) -> (Kind, Option<usize>) {
    let stuck = &steps[onset..to];
    let with_first = &steps[start..to];
    let failing = stuck.iter().filter(|step| step.error).count() as f64;
    let fails = failing >= MIN_FAILING * stuck.len() as f64;
    if count_distinct(stuck) == 1 {
        let kind = if results_agree(stuck) {
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
    let few = count_distinct(stuck) * 2 <= stuck.len();
    if few {
        (Kind::Interleaved, None)
    } else {
        (Kind::AperiodicStagnation, None)
    }
}

/// Returns whether nearly all results are equal. Some may contain ids that look like words. The last call may have no
/// result.
fn results_agree(steps: &[RunStep]) -> bool {
    let mut times: HashMap<u64, usize> = HashMap::new();
    let results = steps.iter().filter_map(|step| step.result);
    results.for_each(|result| *times.entry(result).or_default() += 1);
    let most = times.values().copied().max().unwrap_or_default();
    most as f64 >= MIN_EQUAL * times.values().sum::<usize>() as f64
}

/// Returns the smallest period, in calls, that occurs at least twice.
fn period(steps: &[RunStep]) -> Option<usize> {
    let most = MAX_CYCLE.min(steps.len() / 2);
    let is_period = |k: &usize| {
        let pairs = steps.iter().zip(steps.iter().skip(*k));
        pairs.filter(|(a, b)| a.call == b.call).count() == steps.len() - k
    };
    (2..=most).find(is_period)
}
