//! Faults of texts, call arguments, call names and delivery.

use deadloop_detect::Fault;
use deadloop_repair::meaning::Delivery;
use serde_json::json;

use super::faults::{FaultRequest, FaultyStream};
use super::gold::{self, TagNames};
use super::spec::SpecStreamKind;
use super::transcript::{DrawFault, DrawResult};
use super::{chunks, finish_event};
use crate::damage::{damage, damage_events};
use crate::planted_loops::Rng;
use deadloop_corpus::{Body, RecordedEvent, tool_call};

/// The error if a fault does not apply to the drawn text.
const UNDAMAGED: DrawFault = "nothing in it that the fault damages";

/// Damages a text. Returns the text and the onset of the damage, which is `None` if the text is intact.
fn damage_text(request: &FaultRequest, intact: &str) -> DrawResult<(String, Option<usize>)> {
    let severity = if request.is_intact {
        0
    } else {
        request.severity
    };
    let damaged = damage(request.fault, severity, request.seed, intact);
    if !request.is_intact && damaged.onset.is_none() {
        return Err(UNDAMAGED);
    }
    // A missing end is noticed at the last char.
    let last = damaged.text.chars().count().checked_sub(1);
    let last = last.ok_or("nothing is left of it")?;
    let char_at = |at: u64| usize::try_from(at).map_or(last, |at: usize| at.min(last));
    Ok((damaged.text, damaged.onset.map(char_at)))
}

/// Makes a damaged answer with actions, with reasoning, or plain.
pub(super) fn damage_answer(
    stream: SpecStreamKind,
    request: &FaultRequest,
    intact: &str,
    rng: &mut Rng,
) -> DrawResult<FaultyStream> {
    let meaning = match stream {
        SpecStreamKind::Tags => gold::parse_tags(&TagNames::load(), intact),
        SpecStreamKind::Think => gold::parse_thinking(intact),
        _ => gold::meaning_of_text(intact),
    };
    if stream == SpecStreamKind::Think && meaning.reasoning.is_empty() {
        return Err("no whole block of thinking at its start");
    }
    let (text, onset) = damage_text(request, intact)?;
    // An acknowledgement or a confirmation alone has no meaning.
    let nothing =
        !request.is_intact && matches!(request.fault, Fault::Pseudo | Fault::Confirmation);
    let gold = match request.fault {
        _ if nothing => gold::meaning_of_text(""),
        // The removed text cannot be recovered, so only the tags have a meaning.
        Fault::Empty if !request.is_intact => gold::parse_tags(&TagNames::load(), &text),
        _ => meaning,
    };
    let mut events = chunks::cut_into_events(&text, "answer", request.chunks.as_ref(), rng);
    if request.is_intact || request.fault != Fault::Cut {
        events.push(finish_event("stop"));
    }
    Ok(FaultyStream {
        events,
        channel: "answer",
        onset,
        gold: gold::meaning_json(&gold),
        ..FaultyStream::default()
    })
}

fn call_events(name: &str, arguments: &str) -> Vec<RecordedEvent> {
    let call = tool_call(Some("call-0".to_owned()), name, arguments);
    let [turn, call] = [Body::Turn, call].map(RecordedEvent::new);
    vec![turn, call, finish_event("tool_calls")]
}

/// Makes a call with damaged arguments.
pub(super) fn damage_arguments(request: &FaultRequest, intact: &str) -> DrawResult<FaultyStream> {
    let (text, onset) = damage_text(request, intact)?;
    Ok(FaultyStream {
        events: call_events("tool", &text),
        channel: "arguments",
        onset,
        gold: json!({"arguments": intact}),
        ..FaultyStream::default()
    })
}

/// Makes a call with a damaged name: misspelt, in a different case, or with a control token after it.
pub(super) fn damage_name(request: &FaultRequest, intact: &str) -> DrawResult<FaultyStream> {
    const CONTROL: [&str; 3] = ["<|channel|>commentary", "<|channel|>json", "<|end|>"];
    let name = match (request.is_intact, request.fault) {
        (true, _) => intact.to_owned(),
        (false, Fault::LeakedControl) => {
            let at = usize::from(request.severity - 1) % CONTROL.len();
            format!("{intact}{}", CONTROL[at])
        }
        (false, fault) => {
            let tags = format!("<{intact}></{intact}>");
            let damaged = damage(fault, request.severity, request.seed, &tags).text;
            let mut names = damaged.split(['<', '>', '/']);
            let other = names.find(|name| !name.is_empty() && *name != intact);
            other.ok_or(UNDAMAGED)?.to_owned()
        }
    };
    Ok(FaultyStream {
        events: call_events(&name, "{}"),
        channel: "tools",
        onset: (!request.is_intact).then_some(0),
        gold: json!({"name": intact}),
        ..FaultyStream::default()
    })
}

/// Makes the damaged events that a client reads again after a disconnect. Each is a piece of the text, with an id and a
/// position.
pub(super) fn damage_delivery(
    request: &FaultRequest,
    intact: &str,
    rng: &mut Rng,
) -> DrawResult<FaultyStream> {
    let chars: Vec<char> = intact.chars().collect();
    let size = (chars.len() / 12).max(4);
    let piece = |(place, chars): (usize, &[char])| Delivery {
        id: Some(format!("e{place}")),
        position: Some(place as u64),
        text: chars.iter().collect(),
        done: false,
    };
    let row: Vec<Delivery> = chars.chunks(size).enumerate().map(piece).collect();
    if row.len() < 4 {
        return Err("a text too short for events");
    }
    let severity = if request.is_intact {
        0
    } else {
        request.severity
    };
    let damaged = damage_events(request.fault, severity, request.seed, &row);
    if !request.is_intact && damaged.onset.is_none() {
        return Err(UNDAMAGED);
    }
    let mut events = to_events(&damaged.events);
    let lengths = damaged
        .events
        .iter()
        .map(|event| event.text.chars().count());
    let length: usize = lengths.clone().sum();
    let before = damaged.onset.map(|onset| {
        let before = usize::try_from(onset).unwrap_or(0);
        lengths.take(before).sum::<usize>()
    });
    if rng.chance(0.8) || request.is_intact {
        events.push(finish_event("stop"));
    }
    Ok(FaultyStream {
        events,
        channel: "answer",
        onset: before.map(|at| at.min(length.saturating_sub(1))),
        gold: gold::deliveries_json(&row),
        ..FaultyStream::default()
    })
}

fn to_events(deliveries: &[Delivery]) -> Vec<RecordedEvent> {
    let event = |delivered: &Delivery| {
        let mut event = RecordedEvent::new(Body::Answer(delivered.text.clone()));
        event.rest.insert("event_id".into(), json!(delivered.id));
        let position = json!(delivered.position);
        event.rest.insert("position".into(), position);
        event
    };
    deliveries.iter().map(event).collect()
}
