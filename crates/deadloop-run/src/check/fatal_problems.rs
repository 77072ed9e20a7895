//! Problems that keep a corpus from being scored.

use super::{CorpusCheck, Find, Finding, Severity};

pub(super) static ENTRY: CorpusCheck = CorpusCheck {
    name: "bad-input",
    severity: Severity::Error,
    title: "the corpus is not whole",
    why: "a corpus with bad lines is not scored, because they are seldom a random sample",
    advice: "fix each line, or use --on-bad skip, which leaves them out, counts and lists them",
    find: Find::Corpus(|seen| {
        let problems = seen.problems.iter().map(|problem| Finding {
            place: Some(problem.place.clone()),
            transcripts: Vec::new(),
            what: format!("{}; expected {}", problem.what, problem.expected),
        });
        problems.collect()
    }),
};
