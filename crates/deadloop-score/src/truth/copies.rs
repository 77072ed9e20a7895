//! Copies of a transcript, which count as one observation.

use std::collections::{BTreeMap, HashMap};

use deadloop_replay::corpus::COPIED_CHARS;
use deadloop_replay::detect::Unit;

use crate::intervals::Random;
use crate::truth::{Case, CaseSet, CopyKey};

/// The minimum number of calls of a run that folds treat as a copy of a run with equal calls.
const MIN_COPIED_CALLS: u64 = 3;

/// Returns the keys that the case shares with its copies, for folds and groups.
///
/// Short texts and runs of few calls have no key, since they may be equal by chance.
pub(crate) fn shared_copy_keys(case: &Case) -> impl Iterator<Item = CopyKey> {
    let length = case.timeline.length();
    let long = length.reasoning.0 + length.answer.0 >= COPIED_CHARS as u64;
    let text = long.then(|| case.copy_key(Unit::Chars));
    let run = (length.tools.0 >= MIN_COPIED_CALLS).then(|| case.copy_key(Unit::Calls));
    text.into_iter().chain(run)
}

/// Returns the number of the group of each case. Groups that share a text are joined, as in folds.
///
/// A joined group has the lowest number of its groups.
pub(crate) fn group_numbers(cases: &(impl CaseSet + ?Sized)) -> Vec<u64> {
    let mut numbers = Vec::with_capacity(cases.number());
    let mut shared: Vec<(CopyKey, u64)> = Vec::new();
    cases.each(|_, case| {
        let number = Random::hash_name(case.cluster());
        numbers.push(number);
        shared.extend(shared_copy_keys(case).map(|key| (key, number)));
    });
    shared.sort_unstable();
    // Links from each group towards the lowest group that it is joined with.
    let mut joined: HashMap<u64, u64> = HashMap::new();
    let least = |joined: &HashMap<u64, u64>, mut group: u64| {
        while let Some(next) = joined.get(&group) {
            group = *next;
        }
        group
    };
    for copies in shared.chunk_by(|(one, _), (other, _)| one == other) {
        for pair in copies.windows(2) {
            let [a, b] = [pair[0].1, pair[1].1].map(|group| least(&joined, group));
            if a != b {
                joined.insert(a.max(b), a.min(b));
            }
        }
    }
    if !joined.is_empty() {
        numbers
            .iter_mut()
            .for_each(|group| *group = least(&joined, *group));
    }
    numbers
}

/// Returns a map from the id of each copy to the id of its original.
pub(crate) fn map_copies(cases: &(impl CaseSet + ?Sized), unit: Unit) -> BTreeMap<String, String> {
    let id = |i: usize| cases.on(i, |case| case.id.to_string());
    let originals = find_originals(cases, unit).into_iter().enumerate();
    let copies = originals.filter(|(i, original)| i != original);
    copies.map(|(i, original)| (id(i), id(original))).collect()
}

/// Returns for each case the index of its original, which is the first of its copies by id.
///
/// Copies are transcripts with the same [`Case::copy_key`] in `unit`. A case without copies is its own original.
fn find_originals(cases: &(impl CaseSet + ?Sized), unit: Unit) -> Vec<usize> {
    let mut originals: Vec<usize> = (0..cases.number()).collect();
    let mut keys: Vec<(CopyKey, usize)> = Vec::with_capacity(cases.number());
    cases.each(|i, case| keys.push((case.copy_key(unit), i)));
    keys.sort_unstable();
    for copies in keys.chunk_by(|(one, _), (other, _)| one == other) {
        let id = |(_, i): &(CopyKey, usize)| (cases.on(*i, |case| case.id.clone()), *i);
        let Some((_, least)) = copies.iter().filter(|_| copies.len() > 1).map(id).min() else {
            continue;
        };
        copies.iter().for_each(|(_, i)| originals[*i] = least);
    }
    originals
}

#[cfg(test)]
mod tests {
    use deadloop_replay::corpus::CopyKeys;
    use proptest::prelude::*;

    use super::*;
    use crate::truth::{PackedCases, answer, case};

    /// Finds the originals with a table of keys.
    fn slow(cases: &[Case], unit: Unit) -> Vec<usize> {
        let mut first: HashMap<CopyKey, usize> = HashMap::new();
        for (i, case) in cases.iter().enumerate() {
            let known = first.entry(case.copy_key(unit)).or_insert(i);
            if case.id < cases[*known].id {
                *known = i;
            }
        }
        let original = |case: &Case| first[&case.copy_key(unit)];
        cases.iter().map(original).collect()
    }

    /// Groups a and b share a long text, b and c another one; d shares a short one with a.
    #[test]
    fn groups_that_share_a_text_are_one() {
        let long = COPIED_CHARS;
        let made = [
            ("1", "a", 1, long),
            ("2", "b", 1, long),
            ("3", "b", 2, long),
            ("4", "c", 2, long),
            ("5", "d", 3, 5),
            ("6", "a", 3, 5),
            ("7", "e", 4, long),
        ];
        let cases = made.map(|(id, group, text, chars)| Case {
            group: Some(group.into()),
            timeline: answer(chars),
            copied: CopyKeys { text, calls: None },
            ..case(id, None)
        });
        let least = ["a", "b", "c"]
            .map(Random::hash_name)
            .into_iter()
            .min()
            .unwrap();
        let [d, e] = ["d", "e"].map(Random::hash_name);
        assert_eq!(
            group_numbers(&cases[..]),
            [least, least, least, least, d, least, e]
        );
    }

    proptest! {
        #[test]
        fn one_of_each_text_or_run_is_first(
            all in proptest::collection::vec((0..40_u32, 0..6_u64, proptest::option::of(0..3_u64)), 0..40),
        ) {
            let mut packed = PackedCases::default();
            let cases: Vec<Case> = all.iter().map(|(id, text, calls)| {
                let case = Case {
                    copied: CopyKeys { text: *text, calls: *calls },
                    ..case(&id.to_string(), None)
                };
                packed.push(&case);
                case
            }).collect();
            for unit in [Unit::Chars, Unit::Calls] {
                prop_assert_eq!(find_originals(&cases, unit), slow(&cases, unit));
                prop_assert_eq!(find_originals(&packed, unit), slow(&cases, unit));
            }
        }
    }
}
