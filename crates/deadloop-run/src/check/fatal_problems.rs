//! The check for problems that keep a corpus from being scored.

use super::{CheckAdvice, CheckFn, CorpusCheck, Finding, Severity};
use crate::option::ON_BAD;

pub(super) static ENTRY: CorpusCheck = CorpusCheck {
    name: "bad-input",
    severity: Severity::Error,
    title: "the corpus is not whole",
    why: "a corpus with bad lines is not scored, because they are seldom a random sample",
    advice: CheckAdvice::With(
        "fix each line, or leave them out, counted and listed",
        ON_BAD,
    ),
    find: CheckFn::Corpus(|seen| {
        let problems = seen.problems.iter().map(|problem| Finding {
            place: Some(problem.place.clone()),
            transcripts: Vec::new(),
            what: format!("{}; expected {}", problem.what, problem.expected),
        });
        problems.collect()
    }),
};
