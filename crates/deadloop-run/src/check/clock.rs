//! The check for chunk times that run backwards.

use super::{CheckAdvice, CheckFn, CheckedTranscript, CorpusCheck, Severity};

pub(super) static ENTRY: CorpusCheck = CorpusCheck {
    name: "clock-backwards",
    severity: Severity::Warning,
    title: "chunk times that run backwards",
    why: "latency in milliseconds is computed from these times",
    advice: CheckAdvice::Plain(
        "record t_ms as milliseconds since the request, with a monotonic clock, or leave it out",
    ),
    find: CheckFn::Text(find_backward_time),
};

fn find_backward_time(checked_text: &CheckedTranscript<'_>) -> Option<String> {
    let events = checked_text.entry.transcript.events.iter().enumerate();
    let times: Vec<(usize, f64)> = events.filter_map(|(i, e)| Some((i, e.t_ms?))).collect();
    let pair = times.windows(2).find(|pair| pair[1].1 < pair[0].1)?;
    let ((_, before), (event, after)) = (pair[0], pair[1]);
    Some(format!(
        "events[{event}] came at {after} ms, after {before} ms"
    ))
}
