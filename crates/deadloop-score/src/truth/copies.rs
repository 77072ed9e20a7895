//! Copies of a transcript are evidence once: [`firsts`].

use std::collections::BTreeMap;

use deadloop_replay::corpus::COPIED_CHARS;
use deadloop_replay::detect::Unit;

use crate::truth::{Case, Cases, CopyKey};

/// Calls from which on a run that has equal ones is a copy, as far as folds are concerned.
const COPIED_CALLS: u64 = 3;

/// What a case shares with the cases that one fold must hold beside it: texts that are long enough, and runs of enough
/// calls, to be copies rather than alike by chance.
pub(crate) fn kept_together(case: &Case) -> impl Iterator<Item = CopyKey> {
    let length = case.timeline.length();
    let long = length.reasoning.0 + length.answer.0 >= COPIED_CHARS as u64;
    let text = long.then(|| case.copy_key(Unit::Chars));
    let run = (length.tools.0 >= COPIED_CALLS).then(|| case.copy_key(Unit::Calls));
    text.into_iter().chain(run)
}

/// Whether each case is the first of its copies, by id, where things are counted in `unit`. Rates count transcripts;
/// intervals, assurance, budgets, gates and floors count copies once: a thousand say no more than one. Copies are
/// transcripts with one [`Case::copy_key`].
pub fn firsts(cases: &(impl Cases + ?Sized), unit: Unit) -> Vec<bool> {
    let originals = originals(cases, unit).into_iter().enumerate();
    originals.map(|(i, original)| i == original).collect()
}

/// Of the cases that are copies, which transcript each is a copy of.
pub(crate) fn copies(cases: &(impl Cases + ?Sized), unit: Unit) -> BTreeMap<String, String> {
    let id = |i: usize| cases.on(i, |case| case.id.to_string());
    let originals = originals(cases, unit).into_iter().enumerate();
    let copies = originals.filter(|(i, original)| i != original);
    copies.map(|(i, original)| (id(i), id(original))).collect()
}

/// For each case the first of its copies, by id: where it has none, itself.
fn originals(cases: &(impl Cases + ?Sized), unit: Unit) -> Vec<usize> {
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
    use std::collections::HashMap;

    use deadloop_replay::corpus::CopyKeys;
    use proptest::prelude::*;

    use super::*;
    use crate::truth::{PackedCases, case};

    /// The same with a table of keys.
    fn slow(cases: &[Case], unit: Unit) -> Vec<bool> {
        let mut first: HashMap<CopyKey, usize> = HashMap::new();
        for (i, case) in cases.iter().enumerate() {
            let known = first.entry(case.copy_key(unit)).or_insert(i);
            if case.id < cases[*known].id {
                *known = i;
            }
        }
        let is_first = |(i, case): (usize, &Case)| first.get(&case.copy_key(unit)) == Some(&i);
        cases.iter().enumerate().map(is_first).collect()
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
                prop_assert_eq!(firsts(&cases, unit), slow(&cases, unit));
                prop_assert_eq!(firsts(&packed, unit), slow(&cases, unit));
            }
        }
    }
}
