//! Problems that keep a corpus from being scored.

use super::{CorpusCheck, Find, Finding, Severity};

pub(super) static ENTRY: CorpusCheck = CorpusCheck {
    name: "bad-input",
    severity: Severity::Error,
    title: "the corpus is not whole",
    why: "nothing is scored on a corpus that is not whole: what is missing would not be missing by chance",
    advice: "mend each line, or leave them out with --on-bad skip, which counts and lists them",
    find: Find::Corpus(|seen| {
        let problems = seen.problems.iter().map(|problem| Finding {
            place: Some(problem.place.clone()),
            transcripts: Vec::new(),
            what: format!("{}; expected {}", problem.what, problem.expected),
        });
        problems.collect()
    }),
};
