//! The events of a record.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use super::fields::{Fault, Fields, TWICE};
use crate::{Body, Event};

/// The value of `events`: a list, or null for none.
#[derive(Debug)]
pub(super) struct Events(pub(super) Option<Vec<Result<Event, Fault>>>);

impl<'de> Deserialize<'de> for Events {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct List;
        impl<'de> Visitor<'de> for List {
            type Value = Events;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of events")
            }

            fn visit_unit<E>(self) -> Result<Events, E> {
                Ok(Events(None))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Events, A::Error> {
                let mut events = Vec::new();
                while let Some(WireEvent(event)) = seq.next_element()? {
                    events.push(event);
                }
                Ok(Events(Some(events)))
            }
        }
        deserializer.deserialize_any(List)
    }
}

const EVENT: [&str; 12] = [
    "type",
    "text",
    "t_ms",
    "tokens",
    "id",
    "name",
    "arguments",
    "content",
    "error",
    "reason",
    "from",
    "to",
];

/// One element of `events`, checked at once so that only its event is kept.
struct WireEvent(Result<Event, Fault>);

impl<'de> Deserialize<'de> for WireEvent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Object;
        impl<'de> Visitor<'de> for Object {
            type Value = WireEvent;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an event (a JSON object)")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<WireEvent, A::Error> {
                let mut fields = Fields::new(&EVENT);
                while let Some(name) = map.next_key()? {
                    let value = map.next_value()?;
                    if !fields.put(name, value) {
                        return Err(A::Error::custom(TWICE));
                    }
                }
                Ok(WireEvent(event(fields)))
            }
        }
        deserializer.deserialize_map(Object)
    }
}

/// The event that an object of its own is.
pub(crate) fn event_of(object: Map<String, Value>) -> Result<Event, Fault> {
    let mut fields = Fields::new(&EVENT);
    for (name, value) in object {
        // An object has no field twice.
        fields.put(name, value);
    }
    event(fields)
}

fn event(mut fields: Fields<12>) -> Result<Event, Fault> {
    Ok(Event {
        body: body(&mut fields)?,
        t_ms: fields.take_number("t_ms", "milliseconds, a number", Value::as_f64)?,
        tokens: fields.take_number("tokens", "a whole number", Value::as_u64)?,
        rest: fields.into_rest(),
    })
}

/// The values of an event's `type`.
pub const EVENT_TYPES: [&str; 9] = [
    "reasoning",
    "answer",
    "tool_call",
    "tool_result",
    "turn",
    "user",
    "system",
    "handoff",
    "finish",
];

fn body(fields: &mut Fields<12>) -> Result<Body, Fault> {
    match fields.need_string("type")?.as_str() {
        "reasoning" => Ok(Body::Reasoning(fields.need_string("text")?)),
        "answer" => Ok(Body::Answer(fields.need_string("text")?)),
        "tool_call" => Ok(Body::ToolCall {
            id: fields.take_string("id")?,
            name: fields.need_string("name")?,
            arguments: fields.take("arguments").unwrap_or(Value::Null),
        }),
        "tool_result" => tool_result(fields),
        "turn" => Ok(Body::Turn),
        "user" => Ok(Body::User(fields.need_string("text")?)),
        "system" => Ok(Body::System),
        "handoff" => Ok(Body::Handoff {
            from: fields.need_string("from")?,
            to: fields.need_string("to")?,
        }),
        "finish" => Ok(Body::Finish {
            reason: fields.take_string("reason")?,
        }),
        other => {
            let what = format!("unknown event type {other:?}");
            Err(Fault::new(what, EVENT_TYPES.join(", ")))
        }
    }
}

fn tool_result(fields: &mut Fields<12>) -> Result<Body, Fault> {
    let error = match fields.take("error") {
        None => None,
        Some(Value::Bool(error)) => Some(error),
        Some(other) => return Err(Fault::wrong_type("error", &other, "true or false")),
    };
    Ok(Body::ToolResult {
        id: fields.take_string("id")?,
        content: fields.take_string("content")?.unwrap_or_default(),
        error,
    })
}
