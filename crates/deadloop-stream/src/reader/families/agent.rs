//! Events of an agent server (`event_type`, `agent_source`, `payload`), bare or server-sent.
//!
//! Payloads are undocumented. A payload is read as a text, or as an object with a text in `content`, `text`, `delta`,
//! `data` or `message`. The text is thinking if the event's name or content type has a word for thinking.

use serde_json::Value;

use super::{Family, answer_event, failure_event, reasoning_event};
use crate::fields::{Object, ReadFields, missing_field, wrong_type};
use crate::reader::content::ObjectContent;
use crate::time::parse_millis;
use crate::wire::{WireFault, WireResult};

/// The family of an agent server's events.
pub const ENTRY: Family = Family {
    name: "agent",
    keys: &["event_type", "agent_source", "timestamp", "payload"],
    knows: |object| {
        let named = object.get("event_type").is_some_and(Value::is_string);
        named && object.contains_key("payload")
    },
    check: Some(check),
    read,
    ..Family::PLAIN
};

/// Checks an event against the documented schema `event_type: str, agent_source: str, timestamp: str, payload`.
fn check(object: &Object) -> WireResult {
    for name in ["event_type", "agent_source"] {
        match object.get(name) {
            Some(Value::String(text)) if !text.trim().is_empty() => {}
            Some(Value::String(_)) => {
                return Err(WireFault::new(format!("`{name}` is empty"), "a name"));
            }
            Some(other) => return Err(wrong_type(name, other, "a name")),
            None => return Err(missing_field(name, "a name")),
        }
    }
    let time = "a time as ISO 8601, or a number of seconds or milliseconds since 1970";
    match object.get("timestamp") {
        Some(at) if parse_millis(at).is_some() => {}
        Some(at) => return Err(WireFault::new(format!("`timestamp` is {at}"), time)),
        None => return Err(missing_field("timestamp", time)),
    }
    match object.get("payload") {
        Some(Value::Object(_) | Value::String(_) | Value::Array(_)) => Ok(()),
        Some(other) => Err(wrong_type("payload", other, "an object or a text")),
        None => Err(missing_field("payload", "an object or a text")),
    }
}

/// Removes the replay flags (`is_replay`, `is_realtime`, `phase`) from an event, its payload and the `metadata` of
/// both. Returns whether they flag a replay.
///
/// When a client reconnects, the server sends the history again, and then continues live.
pub fn is_replay(object: &mut Object) -> bool {
    let mut replay = remove_replay_flags(object);
    if let Some(Value::Object(payload)) = object.get_mut("payload") {
        replay |= remove_replay_flags(payload);
    }
    replay
}

fn remove_replay_flags(object: &mut Object) -> bool {
    let mut replay = remove_own_replay_flags(object);
    if let Some(Value::Object(metadata)) = object.get_mut("metadata") {
        replay |= remove_own_replay_flags(metadata);
        if metadata.is_empty() {
            object.take("metadata");
        }
    }
    replay
}

fn remove_own_replay_flags(object: &mut Object) -> bool {
    let flag = |name| object.get(name).and_then(Value::as_bool);
    let (replay, live) = (flag("is_replay"), flag("is_realtime"));
    let phase = object.get("phase").and_then(Value::as_str);
    let phase = phase.map(|phase| phase.to_lowercase().contains("replay"));
    object.remove_fields("is_replay is_realtime phase");
    replay.or(live.map(|live| !live)).or(phase).unwrap_or(false)
}

const TEXT_FIELDS: [&str; 5] = ["content", "text", "delta", "data", "message"];
const THINKING_WORDS: [&str; 3] = ["think", "thought", "reason"];

fn read(object: &mut Object, parsed: &mut ObjectContent) -> WireResult {
    let kind = object.take_string("event_type")?.unwrap_or_default();
    let kind = kind.to_lowercase();
    let mut payload = match object.take("payload") {
        Some(Value::Object(payload)) => payload,
        Some(text @ Value::String(_)) => [("content".to_owned(), text)].into_iter().collect(),
        Some(other) => [("data".to_owned(), other)].into_iter().collect(),
        None => Object::new(),
    };
    let content = payload.get("content_type").and_then(Value::as_str);
    let names = kind.clone() + " " + &content.unwrap_or("").to_lowercase();
    let thinks = THINKING_WORDS.iter().any(|word| names.contains(word));
    let named = TEXT_FIELDS
        .into_iter()
        .find(|name| payload.get(*name).is_some_and(Value::is_string));
    let text = named
        .map(|name| payload.take_string(name))
        .transpose()?
        .flatten();
    let error = text.clone().filter(|_| kind == "error");
    let event = match (kind.as_str(), thinks) {
        ("error", _) => Some(failure_event()),
        (_, true) => reasoning_event(text),
        (_, false) => answer_event(text),
    };
    parsed.push(0, event);
    parsed.response = object.take_label("agent_source");
    parsed.keep("error", error.map(Value::String));
    parsed.at = object.take("timestamp").and_then(|at| parse_millis(&at));
    // The content type matters only for text. Each event has a different id.
    if !parsed.parts.is_empty() {
        payload.remove_fields("id content_type");
    }
    parsed.add_rest("payload", payload);
    Ok(())
}
