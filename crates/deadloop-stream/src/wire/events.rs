//! Deserializer of the events of a record.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use super::fields::{Fields, REPEATED_FIELD, WireFault, WireResult};
use super::value::{CountedValue, ValueBudget};
use crate::{Body, MAX_T_MS, MAX_TOKENS, RecordedEvent};

/// Events, or the faults found in them.
type CheckedEvents = Vec<WireResult<RecordedEvent>>;

/// Parses a list of events. `None` for a JSON null.
pub fn read(json: &str) -> serde_json::Result<Option<CheckedEvents>> {
    let mut reader = serde_json::Deserializer::from_str(json);
    let events = EventList(&ValueBudget::default()).deserialize(&mut reader)?;
    reader.end().map(|()| events)
}

/// Deserializer of the field `events`, which is a list or null.
pub struct EventList<'a>(pub &'a ValueBudget);

impl<'de> DeserializeSeed<'de> for EventList<'_> {
    type Value = Option<CheckedEvents>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for EventList<'_> {
    type Value = Option<CheckedEvents>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of events")
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut events = Vec::new();
        while let Some(event) = seq.next_element_seed(WireEvent(self.0))? {
            events.push(event);
        }
        Ok(Some(events))
    }
}

const EVENT_FIELDS: [&str; 12] = [
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

/// Deserializer of one element of `events`. It checks each element at once, so that only the event is kept.
struct WireEvent<'a>(&'a ValueBudget);

impl<'de> DeserializeSeed<'de> for WireEvent<'_> {
    type Value = WireResult<RecordedEvent>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for WireEvent<'_> {
    type Value = WireResult<RecordedEvent>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an event (a JSON object)")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut fields = Fields::new(&EVENT_FIELDS);
        while let Some(name) = map.next_key()? {
            let value = map.next_value_seed(CountedValue(self.0))?;
            if !fields.put(name, value) {
                return Err(A::Error::custom(REPEATED_FIELD));
            }
        }
        Ok(read_event(fields))
    }
}

/// Converts a JSON object into an event.
pub fn event_from_object(object: Map<String, Value>) -> WireResult<RecordedEvent> {
    let mut fields = Fields::new(&EVENT_FIELDS);
    for (name, value) in object {
        // An object has no field twice.
        fields.put(name, value);
    }
    read_event(fields)
}

fn read_event(mut fields: Fields<12>) -> WireResult<RecordedEvent> {
    Ok(RecordedEvent {
        body: read_body(&mut fields)?,
        t_ms: fields.take_number("t_ms", "milliseconds, a number up to 1e13", parse_t_ms)?,
        tokens: fields.take_number("tokens", "a whole number up to 1e12", parse_tokens)?,
        rest: fields.into_rest(),
    })
}

fn parse_t_ms(value: &Value) -> Option<f64> {
    value.as_f64().filter(|t_ms| t_ms.abs() <= MAX_T_MS)
}

fn parse_tokens(value: &Value) -> Option<u64> {
    value.as_u64().filter(|tokens| *tokens <= MAX_TOKENS)
}

/// The possible values of an event's `type`.
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

fn read_body(fields: &mut Fields<12>) -> WireResult<Body> {
    match fields.need_string("type")?.as_str() {
        "reasoning" => Ok(Body::Reasoning(fields.need_string("text")?)),
        "answer" => Ok(Body::Answer(fields.need_string("text")?)),
        "tool_call" => Ok(Body::ToolCall {
            id: fields.take_string("id")?,
            name: fields.need_string("name")?,
            arguments: fields.take("arguments").unwrap_or(Value::Null),
        }),
        "tool_result" => read_tool_result(fields),
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
            Err(WireFault::new(what, EVENT_TYPES.join(", ")))
        }
    }
}

fn read_tool_result(fields: &mut Fields<12>) -> WireResult<Body> {
    let error = match fields.take("error") {
        None => None,
        Some(Value::Bool(error)) => Some(error),
        Some(other) => return Err(WireFault::wrong_type("error", &other, "true or false")),
    };
    Ok(Body::ToolResult {
        id: fields.take_string("id")?,
        content: fields.take_string("content")?.unwrap_or_default(),
        error,
    })
}
