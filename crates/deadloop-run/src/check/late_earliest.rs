//! Labels whose `earliest` lies after their onset.

use super::{CheckAdvice, CheckedTranscript, CorpusCheck, Find, Severity};

pub(super) static ENTRY: CorpusCheck = CorpusCheck {
    name: "late-earliest",
    severity: Severity::Warning,
    title: "labels with `earliest` after the onset",
    why: "`earliest` admits alarms before the onset. After the onset it turns right alarms into premature ones",
    advice: CheckAdvice::Plain(
        "remove it, or set it to the second of the near-copies before the onset",
    ),
    find: Find::Text(late_earliest),
};

fn late_earliest(exhibit: &CheckedTranscript<'_>) -> Option<String> {
    let spans = &exhibit.case.truth.as_ref()?.spans;
    let span = spans.iter().find(|span| span.earliest > span.onset)?;
    Some(format!(
        "earliest is {}, the onset {}, in {}",
        span.earliest.count(),
        span.onset.count(),
        span.channel
    ))
}
