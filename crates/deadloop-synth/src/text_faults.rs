//! Faults of texts, of a call's arguments and name, and of delivery.

use deadloop_detect::Fault;
use deadloop_repair::meaning::Delivery;
use serde_json::{Map, Value as Json, json};

use super::faults::{FaultRequest, FaultyStream};
use super::gold::{self, TagNames};
use super::spec::SpecStreamKind;
use super::transcript::NoDraw;
use super::{chunks, finish};
use crate::damage::{damage, damage_events};
use crate::planted_loops::Rng;
use deadloop_corpus::{Body, RecordedEvent};

/// Damages a text. Returns the damaged text and its onset, which is `None` if the text is to be intact.
fn damage_text(asked: &FaultRequest, intact: &str) -> Result<(String, Option<usize>), NoDraw> {
    let severity = if asked.is_intact { 0 } else { asked.severity };
    let damaged = damage(asked.fault, severity, asked.seed, intact);
    if !asked.is_intact && damaged.onset.is_none() {
        return Err("nothing in it that the fault damages");
    }
    // A missing end is noticed at the last char.
    let last = damaged.text.chars().count().checked_sub(1);
    let last = last.ok_or("nothing is left of it")?;
    let onset = damaged
        .onset
        .map(|at| usize::try_from(at).map_or(last, |at| at.min(last)));
    Ok((damaged.text, onset))
}

/// Makes a damaged text: with actions, with thinking and an answer, or plain.
pub(super) fn text(
    stream: SpecStreamKind,
    asked: &FaultRequest,
    intact: &str,
    rng: &mut Rng,
) -> Result<FaultyStream, NoDraw> {
    let meaning = match stream {
        SpecStreamKind::Tags => gold::tags(&TagNames::new(), intact),
        SpecStreamKind::Think => gold::think(intact),
        _ => gold::text(intact),
    };
    if stream == SpecStreamKind::Think && meaning.reasoning.is_empty() {
        return Err("no whole block of thinking at its start");
    }
    let (text, onset) = damage_text(asked, intact)?;
    // An empty answer or a confirmation has no meaning for the context.
    let nothing = !asked.is_intact && matches!(asked.fault, Fault::Pseudo | Fault::Confirmation);
    let gold = match asked.fault {
        _ if nothing => gold::text(""),
        // For an answer of tags alone, the meaning is that of the tags: the missing text cannot be known.
        Fault::Empty if !asked.is_intact => gold::tags(&TagNames::new(), &text),
        _ => meaning,
    };
    let mut events = chunks::events(&text, "answer", asked.chunks.as_ref(), rng);
    if asked.is_intact || asked.fault != Fault::Cut {
        events.push(finish("stop"));
    }
    Ok(FaultyStream {
        events,
        channel: "answer",
        onset,
        gold: gold::of_meaning(&gold),
        more: Map::new(),
    })
}

fn call(name: &str, arguments: &str) -> Vec<RecordedEvent> {
    let call = Body::ToolCall {
        id: Some("call-0".to_owned()),
        name: name.to_owned(),
        arguments: Json::String(arguments.to_owned()),
    };
    vec![
        RecordedEvent::new(Body::Turn),
        RecordedEvent::new(call),
        finish("tool_calls"),
    ]
}

pub(super) fn arguments(asked: &FaultRequest, intact: &str) -> Result<FaultyStream, NoDraw> {
    let (text, onset) = damage_text(asked, intact)?;
    Ok(FaultyStream {
        events: call("tool", &text),
        channel: "arguments",
        onset,
        gold: json!({"arguments": intact}),
        more: Map::new(),
    })
}

/// Makes a call with a damaged name: misspelt, in another case, or with control text after it.
pub(super) fn name(asked: &FaultRequest, intact: &str) -> Result<FaultyStream, NoDraw> {
    const BEHIND: [&str; 3] = ["<|channel|>commentary", "<|channel|>json", "<|end|>"];
    let name = match (asked.is_intact, asked.fault) {
        (true, _) => intact.to_owned(),
        (false, Fault::LeakedControl) => {
            format!(
                "{intact}{}",
                BEHIND[usize::from(asked.severity - 1) % BEHIND.len()]
            )
        }
        (false, fault) => {
            let tags = format!("<{intact}></{intact}>");
            let damaged = damage(fault, asked.severity, asked.seed, &tags).text;
            let mut names = damaged
                .split(['<', '>', '/'])
                .filter(|name| !name.is_empty());
            let other = names.find(|name| *name != intact);
            other
                .ok_or("nothing in it that the fault damages")?
                .to_owned()
        }
    };
    Ok(FaultyStream {
        events: call(&name, "{}"),
        channel: "tools",
        onset: (!asked.is_intact).then_some(0),
        gold: json!({"name": intact}),
        more: Map::new(),
    })
}

/// Makes the damaged events that a client reads again after a disconnect. Each is a piece of a text, with an id and a
/// position.
pub(super) fn events(
    asked: &FaultRequest,
    intact: &str,
    rng: &mut Rng,
) -> Result<FaultyStream, NoDraw> {
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
    let severity = if asked.is_intact { 0 } else { asked.severity };
    let damaged = damage_events(asked.fault, severity, asked.seed, &row);
    if !asked.is_intact && damaged.onset.is_none() {
        return Err("nothing in it that the fault damages");
    }
    let mut events = to_events(&damaged.events);
    let before = damaged.onset.map(|onset| {
        let before = damaged
            .events
            .iter()
            .take(usize::try_from(onset).unwrap_or(0));
        before
            .map(|event| event.text.chars().count())
            .sum::<usize>()
    });
    let length: usize = damaged.events.iter().map(|e| e.text.chars().count()).sum();
    let done = rng.chance(0.8) || asked.is_intact;
    if done {
        events.push(finish("stop"));
    }
    Ok(FaultyStream {
        events,
        channel: "answer",
        onset: before.map(|at| at.min(length.saturating_sub(1))),
        gold: gold::of_events(&row),
        more: Map::new(),
    })
}

fn to_events(row: &[Delivery]) -> Vec<RecordedEvent> {
    let event = |delivered: &Delivery| {
        let mut event = RecordedEvent::new(Body::Answer(delivered.text.clone()));
        event.rest.insert("event_id".into(), json!(delivered.id));
        event
            .rest
            .insert("position".into(), json!(delivered.position));
        event
    };
    row.iter().map(event).collect()
}
