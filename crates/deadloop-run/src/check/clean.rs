//! The check for clean labels on text that plainly repeats.

use deadloop_detect::Channel;
use deadloop_finder::selection::{FoundSpan, TextFindings, find};
use deadloop_score::Class;

use super::{CheckAdvice, CheckFn, CheckedTranscript, CorpusCheck, Severity};
use crate::option::REVIEW;

pub(super) static ENTRY: CorpusCheck = CorpusCheck {
    name: "clean-repeats",
    severity: Severity::Warning,
    title: "clean labels on text that plainly repeats",
    why: "a detector that alarms there is right, and is charged with a wrong alarm",
    advice: CheckAdvice::With(
        "keep clean where the user asked for the repetition, and review the others with deadloop label",
        REVIEW,
    ),
    find: CheckFn::Text(find_repetition),
};

/// The minimum confidence with which the finder contradicts a label.
const MIN_CONFIDENCE: f64 = 0.9;

fn find_repetition(checked_text: &CheckedTranscript<'_>) -> Option<String> {
    if checked_text.case.class() != Some(Class::Clean) {
        return None;
    }
    Channel::TEXT.into_iter().find_map(|channel| {
        let text = checked_text.text(channel);
        describe_repetition(channel, text, &find(&text.iter().collect::<String>()))
    })
}

/// Describes the longest repetition, if the finder is confident of one.
fn describe_repetition(channel: Channel, text: &[char], found: &TextFindings) -> Option<String> {
    let sure = found.class != Class::Clean && found.confidence >= MIN_CONFIDENCE;
    let end = |span: &FoundSpan| span.end.unwrap_or(text.len());
    let spans = found.spans.iter().filter(|_| sure);
    let span = spans.max_by_key(|span| end(span).saturating_sub(span.start))?;
    let until = match span.end {
        Some(end) => format!("until {end}"),
        None => "to the end".into(),
    };
    Some(format!(
        "{} chars again and again in {channel}, the second copy at {}, {until} ({})",
        span.period,
        span.onset,
        span.kind.name(),
    ))
}
