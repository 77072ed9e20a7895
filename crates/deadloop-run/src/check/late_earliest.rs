//! The check for labels whose `earliest` is after their onset.

use super::{CheckAdvice, CheckFn, CheckedTranscript, CorpusCheck, Severity};

pub(super) static ENTRY: CorpusCheck = CorpusCheck {
    name: "late-earliest",
    severity: Severity::Warning,
    title: "labels with `earliest` after the onset",
    why: "`earliest` admits alarms before the onset. After the onset it turns right alarms into premature ones",
    advice: CheckAdvice::Plain(
        "remove it, or set it to the second of the near-copies before the onset",
    ),
    find: CheckFn::Text(find_late_earliest),
};

fn find_late_earliest(checked_text: &CheckedTranscript<'_>) -> Option<String> {
    let spans = &checked_text.case.truth.as_ref()?.spans;
    let span = spans.iter().find(|span| span.earliest > span.onset)?;
    Some(format!(
        "earliest is {}, the onset {}, in {}",
        span.earliest.count(),
        span.onset.count(),
        span.channel
    ))
}
