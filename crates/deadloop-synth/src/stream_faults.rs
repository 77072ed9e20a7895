//! Faults of whole streams and of parallel calls.
//!
//! A stream may fall silent, end in the middle, lack its end mark or contain an error. Some of the calls of a turn may
//! fail.

use deadloop_detect::Fault;
use serde_json::{Map, json};

use super::chunks;
use super::faults::{FaultRequest, FaultyStream};
use super::finish;
use super::gold;
use super::intact_streams::IntactStream;
use super::spec::Tool;
use super::transcript::NoDraw;
use crate::damage::damage;
use crate::planted_loops::Rng;
use deadloop_corpus::{Body, RecordedEvent};

/// The silence, in milliseconds, after which a stalled recording ends.
const GIVEN_UP: f64 = 120_000.0;
/// The pauses, in seconds, after which a stream continues. Each is about one and a half times the one before.
const PAUSES: [u32; 11] = [1, 2, 3, 4, 6, 9, 14, 20, 30, 45, 60];

/// Makes a stream, with or without its end.
///
/// An intact recording with times of its own keeps its pauses and its end.
pub(super) fn make_whole_stream(
    asked: &FaultRequest,
    drawn: &IntactStream,
    rng: &mut Rng,
) -> Result<FaultyStream, NoDraw> {
    let intact = drawn.text.as_str();
    let length = intact.chars().count();
    if length < 8 {
        return Err("a text too short to be cut");
    }
    let left = match asked.fault {
        _ if asked.is_intact => length,
        Fault::Cut => damage(Fault::Cut, asked.severity, asked.seed, intact)
            .text
            .chars()
            .count(),
        Fault::NoDone => length,
        // Severe faults occur early.
        _ => rng.between(1, length * usize::from(4 - asked.severity.min(3)) / 4),
    };
    let text: String = intact.chars().take(left).collect();
    let is_recorded = !drawn.pieces.is_empty();
    let mut events = if is_recorded {
        chunks::timed_events(&text, &drawn.pieces)
    } else {
        chunks::events(&text, "answer", asked.chunks.as_ref(), rng)
    };
    let mut more = Map::new();
    match asked.fault {
        Fault::Stall if asked.is_intact && !is_recorded => {
            more.insert("pause_ms".into(), json!(pause(&mut events, rng)));
            events.push(end_event(&events, "stop", 0.0));
        }
        _ if asked.is_intact => {
            let mut end = end_event(&events, "stop", 0.0);
            end.t_ms = drawn.over.or(end.t_ms);
            events.push(end);
        }
        Fault::Stall => events.push(end_event(&events, "timeout", GIVEN_UP)),
        Fault::ErrorEvent => events.push(end_event(&events, "error", 0.0)),
        _ => {}
    }
    Ok(FaultyStream {
        events,
        channel: "answer",
        onset: (!asked.is_intact && left > 0).then(|| left - 1),
        gold: gold::of_meaning(&gold::text(intact)),
        more,
    })
}

/// Returns the end event of a stream, `after` milliseconds after its last event.
fn end_event(events: &[RecordedEvent], reason: &str, after: f64) -> RecordedEvent {
    let mut event = finish(reason);
    let last = events.iter().rev().find_map(|event| event.t_ms);
    event.t_ms = last.map(|last| last + after);
    event
}

/// Makes a pause: delays all events from a random one on. Returns its length in milliseconds.
fn pause(events: &mut [RecordedEvent], rng: &mut Rng) -> f64 {
    let seconds = rng.pick(&PAUSES).copied().unwrap_or(1);
    let pause = f64::from(seconds) * 1000.0;
    let from = rng.below(events.len().max(1));
    for event in events.iter_mut().skip(from) {
        event.t_ms = event.t_ms.map(|t| t + pause);
    }
    pause
}

/// Draws the calls of one turn and their results. With each degree of severity, one more fails or lacks a field that
/// the others have.
pub(super) fn calls(
    tools: &[Tool],
    asked: &FaultRequest,
    rng: &mut Rng,
) -> Result<FaultyStream, NoDraw> {
    let count = rng.between(3, 5);
    let failing = if asked.is_intact {
        0
    } else {
        usize::from(asked.severity).min(count)
    };
    let mut broken: Vec<bool> = (0..count).map(|at| at < failing).collect();
    rng.shuffle(&mut broken);
    let mut events = vec![RecordedEvent::new(Body::Turn)];
    let (mut results, mut good) = (Vec::new(), Vec::new());
    for (at, is_broken) in broken.iter().enumerate() {
        let tool = rng.pick(tools).ok_or("no tools")?;
        let id = Some(format!("call-{at}"));
        let arguments = tool.draw_arguments(rng);
        events.push(RecordedEvent::new(Body::ToolCall {
            id: id.clone(),
            name: tool.name.to_string(),
            arguments,
        }));
        let result = tool.result(rng);
        let whole = json!({"title": result, "link": format!("https://example.org/{at}"), "content": result});
        let (content, error) = match (is_broken, rng.chance(0.5)) {
            (false, _) => (whole.to_string(), false),
            (true, true) => ("timeout".to_owned(), true),
            (true, false) => (json!({"title": result}).to_string(), false),
        };
        if !is_broken {
            good.push(at);
        }
        results.push(RecordedEvent::new(Body::ToolResult {
            id,
            content,
            error: Some(error),
        }));
    }
    events.extend(results);
    events.push(finish("tool_calls"));
    Ok(FaultyStream {
        events,
        channel: "tools",
        onset: broken.iter().position(|is_broken| *is_broken),
        gold: json!({"good": good}),
        more: Map::new(),
    })
}
