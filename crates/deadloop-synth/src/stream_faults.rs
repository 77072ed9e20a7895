//! Faults of whole streams and of parallel calls.
//!
//! A stream may stall, break off, lack its end event or contain an error. Some of the calls of a turn may fail.

use deadloop_detect::Fault;
use serde_json::json;

use super::chunks;
use super::faults::{FaultRequest, FaultyStream};
use super::finish_event;
use super::gold;
use super::intact_streams::IntactStream;
use super::spec::Tool;
use super::transcript::DrawResult;
use crate::damage::damage;
use crate::planted_loops::Rng;
use deadloop_corpus::{Body, RecordedEvent, tool_call, tool_result};

/// The silence after which a stalled recording ends, in milliseconds.
const STALL_TIMEOUT_MS: f64 = 120_000.0;
/// Lengths of pauses after which a stream continues, in seconds.
const PAUSE_SECONDS: [u32; 11] = [1, 2, 3, 4, 6, 9, 14, 20, 30, 45, 60];

/// Makes a complete stream, damaged unless the request is intact.
///
/// An intact recording with times keeps its pauses and its end.
pub(super) fn damage_whole_stream(
    request: &FaultRequest,
    drawn: &IntactStream,
    rng: &mut Rng,
) -> DrawResult<FaultyStream> {
    let intact = drawn.text.as_str();
    let length = intact.chars().count();
    if length < 8 {
        return Err("a text too short to be cut");
    }
    let kept_chars = match request.fault {
        _ if request.is_intact => length,
        Fault::Cut => {
            let cut = damage(Fault::Cut, request.severity, request.seed, intact);
            cut.text.chars().count()
        }
        Fault::NoDone => length,
        // Severe faults occur early.
        _ => rng.uniform(1, length * usize::from(4 - request.severity.min(3)) / 4),
    };
    let text: String = intact.chars().take(kept_chars).collect();
    let is_recorded = !drawn.pieces.is_empty();
    let mut events = if is_recorded {
        chunks::cut_by_times(&text, &drawn.pieces)
    } else {
        chunks::cut_into_events(&text, "answer", request.chunks.as_ref(), rng)
    };
    let mut pause_ms = None;
    match request.fault {
        Fault::Stall if request.is_intact && !is_recorded => {
            pause_ms = Some(add_pause(&mut events, rng));
            events.push(end_event_after(&events, "stop", 0.0));
        }
        _ if request.is_intact => {
            let mut end = end_event_after(&events, "stop", 0.0);
            end.t_ms = drawn.end_ms.or(end.t_ms);
            events.push(end);
        }
        Fault::Stall => events.push(end_event_after(&events, "timeout", STALL_TIMEOUT_MS)),
        Fault::ErrorEvent => events.push(end_event_after(&events, "error", 0.0)),
        _ => {}
    }
    Ok(FaultyStream {
        events,
        channel: "answer",
        onset: (!request.is_intact && kept_chars > 0).then(|| kept_chars - 1),
        gold: gold::meaning_json(&gold::meaning_of_text(intact)),
        pause_ms,
    })
}

/// Creates the end event of a stream, `after` milliseconds after its last event.
fn end_event_after(events: &[RecordedEvent], reason: &str, after: f64) -> RecordedEvent {
    let mut event = finish_event(reason);
    let last = events.iter().rev().find_map(|event| event.t_ms);
    event.t_ms = last.map(|last| last + after);
    event
}

/// Delays all events from a random one on. Returns the length of the pause in milliseconds.
fn add_pause(events: &mut [RecordedEvent], rng: &mut Rng) -> f64 {
    let seconds = rng.choose(&PAUSE_SECONDS).copied().unwrap_or(1);
    let pause = f64::from(seconds) * 1000.0;
    let from = rng.below(events.len().max(1));
    for event in events.iter_mut().skip(from) {
        event.t_ms = event.t_ms.map(|t| t + pause);
    }
    pause
}

/// Draws the calls of one turn and their results. As many as `severity` fail or lack a field, unless the request is
/// intact.
pub(super) fn damage_calls(
    tools: &[Tool],
    request: &FaultRequest,
    rng: &mut Rng,
) -> DrawResult<FaultyStream> {
    let count = rng.uniform(3, 5);
    let failing = usize::from(request.severity);
    let is_failing = |at| at < failing && !request.is_intact;
    let mut broken: Vec<bool> = (0..count).map(is_failing).collect();
    rng.shuffle(&mut broken);
    let mut events = vec![RecordedEvent::new(Body::Turn)];
    let (mut results, mut good) = (Vec::new(), Vec::new());
    for (at, is_broken) in broken.iter().enumerate() {
        let tool = rng.choose(tools).ok_or("no tools")?;
        let id = Some(format!("call-{at}"));
        let call = tool_call(id.clone(), tool.name.to_string(), tool.draw_arguments(rng));
        events.push(RecordedEvent::new(call));
        let result = tool.draw_result(rng);
        let whole = json!({"title": result, "link": format!("https://example.org/{at}"), "content": result});
        let (content, error) = match (is_broken, rng.chance(0.5)) {
            (false, _) => (whole.to_string(), false),
            (true, true) => ("timeout".to_owned(), true),
            (true, false) => (json!({"title": result}).to_string(), false),
        };
        if !is_broken {
            good.push(at);
        }
        results.push(RecordedEvent::new(tool_result(id, content, Some(error))));
    }
    events.extend(results);
    events.push(finish_event("tool_calls"));
    Ok(FaultyStream {
        events,
        channel: "tools",
        onset: broken.iter().position(|is_broken| *is_broken),
        gold: json!({"good": good}),
        ..FaultyStream::default()
    })
}
