//! The check for onsets that the text contradicts.

use super::copies::{ClaimedCopies, likeness};
use super::{CheckAdvice, CheckFn, CheckedTranscript, CorpusCheck, Severity};

pub(super) static ENTRY: CorpusCheck = CorpusCheck {
    name: "onset-contradicted",
    severity: Severity::Warning,
    title: "onsets that the text contradicts",
    why: "the onset is the first char of the second copy. Delays are measured from it, and an alarm before it is premature",
    advice: CheckAdvice::Plain(
        "inspect them with deadloop explain; move the onset, or label them unsure",
    ),
    find: CheckFn::Text(find_contradiction),
};

/// The minimum likeness of a second copy to the first, from 0 to 1.
const MIN_COPY_LIKENESS: f64 = 0.5;
/// The minimum number of chars to compare. A copy of one char proves little.
const MIN_COMPARED_CHARS: usize = 40;

fn find_contradiction(checked_text: &CheckedTranscript<'_>) -> Option<String> {
    let spans = &checked_text.case.truth.as_ref()?.spans;
    spans.iter().find_map(|span| {
        let text = checked_text.text(span.channel);
        match ClaimedCopies::from_span(span, text.len()) {
            _ if text.is_empty() => None,
            Some(Err(what)) => Some(what),
            Some(Ok(claim)) => missing_copy(text, claim).or_else(|| earlier_copy(text, claim)),
            None => None,
        }
    })
}

/// Describes a text at the onset that is unlike the first copy.
fn missing_copy(text: &[char], claim: ClaimedCopies) -> Option<String> {
    let until = (claim.onset + claim.period.max(MIN_COMPARED_CHARS)).min(claim.end);
    let first = &text[claim.start..claim.onset];
    let like = likeness(first, &text[claim.onset..until]);
    (like < MIN_COPY_LIKENESS).then(|| {
        format!(
            "no second copy starts at {}: the text there shares {:.0} % of the {} chars before it",
            claim.onset,
            100.0 * like,
            claim.period,
        )
    })
}

/// Describes an exact copy directly before the first copy.
fn earlier_copy(text: &[char], claim: ClaimedCopies) -> Option<String> {
    let before = claim.start.checked_sub(claim.period)?;
    let first = &text[claim.start..claim.onset];
    let same = claim.period >= MIN_COMPARED_CHARS && &text[before..claim.start] == first;
    same.then(|| {
        format!(
            "the second copy starts before {}: the {} chars of the first one are at {before} too",
            claim.onset, claim.period,
        )
    })
}
