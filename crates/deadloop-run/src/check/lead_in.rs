//! Near-copies that lead into a loop whose label has no `earliest`.

use super::copies::{ClaimedCopies, likeness, verbatim_likeness};
use super::{CheckAdvice, CheckedTranscript, CorpusCheck, Find, Severity};
use deadloop_score::Class;

pub(super) static ENTRY: CorpusCheck = CorpusCheck {
    name: "no-earliest",
    severity: Severity::Warning,
    title: "loops that begin with near-copies, without `earliest`",
    why: "a guard that stops at the near-copies is charged with a premature alarm",
    advice: CheckAdvice::Plain(
        "set `earliest` to the second of the near-copies, or correct the onset",
    ),
    find: Find::Text(lead_in),
};

/// The minimum likeness of a near-copy, from 0 to 1, with digits and case folded.
const NEAR: f64 = 0.8;
/// The minimum likeness of a near-copy without folding. Rows of a table differ only in their numbers and are healthy.
const NEAR_VERBATIM: f64 = 0.6;
/// The minimum number of near-copies of a lead-in. Text before a loop is often on the same subject, so one is not
/// enough.
const COPIES: usize = 2;
/// The minimum number of chars of a lead-in.
const CHARS: usize = 100;

fn lead_in(exhibit: &CheckedTranscript<'_>) -> Option<String> {
    let spans = &exhibit.case.truth.as_ref()?.spans;
    let unmarked =
        |span: &&deadloop_score::Span| span.class == Class::Loop && span.earliest == span.onset;
    spans.iter().filter(unmarked).find_map(|span| {
        let text = exhibit.text(span.channel);
        let claim = ClaimedCopies::from_span(span, text.len())?.ok()?;
        let first = &text[claim.start..claim.onset];
        let mut from = claim.start;
        while let Some(before) = from.checked_sub(claim.period)
            && is_near_copy(first, &text[before..from])
        {
            from = before;
        }
        let chars = claim.start - from;
        let copies = chars / claim.period;
        (copies >= COPIES && chars >= CHARS).then(|| {
            format!(
                "{copies} near-copies of {} chars stand before the first copy, from {from} on; the onset is {}",
                claim.period, claim.onset,
            )
        })
    })
}

fn is_near_copy(first: &[char], other: &[char]) -> bool {
    likeness(first, other) >= NEAR && verbatim_likeness(first, other) >= NEAR_VERBATIM
}
