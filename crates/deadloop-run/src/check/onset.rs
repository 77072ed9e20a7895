//! Onsets contradicted by the text.

use super::copies::{ClaimedCopies, likeness};
use super::{CheckAdvice, CheckedTranscript, CorpusCheck, Find, Severity};

pub(super) static ENTRY: CorpusCheck = CorpusCheck {
    name: "onset-contradicted",
    severity: Severity::Warning,
    title: "onsets that the text contradicts",
    why: "the onset is the first char of the second copy. Delays are measured from it, and an alarm before it is premature",
    advice: CheckAdvice::Plain(
        "inspect them with deadloop explain; move the onset, or label them unsure",
    ),
    find: Find::Text(contradiction),
};

/// The minimum likeness to the first copy, from 0 to 1, at which a text counts as the second copy.
const A_COPY: f64 = 0.5;
/// The minimum number of chars that are compared: a copy of one char proves little.
const LEAST_CHARS: usize = 40;

fn contradiction(exhibit: &CheckedTranscript<'_>) -> Option<String> {
    let spans = &exhibit.case.truth.as_ref()?.spans;
    spans.iter().find_map(|span| {
        let text = exhibit.text(span.channel);
        match ClaimedCopies::from_span(span, text.len()) {
            _ if text.is_empty() => None,
            Some(Err(what)) => Some(what),
            Some(Ok(claim)) => no_copy(text, claim).or_else(|| copy_before(text, claim)),
            None => None,
        }
    })
}

/// Reports a text at the onset that is unlike the first copy.
fn no_copy(text: &[char], claim: ClaimedCopies) -> Option<String> {
    let until = (claim.onset + claim.period.max(LEAST_CHARS)).min(claim.end);
    let first = &text[claim.start..claim.onset];
    let like = likeness(first, &text[claim.onset..until]);
    (like < A_COPY).then(|| {
        format!(
            "no second copy starts at {}: the text there shares {:.0} % of the {} chars before it",
            claim.onset,
            100.0 * like,
            claim.period,
        )
    })
}

/// Reports an exact copy right before the first copy.
fn copy_before(text: &[char], claim: ClaimedCopies) -> Option<String> {
    let before = claim.start.checked_sub(claim.period)?;
    let first = &text[claim.start..claim.onset];
    let same = claim.period >= LEAST_CHARS && &text[before..claim.start] == first;
    same.then(|| {
        format!(
            "the second copy starts before {}: the {} chars of the first one are at {before} too",
            claim.onset, claim.period,
        )
    })
}
