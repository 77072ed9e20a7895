//! Labels whose `earliest` lies after their onset.

use super::{CorpusCheck, Exhibit, Find, Severity};

pub(super) static ENTRY: CorpusCheck = CorpusCheck {
    name: "late-earliest",
    severity: Severity::Warning,
    title: "labels with an earliest after the onset",
    why: "`earliest` is for alarms that are right before the onset; after it, it makes right alarms premature",
    advice: "take it out, or set it to where near-copies before the onset can be seen to repeat",
    find: Find::Text(late),
};

fn late(exhibit: &Exhibit<'_>) -> Option<String> {
    let spans = &exhibit.case.truth.as_ref()?.spans;
    let span = spans.iter().find(|span| span.earliest > span.onset)?;
    Some(format!(
        "earliest is {}, the onset {}, in {}",
        span.earliest.count(),
        span.onset.count(),
        span.channel
    ))
}
