//! The check for messages of a run in an order that chat APIs reject.

use deadloop_corpus::find_disorders;

use super::{CheckAdvice, CheckFn, CheckedTranscript, CorpusCheck, Severity};
use crate::words;

pub(super) static ENTRY: CorpusCheck = CorpusCheck {
    name: "message-order",
    severity: Severity::Note,
    title: "runs with messages in an order that chat APIs refuse",
    why: "APIs expect the results right after the turn with their calls, a call for each result, and no empty turn. Guards on results miss the others",
    advice: CheckAdvice::Plain(
        "inspect the listed events, and fix the converter that lost or moved the results",
    ),
    find: CheckFn::Text(find_disorder),
};

fn find_disorder(checked_text: &CheckedTranscript<'_>) -> Option<String> {
    let found = find_disorders(&checked_text.entry.transcript);
    let found: Vec<_> = found
        .into_iter()
        .filter(|one| !one.kind.is_strict())
        .collect();
    let first = found.first()?;
    let what = format!("event {}: {}", first.event, first.kind.words());
    Some(match found.len() {
        1 => what,
        n => format!("{what}; {} more", words::count(n as u64 - 1)),
    })
}
