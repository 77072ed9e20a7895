//! Copies of a text are evidence once: [`firsts`].

use std::hash::{DefaultHasher, Hash, Hasher};

use crate::truth::{Case, Cases};

/// Shorter texts are alike by chance, as empty answers are.
const COPIED_CHARS: u64 = 200;

/// Whether a text is long enough for another one to be its copy rather than alike by chance.
pub(crate) fn may_be_copied(case: &Case) -> bool {
    let length = case.timeline.length();
    length.reasoning.0 + length.answer.0 >= COPIED_CHARS
}

/// Whether each case is the first with its text, by id. Rates count transcripts; intervals, assurance, budgets,
/// gates and floors count each text of 200 chars and more once: a thousand copies say no more than one.
pub fn firsts(cases: &(impl Cases + ?Sized)) -> Vec<bool> {
    let mut first = vec![true; cases.number()];
    let mut texts: Vec<(u64, usize)> = Vec::with_capacity(cases.number());
    cases.each(|i, case| {
        if may_be_copied(case) {
            texts.push((number(&case.text), i));
        }
    });
    texts.sort_unstable();
    for copies in texts.chunk_by(|(one, _), (other, _)| one == other) {
        let id = |(_, i): &(u64, usize)| (cases.on(*i, |case| case.id.clone()), *i);
        let Some((_, least)) = copies.iter().filter(|_| copies.len() > 1).map(id).min() else {
            continue;
        };
        copies.iter().for_each(|(_, i)| first[*i] = *i == least);
    }
    first
}

/// The number that a hash of a text is. Text that is not a hash, as only a part that was tampered with has, is hashed again.
fn number(text: &str) -> u64 {
    let again = |_| {
        let mut hasher = DefaultHasher::new();
        text.hash(&mut hasher);
        hasher.finish()
    };
    u64::from_str_radix(text, 16).unwrap_or_else(again)
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;
    use crate::truth::{PackedCases, answer, case};

    /// The same with a table of texts.
    fn slow(cases: &[Case]) -> Vec<bool> {
        let mut first: HashMap<&str, usize> = HashMap::new();
        for (i, case) in cases.iter().enumerate().filter(|(_, c)| may_be_copied(c)) {
            let known = first.entry(&case.text).or_insert(i);
            if case.id < cases[*known].id {
                *known = i;
            }
        }
        let is_first =
            |(i, case): (usize, &Case)| !may_be_copied(case) || first.get(&*case.text) == Some(&i);
        cases.iter().enumerate().map(is_first).collect()
    }

    proptest! {
        #[test]
        fn one_of_each_text_is_first(
            all in proptest::collection::vec((0..40_u32, 0..6_u64, any::<bool>()), 0..40),
        ) {
            let mut packed = PackedCases::default();
            let cases: Vec<Case> = all.iter().map(|(id, text, long)| {
                let case = Case {
                    text: format!("{text:016x}").into(),
                    timeline: answer(if *long { 200 } else { 199 }),
                    ..case(&id.to_string(), None)
                };
                packed.push(&case);
                case
            }).collect();
            prop_assert_eq!(firsts(&cases), slow(&cases));
            prop_assert_eq!(firsts(&packed), slow(&cases));
        }
    }
}
