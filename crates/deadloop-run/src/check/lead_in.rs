//! The check for loops with near-copies before them and no `earliest`.

use super::copies::{ClaimedCopies, likeness, verbatim_likeness};
use super::{CheckAdvice, CheckFn, CheckedTranscript, CorpusCheck, Severity};
use deadloop_score::Class;

pub(super) static ENTRY: CorpusCheck = CorpusCheck {
    name: "no-earliest",
    severity: Severity::Warning,
    title: "loops that begin with near-copies, without `earliest`",
    why: "a guard that stops at the near-copies is charged with a premature alarm",
    advice: CheckAdvice::Plain(
        "set `earliest` to the second of the near-copies, or correct the onset",
    ),
    find: CheckFn::Text(find_lead_in),
};

/// The minimum likeness of a near-copy, from 0 to 1, with digits and case folded.
const MIN_FOLDED: f64 = 0.8;
/// The minimum likeness of a near-copy without folding. Rows of a table differ only in their numbers and are healthy.
const MIN_VERBATIM: f64 = 0.6;
/// The minimum number of near-copies of a lead-in. Text before a loop is often on the same subject, so a single
/// near-copy is not enough.
const MIN_COPIES: usize = 2;
/// The minimum number of chars of a lead-in.
const MIN_CHARS: usize = 100;

fn find_lead_in(checked_text: &CheckedTranscript<'_>) -> Option<String> {
    let spans = &checked_text.case.truth.as_ref()?.spans;
    let unmarked =
        |span: &&deadloop_score::Span| span.class == Class::Loop && span.earliest == span.onset;
    spans.iter().filter(unmarked).find_map(|span| {
        let text = checked_text.text(span.channel);
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
        (copies >= MIN_COPIES && chars >= MIN_CHARS).then(|| {
            format!(
                "{copies} near-copies of {} chars stand before the first copy, from {from} on; the onset is {}",
                claim.period, claim.onset,
            )
        })
    })
}

fn is_near_copy(first: &[char], other: &[char]) -> bool {
    likeness(first, other) >= MIN_FOLDED && verbatim_likeness(first, other) >= MIN_VERBATIM
}
