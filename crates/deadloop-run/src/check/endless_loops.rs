//! The check for loops labelled as endless in streams that ended by themselves.

use deadloop_score::{Class, Span};

use super::{CheckAdvice, CheckFn, CheckedTranscript, CorpusCheck, Severity};
use crate::words;
use deadloop_score::proposals::BY_ITSELF;

pub(super) static ENTRY: CorpusCheck = CorpusCheck {
    name: "loop-that-finished",
    severity: Severity::Warning,
    title: "loops without an `end` in streams that the model ended",
    why: "a list that stops at the requested count is not a dead loop. A guard that passes it is charged with a miss, and the savings of an alarm are not real",
    advice: CheckAdvice::Plain(
        "label them transient or clean, or give the loop an `end`; keep the label where the recording was cut",
    ),
    find: CheckFn::Text(find_finished_loop),
};

fn find_finished_loop(checked_text: &CheckedTranscript<'_>) -> Option<String> {
    let reason = checked_text.entry.transcript.finish_reason()?;
    let open = |span: &&Span| span.class == Class::Loop && span.open;
    let span = checked_text.case.truth.as_ref()?.spans.iter().find(open)?;
    BY_ITSELF.contains(&reason).then(|| {
        format!(
            "it loops to the end of the text, {} chars, and the stream ended with {reason:?}",
            words::count(span.end.count()),
        )
    })
}
