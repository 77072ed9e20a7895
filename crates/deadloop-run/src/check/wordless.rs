//! The check for loops of punctuation and digits.

use deadloop_score::Class;

use super::copies::ClaimedCopies;
use super::{CheckAdvice, CheckFn, CheckedTranscript, CorpusCheck, Severity};
use crate::option::BY;

pub(super) static ENTRY: CorpusCheck = CorpusCheck {
    name: "wordless-loop",
    severity: Severity::Note,
    title: "loops of punctuation or digits alone",
    why: "many detectors pass over floods of dots, zeros or rules on purpose, so one recall for both kinds hides a difference",
    advice: CheckAdvice::With(
        "leave them out where the product tolerates them, or report them separately",
        BY,
    ),
    find: CheckFn::Text(find_wordless_loop),
};

/// The maximum number of chars of the repeated unit to show.
const MAX_CHARS: usize = 24;

fn find_wordless_loop(checked_text: &CheckedTranscript<'_>) -> Option<String> {
    let truth = checked_text.case.truth.as_ref()?;
    let span = truth.first_loop().filter(|s| s.class == Class::Loop)?;
    let text = checked_text.text(span.channel);
    let claim = ClaimedCopies::from_span(span, text.len())?.ok()?;
    let unit = &text[claim.start..claim.onset];
    let words = unit.iter().any(|char| char.is_alphabetic());
    (!words).then(|| {
        let shown: String = unit.iter().take(MAX_CHARS).collect();
        let more = if unit.len() > MAX_CHARS { "…" } else { "" };
        format!("{shown:?}{more} again and again from {} on", claim.onset)
    })
}
