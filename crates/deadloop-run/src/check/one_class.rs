//! The check for models whose labels are all of one class.

use std::collections::BTreeMap;

use deadloop_score::{Case, Class};

use super::{CheckAdvice, CheckFn, CheckedCorpus, CorpusCheck, Finding, Severity};
use crate::words;

pub(super) static ENTRY: CorpusCheck = CorpusCheck {
    name: "one-class",
    severity: Severity::Note,
    title: "models with labels of only one class",
    why: "recall comes from some models and wrong alarms from others, so a detector that recognises a model seems to recognise loops. No setting can be chosen for such a model",
    advice: CheckAdvice::Plain("record the missing class of each model: loops, or healthy text"),
    find: CheckFn::Corpus(find_one_class),
};

fn find_one_class(seen: &CheckedCorpus) -> Vec<Finding> {
    let mut models: BTreeMap<&str, BTreeMap<Class, u64>> = BTreeMap::new();
    let scored = |case: &&Case| matches!(case.class(), Some(Class::Loop | Class::Clean));
    for case in seen.cases.iter().filter(scored) {
        let classes = models.entry(&case.model).or_default();
        if let Some(class) = case.class() {
            *classes.entry(class).or_default() += 1;
        }
    }
    let mut found: Vec<(&str, Class, u64)> = models
        .into_iter()
        .filter(|(_, classes)| classes.len() == 1)
        .flat_map(|(model, classes)| classes.into_iter().map(move |(c, n)| (model, c, n)))
        .filter(|(_, _, n)| *n > 1)
        .collect();
    found.sort_by_key(|(model, _, n)| (std::cmp::Reverse(*n), *model));
    let what = |(model, class, n): (&str, Class, u64)| {
        Finding::without_transcript(format!(
            "{model}: {} transcripts, all {}",
            words::count(n),
            class.name()
        ))
    };
    found.into_iter().map(what).collect()
}
