//! The checks for transcripts without a label, a group, a split or chunk times.

use deadloop_score::{Case, Class};

use super::{CheckAdvice, CheckFn, CheckedCorpus, CorpusCheck, Finding, Severity};
use crate::option::CHUNKS;
use crate::words;

pub(super) static UNLABELLED: CorpusCheck = CorpusCheck {
    name: "unlabelled",
    severity: Severity::Note,
    title: "transcripts without a label, or with the label unsure",
    why: "they are counted but not scored; if they are not a random sample, the scores are biased",
    advice: CheckAdvice::Plain("propose labels with deadloop label"),
    find: CheckFn::Corpus(|seen| {
        let unknown = |case: &Case| matches!(case.class(), None | Some(Class::Unsure));
        find_gap(seen, unknown, "are not scored")
    }),
};

pub(super) static UNGROUPED: CorpusCheck = CorpusCheck {
    name: "ungrouped",
    severity: Severity::Note,
    title: "transcripts without a group",
    why: "each is a group of its own, so answers to one prompt can be in several folds, and intervals are too narrow",
    advice: CheckAdvice::Plain("set `group`, usually to the id of the prompt"),
    find: CheckFn::Corpus(|seen| find_gap(seen, |case| case.group.is_none(), "have no group")),
};

pub(super) static UNSPLIT: CorpusCheck = CorpusCheck {
    name: "unsplit",
    severity: Severity::Note,
    title: "transcripts in no split",
    why: "no split selects them, so they are in neither the choice nor the test",
    advice: CheckAdvice::Plain("add their rows to splits.csv"),
    find: CheckFn::Corpus(|seen| {
        let splits = seen.cases.iter().any(|case| case.split.is_some());
        find_gap(
            seen,
            |case| splits && case.split.is_none(),
            "are in no split",
        )
    }),
};

pub(super) static UNTIMED: CorpusCheck = CorpusCheck {
    name: "untimed",
    severity: Severity::Note,
    title: "transcripts without chunk times",
    why: "an alarm is assumed at its own char, but a live stream raises it at the end of a chunk. Latency in milliseconds is n/a",
    advice: CheckAdvice::With(
        "record t_ms with every chunk, or replay in chunks of N chars",
        CHUNKS,
    ),
    find: CheckFn::Corpus(|seen| find_gap(seen, |case| !case.timed, "have no times")),
};

/// Returns a finding on the first case with a gap, with the number of such cases. Empty without such a case.
fn find_gap(seen: &CheckedCorpus, has_gap: impl Fn(&Case) -> bool, what: &str) -> Vec<Finding> {
    let found: Vec<usize> = (0..seen.cases.len())
        .filter(|i| has_gap(&seen.cases[*i]))
        .collect();
    let Some(first) = found.first() else {
        return Vec::new();
    };
    let of = |n: usize| words::count(n as u64);
    let what = format!(
        "{} of {} {what}; this is the first",
        of(found.len()),
        of(seen.cases.len())
    );
    vec![seen.finding_on(*first, what)]
}
