//! Conversion of recorded events into detector events.

use deadloop_detect::{Arguments, CutText, Event as DetectorEvent, TextChannel};
use serde_json::Value;

use crate::{Body, RecordedEvent, UNTIL};

impl RecordedEvent {
    /// Converts the recorded event to an event for detectors.
    pub fn as_detector_event(&self) -> DetectorEvent<'_> {
        match &self.body {
            Body::Reasoning(text) => DetectorEvent::Text(TextChannel::Reasoning, text),
            Body::Answer(text) => DetectorEvent::Text(TextChannel::Answer, text),
            Body::ToolCall {
                id,
                name,
                arguments,
            } => DetectorEvent::Call {
                id: id.as_deref(),
                name,
                arguments: Arguments::Json(arguments),
            },
            Body::ToolResult { id, content, error } => DetectorEvent::Result {
                id: id.as_deref(),
                content,
                error: *error,
                cut: self.cut_text(),
            },
            Body::Turn => DetectorEvent::Turn {
                agent: self.rest.get("agent").and_then(Value::as_str),
            },
            Body::User(text) => DetectorEvent::User(text),
            Body::System => DetectorEvent::System,
            Body::Handoff { from, to } => DetectorEvent::Handoff { from, to },
            Body::Finish { reason } => DetectorEvent::Finish(reason.as_deref()),
        }
    }

    /// Returns the full length and the hash of a text that the recording truncated.
    fn cut_text(&self) -> Option<CutText<'_>> {
        let sha256 = self.rest.get("sha256").and_then(Value::as_str)?;
        let length = self.count("length");
        Some(CutText { length, sha256 })
    }

    /// Returns whether this kind of event occurs only in agent runs.
    fn is_run_only(&self) -> bool {
        matches!(
            self.body,
            Body::ToolCall { .. } | Body::ToolResult { .. } | Body::User(_)
        )
    }

    /// Returns whether the event is model output, that is text or a call.
    fn is_output(&self) -> bool {
        match &self.body {
            Body::Reasoning(text) | Body::Answer(text) => !text.is_empty(),
            Body::ToolCall { .. } => true,
            _ => false,
        }
    }
}

/// Iterates over the events of a transcript in the form that detectors take, each with the index of its recorded event.
///
/// In a run without recorded turns, a turn is inserted before model output that follows a result, a user message or the
/// beginning, with the index of that output. A transcript without calls, results and user messages is not a run.
///
/// If times are recorded, silence becomes events: when the model sent nothing for a second or more before its text,
/// call or end, [`DetectorEvent::Silence`] events precede it, with its index. The time that a tool takes is not silence. A
/// silence is reported each second of its first two minutes, then each ten seconds of its first hour, and once at its
/// end. So a guard that fires after ten seconds fires at that time rather than when the silence is over. The last event
/// is [`DetectorEvent::Closed`].
pub fn stream(events: &[RecordedEvent]) -> impl Iterator<Item = (u64, DetectorEvent<'_>)> {
    let turns = events.iter().any(|e| matches!(e.body, Body::Turn));
    let is_run = || events.iter().any(|event| event.is_run_only());
    let begins_anew = !turns && is_run();
    let mut fresh = begins_anew;
    let numbered = (0_u64..).zip(events);
    let mut last = Some(0.0);
    let closed = (events.len() as u64).checked_sub(1);
    let closed = closed.map(|number| (number, DetectorEvent::Closed));
    let converted = numbered.flat_map(move |(number, event)| {
        let begins = fresh && event.is_output();
        match event.body {
            Body::ToolResult { .. } | Body::User(_) => fresh = begins_anew,
            _ => fresh &= !begins,
        }
        let turn = begins.then_some((number, DetectorEvent::Turn { agent: None }));
        let silence = measure_silence(&mut last, event)
            .into_iter()
            .flat_map(report_times);
        let silence = silence.map(move |millis| (number, DetectorEvent::Silence(millis)));
        let before = silence.chain(turn);
        before.chain([(number, event.as_detector_event())])
    });
    converted.chain(closed)
}

/// The minimum length of a reported silence, in milliseconds.
const MIN_SILENCE_MS: f64 = 1000.0;

/// Returns the times at which a silence of `millis` is reported, in milliseconds from its beginning: each second of the
/// first two minutes, each ten seconds of the first hour, and its end.
///
/// Even a gap between unrelated clocks causes at most 469 events.
fn report_times(millis: u64) -> impl Iterator<Item = u64> {
    report_times_before(millis).chain([millis])
}

