//! Removes numbers from results that count the calls.

use std::collections::HashMap;

use super::step::{RunStep, hash};

/// The minimum number of results in which a number counts the calls.
const MIN_RESULTS: usize = 5;

/// Removes call counters from results: `attempt 7 of 20`, `rev 1403`. A call counter changes by one, in the same
/// direction, at each call of a tool or each equal command of a shell. The results must be equal otherwise.
pub(super) fn remove(steps: &mut [RunStep]) {
    let mut groups: HashMap<(u64, u64), Vec<usize>> = HashMap::new();
    for (at, step) in steps.iter().enumerate() {
        if !step.numbers.is_empty() {
            let key = if step.shell { step.call } else { step.tool };
            groups.entry((key, step.shape)).or_default().push(at);
        }
    }
    for group in groups.values() {
        let pairs = group.windows(2);
        let all: Vec<_> = pairs
            .map(|two| changes(&steps[two[0]].numbers, &steps[two[1]].numbers))
            .collect();
        let mut from = 0;
        for row in all.chunk_by(|a, b| a == b) {
            let counted = &group[from..=from + row.len()];
            from += row.len();
            let Some(change) = row[0].as_ref().filter(|_| counted.len() >= MIN_RESULTS) else {
                continue;
            };
            for &at in counted {
                let numbers = steps[at].numbers.iter().zip(change);
                let still: Vec<u64> = numbers
                    .filter(|(_, by)| **by == 0)
                    .map(|(number, _)| *number)
                    .collect();
                steps[at].result = Some(hash(&(steps[at].shape, still)));
            }
        }
    }
}

/// Returns the changes of the numbers from one result to the next: -1, 0 or 1. `None` if all are 0, or one is larger.
fn changes(before: &[u64], after: &[u64]) -> Option<Vec<i8>> {
    let steps = before.iter().zip(after).map(|(a, b)| match b.abs_diff(*a) {
        0 => Some(0),
        1 => Some(if b > a { 1 } else { -1 }),
        _ => None,
    });
    let steps: Option<Vec<i8>> = steps.collect();
    steps.filter(|steps| steps.iter().any(|step| *step != 0))
}
