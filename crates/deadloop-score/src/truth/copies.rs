//! Copies of a text are evidence once: [`firsts`].

use std::collections::HashMap;

use crate::truth::Case;

/// Shorter texts are alike by chance, as empty answers are.
const COPIED_CHARS: u64 = 200;

/// Whether a text is long enough for another one to be its copy rather than alike by chance.
pub(crate) fn may_be_copied(case: &Case) -> bool {
    let length = case.timeline.length();
    length.reasoning.0 + length.answer.0 >= COPIED_CHARS
}

/// Whether each case is the first with its text, by id. Rates count transcripts; intervals, assurance, budgets,
/// gates and floors count each text of 200 chars and more once: a thousand copies say no more than one.
pub fn firsts(cases: &[Case]) -> Vec<bool> {
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