/// Returns the report times before `millis`, as in [`report_times`] without the end.
pub(crate) fn report_times_before(millis: u64) -> impl Iterator<Item = u64> {
    let seconds = (1000..=120_000).step_by(1000);
    let tens = (130_000..=3_600_000).step_by(10_000);
    seconds.chain(tens).take_while(move |tick| *tick < millis)
}

/// Returns the length of the silence before a model event, in milliseconds. `None` if it is shorter than
/// [`MIN_SILENCE_MS`].
///
/// `previous_ms` is the time of the previous event, if recorded, and is set to that of this event.
fn measure_silence(previous_ms: &mut Option<f64>, event: &RecordedEvent) -> Option<u64> {
    let until = event.rest.get(UNTIL).and_then(Value::as_f64);
    let before = std::mem::replace(previous_ms, until.or(event.t_ms));
    let gap = event.t_ms? - before?;
    let of_model = event.is_output() || matches!(event.body, Body::Finish { .. });
    // Times of recordings are finite and fit into 64 bits.
    // The cast turns negative values and NaN into 0.
    let millis = gap as u64;
    (of_model && gap >= MIN_SILENCE_MS).then_some(millis)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events(bodies: Vec<Body>) -> Vec<RecordedEvent> {
        bodies.into_iter().map(RecordedEvent::new).collect()
    }

    fn call() -> Body {
        Body::ToolCall {
            id: None,
            name: "ls".into(),
            arguments: Value::Null,
        }
    }

    fn result() -> Body {
        Body::ToolResult {
            id: None,
            content: String::new(),
            error: None,
        }
    }

    #[test]
    fn a_silence_of_the_model_is_told_and_the_end_too() {
        let at = |t_ms: f64, body: Body| RecordedEvent {
            t_ms: Some(t_ms),
            ..RecordedEvent::new(body)
        };
        let text = || Body::Answer("so".into());
        let events = vec![
            at(500.0, text()),
            at(1400.0, text()),
            at(4400.5, call()),
            at(60_000.0, result()),
            at(62_000.0, text()),
            at(182_000.0, Body::Finish { reason: None }),
        ];
        let silences = |events: &[RecordedEvent]| {
            let converted = stream(events).filter_map(|(number, e)| match e {
                DetectorEvent::Silence(millis) => Some((number, millis)),
                _ => None,
            });
            converted.collect::<Vec<_>>()
        };
        let short = [1000, 2000, 3000].map(|millis| (2, millis));
        let after_a_result = [1000, 2000].map(|millis| (4, millis));
        let to_the_end = (1..=120).map(|second| (5, 1000 * second));
        let all = short.into_iter().chain(after_a_result).chain(to_the_end);
        assert_eq!(silences(&events), all.collect::<Vec<_>>());
        assert_eq!(stream(&events).last(), Some((5, DetectorEvent::Closed)));
        let untimed = RecordedEvent::new(text());
        let gap = [at(7000.0, text()), untimed, at(9e9, text())];
        let seven: Vec<_> = (1..=7).map(|second| (0, 1000 * second)).collect();
        assert_eq!(silences(&gap), seven);
        let ticks: Vec<u64> = report_times(1_700_000_000_000).collect();
        assert_eq!(ticks.len(), 469);
        assert_eq!(ticks[118..122], [119_000, 120_000, 130_000, 140_000]);
        assert_eq!(ticks[467..], [3_600_000, 1_700_000_000_000]);
        assert_eq!(stream(&[]).count(), 0);
    }

    #[test]
    fn a_run_without_turns_gets_them() {
        let turns = |bodies: Vec<Body>| {
            let run = events(bodies);
            let turns = stream(&run).filter(|(_, e)| matches!(e, DetectorEvent::Turn { .. }));
            turns.map(|(number, _)| number).collect::<Vec<_>>()
        };
        let text = || Body::Answer("so".into());
        let user = || Body::User("go on".into());
        let run = vec![user(), text(), call(), call(), result(), result(), text()];
        assert_eq!(turns(run), [1, 6]);
        assert_eq!(turns(vec![text(), user(), user(), call()]), [0, 3]);
        assert_eq!(turns(vec![text(), Body::Turn, text()]), [1], "as recorded");
        assert_eq!(turns(vec![text(), text()]), [0; 0], "no run");
    }
}
